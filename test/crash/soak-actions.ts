import type { Random } from "../../src/simulator/inside.ts";
import type { Content } from "../../src/simulator/types.ts";
import { PICTURE } from "./hook.ts";
import type { SoakNumber, SoakWorld } from "./soak-world.ts";

/** Somebody who does something every now and then. Rejects when the simulator refuses it. */
export interface Actor {
  /** @returns what was done, for the count; null when there was nothing that it could be done to */
  act(): Promise<string | null>;
}

const VCARD = "BEGIN:VCARD\nVERSION:3.0\nFN:Ben\nTEL;waid=4915100000099:+4915100000099\nEND:VCARD";
const CONTENTS: Content[] = [
  { kind: "image", bytes: PICTURE, caption: "look" },
  { kind: "voice", bytes: Buffer.from("OggS and what follows"), seconds: 1 },
  { kind: "document", bytes: Buffer.from("a letter"), fileName: "letter.pdf" },
  { kind: "sticker", bytes: PICTURE },
  { kind: "location", latitude: 52.5, longitude: 13.4, name: "Cafe" },
  { kind: "contacts", contacts: [{ name: "Ben", vcard: VCARD }] },
];
const OPTIONS = ["tea", "coffee"];
/** What somebody comes back to; a phone of the simulator has its last 1,000 messages. */
const LATEST = 8;

/** What contacts of any world need of it. */
type ContactWorld = Pick<SoakWorld, "sim"> & { numbers: Pick<SoakNumber, "number" | "groups">[] };

/**
 * A contact who writes everything that a person can write, to all numbers.
 *
 * @param only names of what is done; default: everything
 */
export function createContact(world: ContactWorld, person: string, random: Random, only?: string[]): Actor {
  const { sim } = world;
  const written: { id: string; to: string }[] = [];
  const polls: string[] = [];
  let questions = 0;
  const pick = <Item>(items: Item[]): Item | undefined =>
    items.length === 0 ? undefined : items[random.integer(items.length)];
  const text = async (to: string, words: string): Promise<void> => {
    const { id } = await sim.sendText(person, to, words);
    // What is asked is to be answered, so it is neither edited nor taken back.
    if (words === "hello") written.push({ id, to });
    written.splice(0, written.length - LATEST);
  };
  const words = (): string => ["hello", "order", `ask ${++questions}`][random.integer(3)]!;

  const actions: Record<string, (number: ContactWorld["numbers"][number]) => Promise<unknown>> = {
    text: ({ number }) => text(number, words()),
    "another text": ({ number }) => text(number, words()),
    burst: async ({ number }) => {
      for (let i = 0; i < 3; i++) await text(number, words());
    },
    group: async ({ groups }) => groups[0] !== undefined && text(groups[0], words()),
    content: ({ number }) => sim.send(person, number, pick(CONTENTS)!),
    poll: async ({ number }) => {
      const poll: Content = { kind: "poll", name: "What?", options: OPTIONS, selectable: 1 };
      polls.push((await sim.send(person, number, poll)).id);
      polls.splice(0, polls.length - LATEST);
    },
    vote: async ({ number }) => {
      const arrived = await sim.messages(person, { from: number });
      const theirs = arrived.findLast(({ kind, poll }) => kind === "poll" && poll?.options.includes("tea"));
      const id = random.integer(2) === 0 ? (theirs?.id ?? pick(polls)) : pick(polls);
      return id !== undefined && sim.votePoll(person, id, [pick(OPTIONS)!]);
    },
    reaction: async () => {
      const message = pick(written);
      return message !== undefined && sim.react(person, message.id, pick(["👍", "❤️", ""])!);
    },
    edit: async () => {
      const message = pick(written);
      return message !== undefined && sim.edit(person, message.id, "edited");
    },
    revoke: async () => {
      const [message] = written.splice(0, 1);
      return message !== undefined && sim.revoke(person, message.id);
    },
  };

  return {
    async act() {
      const name = pick(only ?? Object.keys(actions))!;
      return (await actions[name]!(pick(world.numbers)!)) === false ? null : name;
    },
  };
}

/** The program of a customer that sends texts, files and polls by REST. */
export function createCustomer(world: SoakWorld, random: Random): Actor {
  let count = 0;
  return {
    async act() {
      const from = world.numbers[random.integer(world.numbers.length)]!;
      const people = world.contacts.slice(0, -1);
      const number = people[random.integer(people.length)]!;
      const kind = ["text", "media", "poll"][random.integer(3)]!;
      const sent =
        kind === "text"
          ? world.send(from, "/send-message", { number, message: `notice ${++count}` })
          : kind === "media"
            ? world.send(from, "/send-media", { number, media_type: "image", url: from.hook.pictureUrl })
            : world.send(from, "/send-poll", { number, name: `poll ${++count}`, option: OPTIONS });
      // Whoever waits for an answer that was cut off does not keep the others waiting.
      void sent.catch(() => undefined);
      return `REST ${kind}`;
    },
  };
}

/** An admin of the channel that a number follows. */
export function createPublisher(world: SoakWorld): Actor {
  let count = 0;
  return {
    async act() {
      const channel = world.numbers.flatMap(({ channels }) => channels)[0]!;
      await world.sim.postInChannel(channel, `news ${++count}`);
      return "channel post";
    },
  };
}

/** What goes wrong between the service and the numbers, beside the kills. */
export function createMischief(world: SoakWorld, random: Random): Actor {
  const { faults } = world.sim;
  const always: ((number: string) => [string, () => Promise<unknown>])[] = [
    (number) => ["socket drop", () => faults.dropSocket({ number })],
    (number) => ["drop before receipt", () => faults.dropBeforeReceipt({ number })],
    (number) => ["drop after receipt", () => faults.dropAfterReceipt({ number })],
    (number) => ["duplicates", () => faults.duplicateStanzas({ number, n: 3 })],
    (number) => ["re-encryption", () => faults.reencryptStanzas({ number, n: 2 })],
  ];
  const disordering: typeof always = [
    (number) => ["reordering", () => faults.reorderStanzas({ number, n: 3 })],
    (number) => ["placeholders", () => faults.placeholders({ number, n: 2 })],
  ];
  return {
    async act() {
      const { number, ordered } = world.numbers[random.integer(world.numbers.length)]!;
      const choice = ordered ? always : [...always, ...disordering];
      const [name, strike] = choice[random.integer(choice.length)]!(number);
      try {
        await strike();
        return name;
      } catch (error) {
        // The last one of its kind is not over yet.
        if ((error as Error).message.includes("already")) return null;
        throw error;
      }
    },
  };
}
