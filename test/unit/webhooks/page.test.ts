import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { webhookEvent } from "../../../src/api/schemas/events.ts";
import { reply } from "../../../src/client/index.ts";
import { repositoryRoot } from "../../../src/config.ts";
import { nextPause, resultOf } from "../../../src/webhooks/attempts/schedule.ts";
import { createSecret, signedHeaders } from "../../../src/webhooks/events/sign.ts";
import { mannerFields } from "../../../src/model/content/manner.ts";
import { parseReply, type WebhookReply } from "../../../src/webhooks/replies/reply.ts";
import { newListener } from "../../../src/webhooks/listeners/settings.ts";
import { webhookInput } from "../../../src/webhooks/settings.ts";
import { temporaryFolder } from "../store/temporary.ts";

const PAGE = readFileSync(join(repositoryRoot(), "docs/webhooks.md"), "utf8");
const section = (name: string): string => PAGE.split(`## ${name}\n`)[1]!.split("\n## ")[0]!;
/** Names in the first column of a section's table. */
const namesIn = (text: string): string[] =>
  [...text.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
  );

const SECRET = createSecret();
const BODY = JSON.stringify({ message: "¿Hola? ✓", n: 1 });
const now = Date.now();
const signed = (secrets = [SECRET], at = now, body = BODY) => signedHeaders(secrets, "msg_1", at, body);

/** What is posted, and whether it is to be believed. */
const POSTS: [what: string, headers: Record<string, string>, body: string, isGood: boolean][] = [
  ["as it was signed", signed(), BODY, true],
  ["with two secrets", signed([createSecret(), SECRET]), BODY, true],
  ["with another body", signed(), BODY.replace("1", "2"), false],
  ["with another secret", signed([createSecret()]), BODY, false],
  ["an hour old", signed([SECRET], now - 3_600_000), BODY, false],
  ["without headers", {}, BODY, false],
  ["with another id", { ...signed(), "webhook-id": "msg_2" }, BODY, false],
];

/** Calls the function of a block, with what stands in a file. */
const CALLS: Record<string, (folder: string) => [program: string, code: string]> = {
  js: (folder) => [
    "node",
    `import { readFileSync } from "node:fs"; import { isSigned } from ${JSON.stringify(pathToFileURL(join(folder, "verify.mjs")).href)};
const { secret, headers, body } = JSON.parse(readFileSync("post.json", "utf8"));
console.log(isSigned(secret, headers, Buffer.from(body)));`,
  ],
  php: () => [
    "php",
    `<?php require 'verify.php'; $post = json_decode(file_get_contents('post.json'), true);
echo isSigned($post['secret'], $post['headers'], $post['body']) ? 'true' : 'false';`,
  ],
  python: () => [
    "python3",
    `import json; from verify import is_signed
post = json.load(open("post.json"))
print(str(is_signed(post["secret"], post["headers"], post["body"].encode())).lower())`,
  ],
};
const ENDINGS: Record<string, string> = { js: "mjs", php: "php", python: "py" };
const run = promisify(execFile);
const isThere = async (program: string): Promise<boolean> =>
  run(program, ["--version"]).then(
    () => true,
    () => false,
  );

