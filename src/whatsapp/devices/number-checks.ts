import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import { userOf } from "../jids.ts";
import { childOf, childrenOf, textOf } from "../nodes.ts";
import type { CheckedNumber } from "../port.ts";
import { askAboutUsers } from "./questions.ts";
import { Unanswered } from "./unanswered.ts";

/**
 * Whether somebody has these numbers at WhatsApp. By the question that phones ask about their address books, and not Baileys' own
 * `onWhatsApp`: of a number that WhatsApp writes in another way, that one does not say which it was.
 *
 * @param numbers digits
 * @returns nothing of those that the answer leaves out
 * @throws {RateOverlimit}, {Unanswered}
 */
export async function checkNumbers(socket: WASocket, numbers: readonly string[]): Promise<CheckedNumber[]> {
  const answer = await ask(socket, numbers);
  const list = childOf(childOf(answer, "usync"), "list");
  if (list === undefined) throw new Unanswered("which numbers are on WhatsApp");
  const wanted = new Set(numbers);
  const found = childrenOf(list).flatMap((user): CheckedNumber[] => {
    const contact = childOf(user, "contact");
    const number = textOf(contact).replace(/\D/g, "");
    const { type } = contact?.attrs ?? {};
    if (!wanted.has(number) || (type !== "in" && type !== "out")) return [];
    const lid = childOf(user, "lid")?.attrs.val;
    return [{ number, exists: type === "in", lid: type === "in" && lid ? `${userOf(lid)}@lid` : null }];
  });
  await learn(socket, found);
  return found;
}

function ask(socket: WASocket, numbers: readonly string[]): Promise<BinaryNode | undefined> {
  const users = numbers.map((number) => ({
    tag: "user",
    attrs: {},
    content: [{ tag: "contact", attrs: {}, content: `+${number}` }],
  }));
  const query = [
    { tag: "contact", attrs: {} },
    { tag: "lid", attrs: {} },
  ];
  return askAboutUsers(socket, query, users);
}

/** Whoever writes from that LID is known by number then. */
async function learn({ signalRepository }: WASocket, found: readonly CheckedNumber[]): Promise<void> {
  const pairs = found.flatMap(({ number, lid }) =>
    lid === null ? [] : [{ pn: `${number}@s.whatsapp.net`, lid }],
  );
  if (pairs.length > 0) await signalRepository.lidMapping.storeLIDPNMappings(pairs);
}
