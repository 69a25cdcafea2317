import type { Attack } from "../attack.ts";
import { until } from "../numbers.ts";

const PEOPLE = 10;
const AT_ONCE = 8;
/** Each is a message for everybody of them. */
const REQUESTS = { short: 40, full: 1_000 };
const AHEAD_MS = { short: 15_000, full: 90_000 };
const PATIENCE_MS = 300_000;

/** Everything that one number may send in a day becomes due in one moment, and leaves at once: this gateway has no pace. */
const scheduled: Attack = {
  name: "thousands of messages of one number that are due in the same moment",
  class: "B4",
  async run({ gateway, sim, attacker: { key, number: sender }, size }) {
    const people = await sim.addContacts(PEOPLE, { prefix: "4915177" });
    const due = new Date(Date.now() + AHEAD_MS[size]).toISOString();
    const number = people.join("|");
    let asked = 0;
    const ask = async (): Promise<void> => {
      while (asked < REQUESTS[size]) {
        const message = String(asked++);
        const fields = { sender, number, message, send_at: due };
        const { status } = await gateway.post("/send-message", fields, { key });
        if (status !== 202) throw new Error(`a message for later was answered with ${status}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, ask));

    const isEmpty = async (path: string): Promise<boolean> =>
      (await gateway.get(path, { key })).body["data"].length === 0;
    const waiting = ["/scheduled?limit=1", `/messages?sender=${sender}&state=queued&limit=1`];
    for (const path of waiting) await until(() => isEmpty(path), `${path} was never empty`, PATIENCE_MS);
    for (const person of people) {
      const texts = (await sim.messages(person, { from: sender })).map(({ text }) => text);
      const arrived = `${new Set(texts).size} in ${texts.length}`;
      if (arrived !== `${REQUESTS[size]} in ${REQUESTS[size]}`)
        throw new Error(`of ${REQUESTS[size]} messages, ${arrived} arrived`);
    }
  },
};

export default scheduled;