describe("docs/webhooks.md", () => {
  for (const [language, call] of Object.entries(CALLS)) {
    const [, block = ""] =
      new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, "m").exec(section("Verify it")) ?? [];
    const program = call("/")[0];

    it(`verifies in ${language} in ten lines, and believes nothing else`, async (context) => {
      if (!(await isThere(program))) return context.skip();
      const code = block.split("\n").filter((line) => line.trim() !== "" && !/^(\/\/|#)/.test(line));
      expect(code.length).toBeLessThanOrEqual(10);
      const folder = temporaryFolder();
      const ending = ENDINGS[language]!;
      writeFileSync(join(folder, `verify.${ending}`), block);
      writeFileSync(join(folder, `call.${ending}`), call(folder)[1]);
      for (const [what, headers, body, isGood] of POSTS) {
        writeFileSync(join(folder, "post.json"), JSON.stringify({ secret: SECRET, headers, body }));
        const { stdout } = await run(program, [`call.${ending}`], { cwd: folder });
        expect(stdout.trim(), what).toBe(String(isGood));
      }
    });
  }

  it("names every setting and every field, and no other", () => {
    const settings = namesIn(section("Set it")).filter((name) => name !== "Setting");
    expect(settings.toSorted()).toEqual(Object.keys(webhookInput.shape).toSorted());
    expect(namesIn(section("The event")).toSorted()).toEqual(Object.keys(webhookEvent.shape).toSorted());
  });

  it("names every setting of a listener, and no other", () => {
    const settings = namesIn(section("Listeners")).filter((name) => name !== "Setting");
    expect(settings.toSorted()).toEqual(Object.keys(newListener.shape).toSorted());
  });

  it("names every field that a reply may have beside its content", () => {
    const [, fields = ""] = section("The answer").split("| Field |");
    const named = [...fields.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(named.toSorted()).toEqual(["quote", ...Object.keys(mannerFields)].toSorted());
  });

  /** What the page says of an answer, and what Parley reads in it; anything else is a text. */
  const KINDS = [
    [/^a poll/, "poll"],
    [/^(?:a file|the same)/, "media"],
    [/^(?:a place|the cards)/, "shared"],
  ] as const;

  it("shows only answers that are understood", () => {
    const [answers = ""] = section("The answer").split("| Field |");
    const rows = [...answers.matchAll(/^\| `(.+?)` \| (.*) \|$/gm)];
    expect(rows.length).toBeGreaterThan(8);
    for (const [, answer, meaning] of rows) {
      const parsed = parseReply(Buffer.from(answer!));
      expect(parsed, answer).toMatchObject({ understood: true, ignored: [] });
      expect(parsed.replies.length, answer).toBe(meaning!.startsWith("up to ten") ? 2 : 1);
      const [, kind = "text"] = KINDS.find(([words]) => words.test(meaning!)) ?? [];
      expect(parsed.replies[0]!.kind, answer).toBe(kind);
    }
    for (const nothing of ["", "OK", "false", "null", "[]", "{}"])
      expect(parseReply(Buffer.from(nothing)).replies, nothing).toEqual([]);
  });

  it("shows every form: each kind of reply, and whatever the client makes", () => {
    const [answers = ""] = section("The answer").split("| Field |");
    const shown = [...answers.matchAll(/^\| `(.+?)` \|/gm)].map(([, answer]) => answer!);
    const kinds = shown.flatMap((answer) => parseReply(Buffer.from(answer)).replies.map(({ kind }) => kind));
    // A new kind does not compile before it is here.
    const all = { text: true, poll: true, media: true, shared: true } satisfies Record<
      WebhookReply["kind"],
      true
    >;
    expect(new Set(kinds)).toEqual(new Set(Object.keys(all)));

    const one = reply.text("Hello");
    const made: Record<keyof typeof reply, object> = {
      none: reply.none(),
      text: one,
      poll: reply.poll("Which day?", ["Monday", "Friday"]),
      media: reply.media("audio", "https://shop.example/a.ogg", { voice: true }),
      location: reply.location(52.3731, 4.8926, { name: "Corner shop" }),
      contact: reply.contact({ name: "Ana", numbers: ["31600000002"] }),
      quoted: reply.quoted(one),
      several: reply.several(one, one),
      hold: reply.hold(600, one),
    };
    const names = new Set(
      shown.flatMap((answer) => [...answer.matchAll(/"(\w+)":/g)].map(([, name]) => name)),
    );
    for (const [name, form] of Object.entries(made))
      expect([...names], name).toEqual(expect.arrayContaining(Object.keys(form)));
    const page = readFileSync(join(repositoryRoot(), "docs/clients/node.md"), "utf8");
    expect(Object.keys(reply).filter((name) => !page.includes(`\`reply.${name}\``))).toEqual([]);
  });

  it("has the pauses between attempts, and what each status means", () => {
    const units: Record<string, number> = { s: 1_000, min: 60_000, h: 3_600_000 };
    const [, list = ""] =
      /Attempts come after 0 s, (.*?), each/.exec(section("Retries").replaceAll("\n", " ")) ?? [];
    const pauses = [...list.matchAll(/(\d+) (s|min|h)\b/g)].map(
      ([, count, unit]) => Number(count) * units[unit!]!,
    );
    const real = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((made) => nextPause(made, null, () => 0.5));
    expect(pauses).toEqual(real);
    expect(nextPause(10, null)).toBeNull();
    expect([200, 299, 302, 408, 425, 429, 500, 410, 404].map(resultOf).join(" ")).toBe(
      "accepted accepted retry retry retry retry retry gone refused",
    );
  });
});
