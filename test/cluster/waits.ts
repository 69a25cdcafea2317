import type { Simulator } from "../../src/simulator/types.ts";
import type { Mark, ReadRows } from "../../src/demo/judge/judge.ts";

const ANSWERS = `SELECT d.number, i.wa_id AS asked, o.wa_id AS answer FROM outbox o
JOIN inbox i ON i.id = o.inbox_id JOIN devices d ON d.id = o.device_id WHERE o.id > ? ORDER BY o.id`;

interface AnswerRow {
  number: string;
  asked: string;
  answer: string;
}

/**
 * How long the most patient contact of each number had to wait for the first answer to a message that it wrote at or after a
 * moment: from when WhatsApp took it until the answer could be read on the phone.
 *
 * @param from Unix milliseconds
 * @returns milliseconds by number
 */
export async function longestWaits(
  sim: Pick<Simulator, "transcript">,
  rows: ReadRows,
  since: Mark | undefined,
  from: number,
): Promise<Map<string, number>> {
  const entries = await sim.transcript({ since: since?.seq ?? 0 });
  const writtenAt = new Map<string, number>();
  const arrivedAt = new Map<string, number>();
  for (const { direction, ordinal, device, at, id, to, from: by, decrypted } of entries) {
    if (ordinal !== 1) continue;
    if (direction === "to_companion" && at >= from) writtenAt.set(`${to} ${id}`, at);
    if (direction === "to_contact" && device === 0 && decrypted) arrivedAt.set(`${by} ${id}`, at);
  }
  const longest = new Map<string, number>();
  const answered = new Set<string>();
  for (const { number, asked, answer } of await rows<AnswerRow>(ANSWERS, since?.outbox ?? 0)) {
    const question = `${number} ${asked}`;
    const [begin, end] = [writtenAt.get(question), arrivedAt.get(`${number} ${answer}`)];
    if (begin === undefined || end === undefined || answered.has(question)) continue;
    answered.add(question);
    longest.set(number, Math.max(longest.get(number) ?? 0, end - begin));
  }
  return longest;
}
