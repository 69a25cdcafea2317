import type { Attack } from "../attack.ts";

const FORM = { "content-type": "application/x-www-form-urlencoded" };
/** Bytes of a body, of which the gateway reads at most a mebibyte. */
const LENGTH = { short: 500_000, full: 1_048_576 } as const;

const filled = (pair: string, length: number): string => pair.repeat(Math.floor(length / pair.length));

const form = (what: string, pair: string): Attack => ({
  name: `a form of ${what}, without a key`,
  class: "A2",
  async run({ gateway, size }) {
    const answer = await gateway.post("/send-message", filled(pair, LENGTH[size]), { headers: FORM });
    if (answer.status >= 500) throw new Error(`was answered ${answer.status}`);
  },
});

const query = (what: string, pair: string): Attack => ({
  name: `a query of ${what}, without a key`,
  class: "A2",
  async run({ gateway, size }) {
    const answer = await gateway.get(`/send-message?${filled(pair, LENGTH[size] - 20_000)}`);
    if (answer.status >= 500) throw new Error(`was answered ${answer.status}`);
  },
});

export default [
  form("malformed escapes", "%&"),
  form("bytes that are not UTF-8", "%ff=%ff&"),
  form("half escapes", "%e2%8=%&"),
  form("one long malformed value", "%"),
  form("brackets", "a[]=&"),
  query("malformed escapes", "%&"),
  query("bytes that are not UTF-8", "%ff=%ff&"),
];
