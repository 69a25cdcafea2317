import type { Arena, Attack, Tenant } from "../attack.ts";
import { pdf } from "../../unit/media/samples.ts";
import { until } from "../numbers.ts";

const CONNECTIONS = { short: 30, full: 150 };
const MEGABYTE = Buffer.alloc(1_048_576, "%");
const PARTS = { short: 2_000, full: 100_000 };
const BOUNDARY = "----parts";
/** Files go to the disk as they come. */
const MAY_GROW_MB = 120;
const PATIENCE_MS = 30_000;

const field = (name: string, value: string): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

const fieldsOf = ({ number, contact }: Tenant): string =>
  field("sender", number) + field("number", contact) + field("media_type", "document");

const head = (key: string, length: number): string =>
  [
    "POST /send-media HTTP/1.1",
    "Host: a",
    `Authorization: Bearer ${key}`,
    `Content-Type: multipart/form-data; boundary=${BOUNDARY}`,
    `Content-Length: ${length}`,
    "\r\n",
  ].join("\r\n");

/** @returns the status with which a whole file of this tenant is answered */
async function upload({ gateway }: Arena, { key, number, contact }: Tenant): Promise<number> {
  const form = new FormData();
  for (const [name, value] of Object.entries({ sender: number, number: contact, media_type: "pdf" }))
    form.set(name, value);
  form.set("file", new Blob([new Uint8Array(pdf())]), "a.pdf");
  const response = await fetch(`${gateway.url}/send-media`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: form,
  });
  await response.arrayBuffer();
  return response.status;
}

const halves: Attack = {
  name: "files that are uploaded by halves, on many connections",
  class: "A7",
  maxMemoryMb: MAY_GROW_MB,
  async run(arena) {
    const { attacker, victim, connect, size } = arena;
    const file = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n`;
    const sockets = await Promise.all(Array.from({ length: CONNECTIONS[size] }, () => connect()));
    const written = sockets.map(
      (socket) =>
        new Promise<void>((resolve) => {
          socket.resume().once("close", resolve);
          socket.write(head(attacker.key, 60_000_000) + fieldsOf(attacker) + file);
          socket.write(MEGABYTE, () => resolve());
        }),
    );
    await Promise.all(written);
    const status = await upload(arena, victim);
    if (status !== 200) throw new Error(`another account's file was answered with ${status}`);
    for (const socket of sockets) socket.destroy();
    await until(
      async () => (await upload(arena, attacker)) === 200,
      "places are not given back",
      PATIENCE_MS,
    );
  },
};

const parts: Attack = {
  name: "a form of very many parts, and one whose part has a head without an end",
  class: "A7",
  maxMemoryMb: MAY_GROW_MB,
  async run({ attacker, exchange, size }) {
    const bodies = [
      Array.from({ length: PARTS[size] }, (_, n) => field(`f${n}`, "x")).join("") + `--${BOUNDARY}--\r\n`,
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${"x".repeat(4_000_000)}`,
      `--${BOUNDARY}`.repeat(100_000),
    ];
    for (const body of bodies) {
      const answer = await exchange(
        head(attacker.key, body.length).replace("Host: a", "Host: a\r\nConnection: close") + body,
        PATIENCE_MS,
      );
      if (!/^HTTP\/1\.1 4(00|13)/.test(answer)) throw new Error(`was answered: ${answer.slice(0, 200)}`);
    }
  },
};

export default [halves, parts];
