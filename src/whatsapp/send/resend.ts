import type { proto, WAMessageKey, WASocket } from "@whiskeysockets/baileys";
import type { OwnIds } from "../addresses.ts";
import type { Composer } from "../content/compose.ts";
import { isGroup, isLid, isPn, toPn, userOf, withoutDevice } from "../jids.ts";
import type { SentContent } from "../port.ts";

interface ResendDeps {
  composer: Pick<Composer, "again">;
  /** What was sent under an id; null when it is not known. */
  sentMessage(waId: string): Promise<SentContent | null>;
  own(): OwnIds;
  /** Number of a LID's user, both digits, as far as the pair is known. */
  numbersOfLids(lidUsers: string[]): Promise<Map<string, string>>;
  /** The form under which WhatsApp knows a number that was written to, see `recipientsOf`. */
  formThatCounts(jid: string): Promise<string | null>;
}

/** Who asks for a message, as Baileys reads it from a retry receipt: the chat, and the device that asks. */
type RetryKey = Pick<WAMessageKey, "id" | "remoteJid" | "participant">;

/**
 * Answers phones that could not read a message and ask for it again. An id is no secret: whoever knows one gets the message
 * only when it was sent to their chat. Somebody in a group gets what was sent to that group, whose members the server
 * checks; another device of the number itself gets what was sent to the chat that it names.
 *
 * @returns the content as it was sent; undefined when it is not known, or is not for whoever asks
 */
export function createResends(deps: ResendDeps): (key: RetryKey) => Promise<proto.IMessage | undefined> {
  async function canonical(jid: string): Promise<string> {
    if (!isLid(jid)) return jid;
    const number = (await deps.numbersOfLids([userOf(jid)])).get(userOf(jid));
    return number === undefined ? jid : toPn(number);
  }

  async function isSameChat(chat: string, { jid, chat: sentTo }: SentContent): Promise<boolean> {
    const asked = await canonical(chat);
    if (asked === (await canonical(jid)) || asked === (await canonical(sentTo))) return true;
    return isPn(jid) && isPn(asked) && (await deps.formThatCounts(jid)) === asked;
  }

  async function isFor(key: RetryKey, sent: SentContent): Promise<boolean> {
    const chat = withoutDevice(key.remoteJid);
    if (!isPn(sent.jid) && !isLid(sent.jid)) return isGroup(chat) && chat === sent.jid;
    if (!isPn(chat) && !isLid(chat)) return false;
    const asker = withoutDevice(key.participant) || chat;
    const { pn, lid } = deps.own();
    const isOwn = asker === pn || asker === lid;
    return (isOwn || (await canonical(asker)) === (await canonical(chat))) && isSameChat(chat, sent);
  }

  return async (key) => {
    const sent = key.id ? await deps.sentMessage(key.id) : null;
    if (!key.id || sent === null || !(await isFor(key, sent))) return undefined;
    return deps.composer.again({ draft: sent.draft, waId: key.id, jid: sent.jid }, [sent.chat]);
  };
}

/**
 * Baileys answers from its memory of what it has sent and received lately before it asks for a message, by the chat that
 * the receipt names alone. What was sent is in the database.
 */
export function rememberNothingSent({ messageRetryManager }: WASocket): void {
  if (messageRetryManager) messageRetryManager.addRecentMessage = () => undefined;
}
