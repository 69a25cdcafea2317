import { readFile } from "node:fs/promises";
import type { SimulatedPerson } from "../people/people.ts";
import { addressOf } from "./addresses.ts";
import type { Population } from "./population.ts";
import type { Random } from "../random.ts";
import type { CallBook } from "../server/calls/call-book.ts";
import type { Content, SendOptions, Sent } from "../surface/content.ts";
import type { ConversationMethods } from "../surface/conversations.ts";
import { nextTurn } from "../time.ts";
import { userJid } from "../world/accounts.ts";
import { isGroupJid } from "../world/jid.ts";
import type { Profiles } from "../world/profiles.ts";
import type { World } from "../world/world.ts";

/** How long a message may take to arrive, in milliseconds. */
const ARRIVAL_MS = 5000;

interface Needs {
  world: World;
  random: Random;
  population: Population;
  calls: CallBook;
  profiles: Profiles;
  /** Timestamps and names that a caller gives for single messages, by sender and id. */
  overrides: Map<string, { t?: string; notify?: string }>;
  until(condition: () => boolean, timeoutMs: number): Promise<boolean>;
}

/** What people write, and what they do with messages. */
export function createConversations(needs: Needs): ConversationMethods {
  const { world, population } = needs;
  const newMessageId = messageIds(needs.random);
  const write = (person: SimulatedPerson, to: string, content: Content, options: SendOptions = {}): Sent =>
    send(needs, person, to, content, { ...options, id: options.id ?? newMessageId(person.number) });
  /** The person, once the message is on their phone. */
  const holder = async (number: string, messageId: string): Promise<SimulatedPerson> => {
    const person = population.person(number);
    await needs.until(() => person.knows(messageId), ARRIVAL_MS);
    return person;
  };
  const mark = async (number: string, ids: string[], what: "read" | "played"): Promise<void> => {
    const isQuiet = needs.profiles.known(number)?.privacy.get("readreceipts") === "none";
    for (const id of ids) await holder(number, id);
    await population.person(number).mark(ids, isQuiet ? `${what}-self` : what);
  };
  return {
    typeAsOwner: async (number, to, text, options) =>
      write(population.owner(number), to, { kind: "text", text }, options),
    sendText: async (from, to, text, options) =>
      write(population.contact(from), to, { kind: "text", text }, options),
    send: async (from, to, content, options) => write(population.contact(from), to, content, options),
    sendAsOwner: async (number, to, content, options) =>
      write(population.owner(number), to, content, options),
    votePoll: async (person, pollId, options, how) =>
      (await holder(person, pollId)).votePoll(pollId, options, how),
    addPollOption: async (person, pollId, option) =>
      (await holder(person, pollId)).addPollOption(pollId, option),
    react: async (person, messageId, emoji) => (await holder(person, messageId)).react(messageId, emoji),
    edit: async (person, messageId, text) => (await holder(person, messageId)).edit(messageId, text),
    revoke: async (person, messageId) => (await holder(person, messageId)).revoke(messageId),
    mediaOf: async (person, messageId) => (await holder(person, messageId)).mediaOf(messageId),
    markRead: (person, messageIds) => mark(person, [messageIds].flat(), "read"),
    markPlayed: (person, messageId) => mark(person, [messageId], "played"),
    typing: async (person, to, state = "composing") =>
      population.person(person).typing(addressOf(world, to), state),
    async setDisappearing(person, to, seconds) {
      const id = newMessageId(person);
      await population.person(person).setDisappearing(addressOf(world, to), seconds, id);
      return { id };
    },
    ...createCalling(needs, newMessageId),
    async postStatus(contact, content, { id = newMessageId(contact), audience } = {}) {
      const owners = [...world.accounts.values()].filter(({ kind }) => kind === "owner");
      const readers = (audience ?? owners.map(({ number }) => number)).map((to) => addressOf(world, to));
      return await population.contact(contact).postStatus(await withBytes(content), readers, { id });
    },
  };
}

/** Calls, on the phones of those who make and take them. */
function createCalling(
  { world, population, calls }: Needs,
  newId: (number: string) => string,
): Pick<ConversationMethods, "call" | "endCall" | "answerCall" | "callState"> {
  const known = (callId: string) => {
    const call = calls.find(callId);
    if (!call) throw new Error(`nobody has made a call ${callId}`);
    return call;
  };
  return {
    async call(person, to, { video = false } = {}) {
      const id = newId(person);
      await population.person(person).call(addressOf(world, to), { tag: "offer", id, video });
      return { id };
    },
    endCall: async (person, to, id, reason) =>
      population.person(person).call(addressOf(world, to), { tag: "terminate", id, reason }),
    answerCall: async (owner, id, tag) =>
      population.owner(owner).call(known(id).creator, { tag, id, creator: known(id).creator }),
    async callState(called, id) {
      const state = known(id).at.get(world.account(called).number);
      if (!state) throw new Error(`${called} was not called by ${id}`);
      return { ...state };
    },
  };
}

/** Ids as iPhones make them, fixed by the seed. */
function messageIds(random: Random): (number: string) => string {
  let last = 0;
  return (number) => {
    const bytes = random.fork(`message:${number}:${++last}`).bytes(9);
    return `3A${bytes.toString("hex").toUpperCase()}`;
  };
}

async function send(
  { world, overrides }: Needs,
  person: SimulatedPerson,
  to: string,
  content: Content,
  options: SendOptions & { id: string },
): Sent {
  const group = isGroupJid(to) ? world.group(to) : undefined;
  const jid = (address: string) => userJid(world.account(address), group?.addressing ?? "pn");
  const { id, quoted, timestamp, pushName } = options;
  if (timestamp !== undefined || pushName !== undefined) {
    const t = timestamp === undefined ? undefined : String(timestamp);
    overrides.set(`${person.number} ${id}`, { t, notify: pushName });
  }
  const sent = await person.sendContent(group ? group.id : addressOf(world, to), await withBytes(content), {
    id,
    device: options.device,
    mentions: options.mentions?.map(jid),
    expiration: options.expiration,
    advertisement: options.advertisement,
    album: options.album,
    quoted: quoted && {
      id: quoted.id,
      participant: jid(quoted.participant ?? to),
      text: quoted.text ?? "",
    },
  });
  // The message is at the server now. A caller that writes in a long loop must not starve the sockets.
  await nextTurn();
  return sent;
}

/** Content with its file loaded. */
export async function withBytes(content: Content | string): Promise<Content> {
  if (typeof content === "string") return { kind: "text", text: content };
  if (!("path" in content) || content.path === undefined) return content;
  const { path, ...rest } = content;
  return { ...rest, bytes: await readFile(path) } as Content;
}
