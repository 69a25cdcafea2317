import type { Simulator } from "../../src/simulator/types.ts";

/**
 * One message after another at a steady pace, whoever has been answered or not.
 *
 * @returns when all were answered
 */
export async function steadily(
  sim: Simulator,
  people: string[],
  to: string,
  text: string,
  { count, perSecond }: { count: number; perSecond: number },
): Promise<void> {
  const before = await Promise.all(
    people.map(async (person) => (await sim.messages(person, { from: to })).length),
  );
  const written = people.map(() => 0);
  const started = performance.now();
  for (let i = 0; i < count; i++) {
    const early = started + (i * 1_000) / perSecond - performance.now();
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
    const who = i % people.length;
    written[who]!++;
    await sim.sendText(people[who]!, to, text);
  }
  await Promise.all(
    people.map(async (person, who) => {
      while ((await sim.messages(person, { from: to })).length < before[who]! + written[who]!)
        await new Promise((resolve) => setTimeout(resolve, 20));
    }),
  );
}

/**
 * Contacts write in parallel, each waits for its reply before it writes again.
 *
 * @returns when all were answered: how long each answer took, milliseconds
 */
export async function roundTrips(
  sim: Simulator,
  people: string[],
  to: string,
  text: string,
  count: number,
): Promise<number[]> {
  const each = Math.ceil(count / people.length);
  const took: number[] = [];
  await Promise.all(
    people.map(async (person) => {
      let since = (await sim.messages(person, { from: to })).at(-1)?.seq ?? 0;
      for (let i = 0; i < each; i++) {
        const started = performance.now();
        await sim.sendText(person, to, text);
        since = (await sim.waitForMessage(person, { from: to, since }, 30_000)).seq;
        took.push(performance.now() - started);
      }
    }),
  );
  return took;
}

/**
 * Members of a group write one after the other, each when the last was answered.
 *
 * @param number who answers
 * @returns how long each answer took, milliseconds
 */
export async function groupRoundTrips(
  sim: Simulator,
  group: { id: string; members: string[] },
  number: string,
  text: string,
  count: number,
): Promise<number[]> {
  const took: number[] = [];
  const answers = { from: number, chat: group.id };
  const since = new Map<string, number>();
  for (const member of group.members)
    since.set(member, (await sim.messages(member, answers)).at(-1)?.seq ?? 0);
  for (let i = 0; i < count; i++) {
    const member = group.members[i % group.members.length]!;
    const started = performance.now();
    await sim.sendText(member, group.id, text);
    await Promise.all(
      group.members.map(async (each) => {
        const answer = await sim.waitForMessage(each, { ...answers, since: since.get(each)! }, 30_000);
        since.set(each, answer.seq);
      }),
    );
    took.push(performance.now() - started);
  }
  return took;
}
