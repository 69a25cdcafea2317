import type { Attack } from "../attack.ts";

/** Blank space within a header, of a request whose sender has no key. */
const spaces = (header: string, before: string): Attack => ({
  name: `${header} with many blanks, without a key`,
  class: "A1",
  async run({ exchange, size }) {
    const count = size === "full" ? 120_000 : 60_000;
    const head = [
      "POST /send-message HTTP/1.1",
      "Host: gateway",
      `${header}: ${before}${" ".repeat(count)}b`,
      "Content-Length: 2",
      "Connection: close",
    ];
    const answer = await exchange(`${head.join("\r\n")}\r\n\r\n{}`);
    if (!answer.startsWith("HTTP/1.1 431 ")) throw new Error(`was answered: ${answer.slice(0, 200)}`);
  },
});

export default [
  spaces("Authorization", "Bearer a"),
  spaces("Content-Type", "application/json a"),
  spaces("X-Request-Id", "a"),
  spaces("Idempotency-Key", "a"),
  spaces("Content-Encoding", "a"),
  spaces("X-Forwarded-For", "a"),
];
