import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Draft } from "../../src/model/content/drafts.ts";
import type { Simulator } from "../../src/simulator/index.ts";
import { seededRandom, type Random } from "../../src/simulator/inside.ts";
import type { Store } from "../../src/store/store.ts";
import { PICTURE } from "../crash/hook.ts";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn, type TestNumber } from "./_setup.ts";

const BEN = "31600000101";
/** Is in no group: a new phone has to be given everybody's keys of it first. */
const DAN = "31600000102";
const PEOPLE = [GUEST, BEN, DAN];
const ACTIONS = 60;
const waId = (n: number): string => `3EB0${n.toString(16).toUpperCase().padStart(18, "0")}`;

beforeEach(() => void vi.stubEnv("EVERYDAY_MIX", "mixed"));
afterEach(() => void vi.unstubAllEnvs());

/** What was written into each chat, in order: ids of messages that come in, texts of those that go out. */
interface Written {
  in: Map<string, string[]>;
  out: Map<string, string[]>;
}

const note = (written: Map<string, string[]>, chat: string, what: string): void =>
  void written.set(chat, [...(written.get(chat) ?? []), what]);

interface Scene {
  simulator: Simulator;
  number: TestNumber;
  store: Store;
  group: string;
  written: Written;
  random: Random;
}

/** Everything that people write, from either way's list; and what happens to the line between. */
function createActions({ simulator, number, store, group, written, random }: Scene) {
  let sends = 0;
  const person = (): string => PEOPLE[random.integer(PEOPLE.length)]!;
  const member = (): string => PEOPLE[random.integer(2)]!;
  const incoming = async (chat: string, sent: Promise<{ id: string }>): Promise<void> =>
    note(written.in, chat, (await sent).id);

  async function send(to: string, draft: Draft): Promise<void> {
    const jid = to.includes("@") ? to : `${to}@s.whatsapp.net`;
    const message = { waId: waId(++sends), jid, draft };
    const ahead = random.integer(2) === 0 ? number.connection().encryptAhead!(message) : null;
    if (ahead) await store.writer.commit(ahead.statements);
    ahead?.committed();
    expect(await number.connection().send(message)).toEqual({ kind: "sent" });
    note(written.out, to, message.waId);
  }

  const text = (): Draft => ({ kind: "text", text: `out ${sends}` });
  const actions = {
    text: (from = person()) => incoming(from, simulator.sendText(from, OWN, "in")),
    burst: async (from = person()) => {
      for (let n = 0; n < 3; n++) await incoming(from, simulator.sendText(from, OWN, `in ${n}`));
    },
    location: (from = person()) =>
      incoming(from, simulator.send(from, OWN, { kind: "location", latitude: 1, longitude: 2 })),
    "media after text": async (from = person()) => {
      await incoming(from, simulator.sendText(from, OWN, "before"));
      await incoming(from, simulator.send(from, OWN, { kind: "image", bytes: PICTURE, caption: "look" }));
      await incoming(from, simulator.sendText(from, OWN, "after"));
    },
    reaction: async (from = person()) => {
      const sent = await simulator.sendText(from, OWN, "to react to");
      note(written.in, from, sent.id);
      await incoming(from, simulator.react(from, sent.id, "👍"));
    },
    "group text": (from = member()) => incoming(group, simulator.sendText(from, group, "to all")),
    "new phone": async (from = DAN) => {
      await settled();
      await simulator.changePhone(from);
      // A message that opens a session, and one behind it.
      await actions.burst(from);
      await actions.replies(from);
    },
    repetition: () => simulator.faults.duplicateStanzas({ number: OWN, n: 2 }).catch(() => undefined),
    "encrypted anew": () => simulator.faults.reencryptStanzas({ number: OWN, n: 1 }).catch(() => undefined),
    away: async () => {
      await settled();
      await number.close();
      for (const from of [GUEST, BEN, GUEST]) await actions.text(from);
      const { opens } = number;
      await number.connect();
      // These come while the queue is worked off.
      for (const from of [GUEST, BEN]) await actions.text(from);
      await until("the connection to open", () => number.opens > opens);
    },
    vote: async (from = person()) => {
      await send(from, { kind: "poll", name: "tea?", options: ["yes", "no"], selectable: 1 } as Draft);
      const id = waId(sends);
      await simulator.waitForMessage(from, { kind: "poll" });
      await until("the poll", async () => (await simulator.messages(from)).some((one) => one.id === id));
      await incoming(from, simulator.votePoll(from, id, ["yes"]));
    },
    reply: () => send(person(), text()),
    replies: async (to = person()) => {
      for (let n = 0; n < 3; n++) await send(to, text());
    },
    "group reply": () => send(group, text()),
  };
  const settled = (): Promise<unknown> =>
    until("everything acknowledged", async () => (await simulator.pending(OWN, 1)) === 0, 30_000);
  return { actions, settled };
}

it("whichever way each message takes: every chat keeps its order, in and out, and all is read at the first try", async () => {
  const random = seededRandom("mixed ways");
  const simulator = await simulate({ seed: "mixed" });
  await simulator.addNumber(OWN);
  for (const contact of PEOPLE) await simulator.addContact(contact);
  const store = await testStore(simulator);
  const { ways, number: numberOf } = await whatsappOn(simulator, store, new Map(), true);
  const number = numberOf(1);
  await link(simulator, number);
  const { id: group } = await simulator.addGroup({ subject: "all", members: [OWN, GUEST, BEN] });
  const written: Written = { in: new Map(), out: new Map() };
  const { actions, settled } = createActions({ simulator, number, store, group, written, random });
  const names = Object.keys(actions) as (keyof typeof actions)[];

  for (const from of PEOPLE) {
    await actions.text(from);
    await actions.replies(from);
  }
  const done: string[] = [];
  for (let n = 0; n < ACTIONS; n++) {
    // Each of them once, then any.
    const name = names[n] ?? names[random.integer(names.length)]!;
    done.push(name);
    await actions[name]();
  }
  await settled();

  for (const [chat, ids] of written.in) {
    const chats = number.received.filter((one) => (one.chatKey || one.chat).startsWith(chat.split("@")[0]!));
    expect(
      chats.map(({ id }) => id),
      `${chat} after ${done.join(", ")}`,
    ).toEqual(ids);
  }
  for (const [chat, ids] of written.out) {
    const reader = chat.includes("@") ? GUEST : chat;
    const seen = (await simulator.messages(reader, { from: OWN })).filter(
      (one) => one.chat === chat || !chat.includes("@"),
    );
    const ofChat = seen.map(({ id }) => id).filter((id) => ids.includes(id));
    expect(ofChat, chat).toEqual(ids);
  }
  const entries = await simulator.transcript({ number: OWN, direction: "to_contact" });
  expect(entries.filter(({ decrypted, tries }) => !decrypted || tries > 0)).toEqual([]);
  const messagesIn = [...written.in.values()].flat().length;
  const everyday = ways.filter((way) => way === "in everyday").length;
  expect(everyday).toBeGreaterThan(5);
  expect(ways.filter((way) => way.startsWith("in ")).length).toBeLessThan(messagesIn * 0.8);
  expect(ways).toContain("ahead everyday");
  expect(ways).toContain("out everyday");
}, 120_000);
