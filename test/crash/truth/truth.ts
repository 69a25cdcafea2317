import { setTimeout as wait } from "node:timers/promises";
import type { AcceptedMessage } from "../../../src/simulator/types.ts";
import { groupBy } from "../../../src/demo/judge/group-by.ts";
import type { Actor } from "../soak-actions.ts";
import type { SoakNumber, SoakWorld } from "../soak-world.ts";
import { expectedOf, keyOf, type Seen } from "./expected.ts";
import { openScreen, type Screen } from "./screen.ts";

/** Looks at the console of a world that people write in. */
export interface Truth {
  /** Somebody who reads, and an owner who writes on the phone, in chats that no bot answers. */
  actors: Actor[];
  /** Ids of what was sent by REST. */
  sent(ids: readonly string[]): void;
  /** Once all is at rest: how many messages the console showed as they are, and what differs. */
  look(): Promise<{ shown: number; problems: string[] }>;
  close(): Promise<void>;
}

/** What is wrong must stay so: receipts and answers may still be on their way to the screen. */
const SETTLES_WITHIN_MS = 30_000;
/** WhatsApp tells whole seconds; and whatever comes or goes waits for a gateway that was killed. */
const EARLIER_MS = 2_000;
const LATER_MS = 300_000;
const OWNERS_FRIEND = "4915100000777";

/** @param world its gateway serves the console */
export async function openTruth(world: SoakWorld): Promise<Truth> {
  const { sim, gateway, key, numbers } = world;
  const read = new Set<string>();
  const accepted = new Set<string>();
  const marks = new Map<string, number>();
  const [first] = numbers;
  await sim.addContact(OWNERS_FRIEND, { name: "A friend" });
  const screen = await openScreen(gateway, key);
  // It stays there while everything happens, and is looked at before anything is loaded anew.
  await screen.open(first!.number, world.contacts[0]!);

  async function expected({ number }: SoakNumber): Promise<[AcceptedMessage[], Map<string, Seen>]> {
    const groups = numbers.flatMap((one) => (one.number === number ? one.groups : []));
    const all = (await sim.accepted()).filter(
      ({ from, chat }) => from === number || chat === number || groups.includes(chat),
    );
    return [all, expectedOf(all, { number, accepted, read })];
  }

  async function lookAt(number: SoakNumber) {
    const problems: string[] = [];
    const [all, due] = await expected(number);
    const since = marks.get(number.number) ?? 0;
    const recent = all.filter(
      ({ seq, id, from }) => seq > since && due.has(keyOf(from === number.number, id)),
    );
    let shown = 0;
    for (const [chat, messages] of await byChat(world, number.number, recent, problems)) {
      const wanted = new Set(messages.map(({ id, from }) => keyOf(from === number.number, id)));
      await screen.open(number.number, chat);
      const different = await differences(screen, wanted, due);
      shown += wanted.size - different.length;
      problems.push(...different.map((line) => `the console, ${number.number} with ${chat}: ${line}`));
    }
    marks.set(number.number, Math.max(since, ...all.map(({ seq }) => seq)));
    return { shown, problems };
  }

  return {
    actors: [createReader(world, read), createOwner(world)],
    sent: (ids) => ids.forEach((id) => accepted.add(id)),
    async look() {
      const looks = [];
      for (const number of numbers) looks.push(await lookAt(number));
      const problems = [...looks.flatMap((one) => one.problems), ...screen.complaints.splice(0)];
      return { shown: looks.reduce((sum, { shown }) => sum + shown, 0), problems };
    },
    close: () => screen.close(),
  };
}

/** Which chat of the gateway each message is in: somebody may be known by a number, or by an address alone. */
async function byChat(
  { gateway, key }: SoakWorld,
  number: string,
  messages: AcceptedMessage[],
  problems: string[],
): Promise<Map<string, AcceptedMessage[]>> {
  const chats = new Map<string, string>();
  let before = "";
  do {
    const { body } = await gateway.get(`/messages?sender=${number}&limit=100${before}`, { key });
    for (const { direction, id, chat } of body["data"]) chats.set(`${direction} ${id}`, chat);
    const isEnough = messages.every(({ id, from }) => chats.has(keyOf(from === number, id)));
    before = body["next"] && !isEnough ? `&before=${encodeURIComponent(body["next"])}` : "";
  } while (before !== "");
  const [there, missing] = [[] as AcceptedMessage[], [] as AcceptedMessage[]];
  for (const message of messages)
    (chats.has(keyOf(message.from === number, message.id)) ? there : missing).push(message);
  problems.push(
    ...missing.map(({ kind, id, from }) => `the list of ${number} has no ${kind} ${id} of ${from}`),
  );
  return groupBy(there, ({ id, from }) => chats.get(keyOf(from === number, id))!);
}

/** One line for each message that is not shown as it is. */
async function differences(screen: Screen, wanted: Set<string>, due: Map<string, Seen>): Promise<string[]> {
  const deadline = Date.now() + SETTLES_WITHIN_MS;
  for (;;) {
    const seen = await screen.read(wanted);
    const lines = [...wanted].flatMap((key) => difference(due.get(key)!, seen.get(key)));
    if (lines.length === 0 || Date.now() > deadline) return lines;
    await wait(500);
  }
}

function difference(due: Seen, seen: Seen | undefined): string[] {
  if (seen === undefined) return [`${keyOf(due.out, due.id)} is not shown: ${JSON.stringify(due)}`];
  const wrong = Object.keys(due).flatMap((name) => {
    const [is, should] = [JSON.stringify(seen[name as keyof Seen]), JSON.stringify(due[name as keyof Seen])];
    if (name === "votes" && due.votes === "unknown") return [];
    if (name === "at") return isTimely(due, seen) ? [] : [`at ${is} instead of ${should}`];
    return is === should ? [] : [`${name} ${is} instead of ${should}`];
  });
  return wrong.length === 0
    ? []
    : [`${keyOf(due.out, due.id)} (${due.words.join(", ")}): ${wrong.join("; ")}`];
}

/** Shown is when the gateway stored it: of what came, the phone's own words too, after it was written; of what went out before it left. */
const isTimely = (due: Seen, seen: Seen): boolean => {
  const later = due.out && due.by !== "Phone" ? due.at - seen.at : seen.at - due.at;
  return later >= -EARLIER_MS && later <= LATER_MS;
};

/** Opens what came from the numbers, now and then. */
function createReader({ sim, contacts, numbers }: SoakWorld, read: Set<string>): Actor {
  let turn = 0;
  return {
    async act() {
      const person = contacts[++turn % 4]!;
      const arrived = await sim.messages(person, { from: numbers[turn % numbers.length]!.number });
      const latest = arrived.findLast(({ chat }) => !chat.includes("@"));
      if (latest === undefined || read.has(`${person} ${latest.id}`)) return null;
      await sim.markRead(person, latest.id);
      read.add(`${person} ${latest.id}`);
      return "reading";
    },
  };
}

/** The owner of the first number and a friend. */
function createOwner({ sim, numbers }: SoakWorld): Actor {
  const { number } = numbers[0]!;
  let count = 0;
  return {
    async act() {
      count++;
      if (count % 2 === 0) await sim.sendText(OWNERS_FRIEND, number, `hello ${count}`);
      else await sim.typeAsOwner(number, OWNERS_FRIEND, `typed ${count}`);
      return "own phone";
    },
  };
}
