import type { Attack } from "../attack.ts";

/** Bytes of a body, of which the gateway reads at most a mebibyte. */
const LENGTH = { short: 500_000, full: 1_048_000 } as const;

const json = (what: string, write: (length: number) => string): Attack => ({
  name: `JSON of ${what}, without a key`,
  class: "A2",
  async run({ gateway, size }) {
    const headers = { "content-type": "application/json" };
    const answer = await gateway.post("/send-message", write(LENGTH[size]), { headers });
    if (answer.status >= 500) throw new Error(`was answered ${answer.status}`);
  },
});

export default [
  json("brackets that do not close", (length) => "[".repeat(length)),
  json("very many lists", (length) => `{"a":[${"[],".repeat(length / 3 - 10)}1]}`),
];
