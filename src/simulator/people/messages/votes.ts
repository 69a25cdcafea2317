import type { proto } from "@whiskeysockets/baileys";
import type { VoteOptions } from "../../surface/content.ts";
import { unwrap } from "../content.ts";
import { pollOf } from "../content/poll.ts";
import { composeVote, openVote } from "../content/vote.ts";
import { LIDS, NUMBERS, isGroup, readUserJid, userJid } from "../jids.ts";
import { keyOf } from "./keys.ts";
import type { KnownMessage } from "./memory.ts";
import type { Desk } from "../content/context.ts";
import type { GroupChat } from "../group-chats.ts";
import type { PhoneState } from "../phone-state.ts";

/** What voting needs of a phone. */
export interface Voter {
  state: PhoneState;
  desk: Desk;
  groups: { chat(group: string): Promise<GroupChat> };
}

type Addressing = "pn" | "lid";

/**
 * A vote as a phone sends it. Its key depends on whose vote it is and whose poll: the creator is named the way the chat names
 * people, and so is the voter, except in direct chats by LID, where phones that show their number use the number.
 *
 * @throws when the message is not a poll with a secret, or lacks one of the options
 */
export async function writeVote(
  phone: Voter,
  known: KnownMessage,
  options: string[],
  how: VoteOptions,
  hidesNumber: boolean,
): Promise<proto.IMessage> {
  const { book, address, world } = phone.state;
  const message = unwrap(known.message);
  const poll = pollOf(message);
  const secret = message.messageContextInfo?.messageSecret;
  if (!poll || !secret?.length) throw new Error(`message ${known.id} is no poll that one can vote in`);
  const names = (poll.options ?? []).map(({ optionName }) => optionName ?? "");
  const strange = options.find((option) => !names.includes(option));
  if (strange !== undefined) throw new Error(`"${strange}" is no option of the poll ${known.id}`);
  const inGroup = isGroup(known.chat);
  const chat = await addressingOf(phone, known);
  const voter: Addressing = how.voter ?? (inGroup || hidesNumber ? chat : "pn");
  const self = { pn: `${address.user}@${NUMBERS}`, lid: `${address.lid}@${LIDS}` };
  const creator = known.fromMe
    ? self[how.creator ?? chat]
    : addressOf(book, known.author, how.creator ?? chat);
  const ballot = { pollId: known.id, secret, creator, voter: self[voter] };
  return composeVote(keyOf(known), options, ballot, phone.desk.random, world.time.now());
}

/** How the chat of a message names people. */
async function addressingOf(phone: Voter, { chat }: KnownMessage): Promise<Addressing> {
  if (isGroup(chat)) return (await phone.groups.chat(chat)).addressing;
  return readUserJid(chat).server === LIDS ? "lid" : "pn";
}

/** A message's author and this person, as its chat names them. */
export async function addressesIn(
  phone: Voter,
  known: KnownMessage,
): Promise<{ creator: string; self: string }> {
  const { book, address } = phone.state;
  const addressing = await addressingOf(phone, known);
  const self = addressing === "lid" ? `${address.lid}@${LIDS}` : `${address.user}@${NUMBERS}`;
  return { creator: known.fromMe ? self : addressOf(book, known.author, addressing), self };
}

/** What an incoming vote chose. The poll is on this phone; voter and creator are tried under both addresses. */
export function readVote(
  { book, memory }: PhoneState,
  message: proto.IMessage,
  author: string,
): { choices: string[] } | undefined {
  const { pollCreationMessageKey: key, vote } = message.pollUpdateMessage ?? {};
  const known = memory.find(key?.id ?? "");
  const poll = known && unwrap(known.message);
  const secret = poll?.messageContextInfo?.messageSecret;
  if (!vote || !known || !poll || !secret) return undefined;
  for (const creator of bothAddresses(book, known.author)) {
    for (const voter of bothAddresses(book, author)) {
      const choices = openVote(vote, poll, { pollId: known.id, secret, creator, voter });
      if (choices) return { choices };
    }
  }
  return undefined;
}

const addressOf = (book: PhoneState["book"], jid: string, addressing: Addressing): string =>
  bothAddresses(book, jid).find((address) => address.endsWith(addressing === "lid" ? LIDS : NUMBERS)) ??
  userJid(jid);

/** Every address of a person that this phone knows. */
export function bothAddresses(book: PhoneState["book"], jid: string): string[] {
  const [number, lid] = [book.numberOf(jid), book.lidOf(jid)];
  return [...(lid ? [`${lid}@${LIDS}`] : []), ...(number ? [`${number}@${NUMBERS}`] : [])];
}
