import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import type { Arena, Attack } from "../attack.ts";

const PATIENCE_MS = 60_000;
const MEBIBYTE = 1_048_576;
const READ = '{"message":"read"}';

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");
const quoted = (bytes: Buffer): Buffer => Buffer.concat([latin1('{"message":"'), bytes, latin1('"}')]);
const full = (text: string): Buffer => Buffer.alloc(MEBIBYTE - 64, text);

/** Answers of which nothing may reach anybody: what they are, their type, their bytes. */
const UNREAD: [what: string, type: string, body: Buffer][] = [
  ["Latin-1 that says nothing of it", "application/json", quoted(latin1("caf\xe9"))],
  ["Latin-1 that calls itself UTF-8", "application/json; charset=utf-8", quoted(latin1("\xfc\xdf"))],
  ["UTF-7", "text/plain; charset=utf-7", latin1(`+AHsAIg- ${READ}`)],
  ["a charset of a kilobyte", `text/plain; charset=${"x".repeat(1_000)}`, latin1(READ)],
  ["a charset that is a header", 'text/plain; charset="\tutf-8;=;=', quoted(Buffer.from([0xff]))],
  ["half a character of UTF-16", "text/plain; charset=utf-16", Buffer.from([0x22, 0, 0x41])],
  ["a half pair of UTF-16", "text/plain; charset=utf-16le", Buffer.from('"\ud800"', "utf16le")],
  ["overlong UTF-8", "application/json", quoted(Buffer.from([0xc0, 0xaf, 0xe0, 0x80, 0xaf]))],
  ["half a character of Japan", "text/plain; charset=shift_jis", Buffer.from([0x22, 0x93])],
  ["escapes of ISO-2022-JP without end", "text/plain; charset=iso-2022-jp", full("\x1b$B\x1b(B\x1b$@\x1b(J")],
  [
    "GB18030 of four bytes, cut off",
    "text/plain; charset=gb18030",
    Buffer.concat([full("\x810\x810"), latin1("\x81")]),
  ],
  ["UTF-32", "application/json; charset=utf-32", Buffer.from([0x22, 0, 0, 0, 0x41, 0, 0, 0, 0x22, 0, 0, 0])],
  ["half a million brackets", "application/json", full("[")],
  ["brackets in Windows-1252", "text/plain; charset=windows-1252", full("[{")],
  ["a string that holds brackets", "application/json", Buffer.from(JSON.stringify("[".repeat(500_000)))],
  ["numbers of a megabyte", "application/json", full("9")],
  ["an object of a hundred thousand names", "application/json", Buffer.from(JSON.stringify(names(90_000)))],
  ["a prototype", "application/json", latin1('{"__proto__":{"message":"x"},"constructor":{"text":"y"}}')],
  ["a megabyte of blanks", "application/json", full(" ")],
  ["a megabyte of escapes that are none", "application/json", full("\\u")],
];

function names(count: number): Record<string, null> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, null]));
}

/** Answers of which a part is read: what they are, their type, their bytes, and what arrives last. */
const ANSWERED: [what: string, type: string, body: Buffer, text: string][] = [
  ["Latin-1", "application/json; charset=iso-8859-1", quoted(latin1("caf\xe9")), "café"],
  ["Windows", 'text/html; charset="windows-1252"', quoted(Buffer.from([0x80])), "€"],
  ["Japan", "text/plain; charset=Shift_JIS", quoted(Buffer.from([0x93, 0xfa])), "日"],
  [
    "a hundred thousand replies",
    "application/json",
    Buffer.from(JSON.stringify({ replies: Array.from({ length: 100_000 }, (_, index) => `r${index}`) })),
    "r9",
  ],
];

/** What no answer ends with. */
const WITHOUT_END: [what: string, answer: (response: ServerResponse) => void][] = [
  [
    "an answer without end",
    (response) => {
      const chunk = Buffer.alloc(65_536, "[");
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    },
  ],
  [
    "gigabytes in kilobytes",
    (response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(64 * MEBIBYTE)));
    },
  ],
];

/** @param answers each is the answer to a message of its own */
async function answering(
  { gateway, sim, attacker }: Arena,
  answers: ((response: ServerResponse) => void)[],
  last: string,
): Promise<void> {
  let asked = 0;
  const server = createServer((request, response) => {
    request.resume();
    answers[Math.min(asked++, answers.length - 1)]!(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const path = `/devices/${attacker.number}/webhook`;
  try {
    const saved = await gateway.put(path, { url, mode: "always", timeout_ms: 1_000 }, { key: attacker.key });
    if (saved.status !== 200) throw new Error(`the webhook was answered ${saved.status}`);
    // No bot answers in the webhook's place.
    await gateway.put(`/devices/${attacker.number}/bots`, { bots: [] }, { key: attacker.key });
    // The list of what has arrived is the person's own: only what comes from now on is looked at.
    const before = (await sim.messages(attacker.contact)).length;
    for (let message = 0; message < answers.length; message++)
      await sim.sendText(attacker.contact, attacker.number, `hello ${message}`);
    await sim.waitForMessage(attacker.contact, { from: attacker.number, text: last }, PATIENCE_MS);
    const said = (await sim.messages(attacker.contact)).slice(before).map(({ text = "" }) => text);
    const garbled = said.find((text) => text.includes("\ufffd") || text === "x" || text === "y");
    if (garbled !== undefined) throw new Error(`somebody was told ${JSON.stringify(garbled.slice(0, 100))}`);
  } finally {
    await gateway.delete(path, { key: attacker.key });
    server.closeAllConnections();
    server.close();
  }
}

const says =
  (type: string, body: Buffer) =>
  (response: ServerResponse): void =>
    void response.writeHead(200, { "content-type": type }).end(body);

export default [
  {
    name: `answers of a webhook that are no text, or no reply: ${UNREAD.length} kinds`,
    class: "C5",
    run: (arena) =>
      answering(
        arena,
        [...UNREAD.map(([, type, body]) => says(type, body)), says("application/json", latin1(READ))],
        "read",
      ),
  },
  ...ANSWERED.map(([what, type, body, text]): Attack => ({
    name: `an answer of a webhook: ${what}`,
    class: "C5",
    run: (arena) => answering(arena, [says(type, body)], text),
  })),
  {
    name: `answers of a webhook that have no end`,
    class: "C5",
    maxMemoryMb: 120,
    run: (arena) =>
      answering(
        arena,
        [
          ...WITHOUT_END.map(([, answer]) => answer),
          says("application/json", latin1('{"message":"after all"}')),
        ],
        "after all",
      ),
  },
] satisfies Attack[];
