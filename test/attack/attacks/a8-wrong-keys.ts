import { makeKey } from "../../../src/accounts/key-format.ts";
import type { Arena, Attack } from "../attack.ts";

const GUESSES = { short: 150, full: 6_000 } as const;
const AT_ONCE = 50;
/** As the gateway's default has it. */
const A_MINUTE = 60;

/** Ways to show a key. Each is a guess; `wrong` has the form of a key, and so is looked up. */
const WAYS: ((arena: Arena, wrong: string) => Promise<Response>)[] = [
  ({ gateway }, wrong) => ask(`${gateway.url}/account`, wrong),
  ({ gateway }, wrong) => ask(`${gateway.url}/admin/accounts`, wrong),
  ({ gateway }, wrong) => fetch(`${gateway.url}/send-message?api_key=${wrong}`),
  ({ gateway }, wrong) => post(`${gateway.url}/send-message`, { api_key: wrong }),
  ({ gateway }, wrong) => post(`${gateway.url}/send-message`, { api_key: { toString: wrong } }),
  ({ gateway, victim }, wrong) => ask(`${gateway.url}/send-message?api_key=${victim.key}`, wrong),
  ({ gateway }) => ask(`${gateway.url}/account`, "x".repeat(10_000)),
  // What a proxy says of its caller counts only where a proxy is trusted.
  ({ gateway }, wrong) =>
    ask(`${gateway.url}/account`, wrong, { "x-forwarded-for": `10.0.0.${Math.floor(Math.random() * 256)}` }),
];

const ask = (url: string, key: string, headers: Record<string, string> = {}) =>
  fetch(url, { headers: { authorization: `Bearer ${key}`, ...headers } });

const post = (url: string, body: object) =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

const guessing: Attack = {
  name: "keys guessed in every form, many at once, from the address of others",
  class: "A8",
  async run(arena) {
    const { gateway, attacker, size } = arena;
    const statuses = new Map<number, number>();
    for (let guessed = 0; guessed < GUESSES[size]; guessed += AT_ONCE) {
      const answers = Array.from({ length: AT_ONCE }, async (_, one) => {
        const answer = await WAYS[(guessed + one) % WAYS.length]!(arena, makeKey());
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        if (answer.status === 429 && !(Number(answer.headers.get("retry-after")) > 0))
          throw new Error("a 429 did not say when to try again");
        await answer.arrayBuffer();
      });
      const right = await gateway.get("/account", { key: attacker.key });
      if (right.status !== 200)
        throw new Error(`a right key of the same address was answered ${right.status}`);
      await Promise.all(answers);
    }
    const { [401]: judged = 0, [429]: refused = 0, ...others } = Object.fromEntries(statuses);
    if (Object.keys(others).length > 0)
      throw new Error(`guesses were answered ${Object.keys(others).join(", ")}`);
    // The minute may turn once while a large attack runs.
    if (judged > 2 * A_MINUTE || refused === 0)
      throw new Error(`${judged} guesses were judged, and ${refused} refused`);
  },
};

export default guessing;
