/** Options that people add to polls, on the phones of those who have the poll. */
import type { proto } from "@whiskeysockets/baileys";
import { unwrap } from "../content.ts";
import { pollOf } from "../content/poll.ts";
import { composeOption, openOption } from "../content/poll-option.ts";
import { keyOf } from "./keys.ts";
import type { KnownMessage } from "./memory.ts";
import type { PhoneState } from "../phone-state.ts";
import { addressesIn, bothAddresses, type Voter } from "./votes.ts";

/** A message that adds an option. @throws when the message is no poll that lets others add some */
export async function writeOption(
  phone: Voter,
  known: KnownMessage,
  option: string,
): Promise<proto.IMessage> {
  const message = unwrap(known.message);
  const secret = message.messageContextInfo?.messageSecret;
  if (!message.pollCreationMessageV5 || !secret?.length)
    throw new Error(`message ${known.id} is no poll that one can add options to`);
  const { creator, self } = await addressesIn(phone, known);
  const addition = { pollId: known.id, secret, creator, adder: self };
  return composeOption(keyOf(known), option, addition, phone.desk.random);
}

/** Takes an added option over into the poll, when that is on this phone: it can be voted for from now on. */
export function learnOption(
  { book, memory }: PhoneState,
  message: proto.IMessage,
  author: string,
): { text: string } | undefined {
  const { secretEncryptedMessage: sealed } = unwrap(message);
  const known = memory.find(sealed?.targetMessageKey?.id ?? "");
  const poll = known && unwrap(known.message);
  const secret = poll?.messageContextInfo?.messageSecret;
  if (!sealed || !known || !poll || !secret?.length) return undefined;
  for (const creator of bothAddresses(book, known.author))
    for (const adder of bothAddresses(book, author)) {
      const option = openOption(sealed, { pollId: known.id, secret, creator, adder });
      if (option === undefined) continue;
      const options = (pollOf(poll)!.options ??= []);
      if (!options.some(({ optionName }) => optionName === option)) options.push({ optionName: option });
      return { text: option };
    }
  return undefined;
}
