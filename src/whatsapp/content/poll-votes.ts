import type { proto } from "@whiskeysockets/baileys";
import { createHash } from "node:crypto";
import type { Incoming, PollVote } from "../../model/messages.ts";
import type { SecretBox } from "../../store/store.ts";
import type { OwnIds } from "../addresses.ts";
import { baileys } from "../baileys.ts";
import { messageSecret } from "./message-secret.ts";
import { distinct, idsOf, secretIn, type SealedReader, type SealedSources } from "./sealed-sources.ts";

/** A poll as its votes need it. */
interface KnownPoll {
  name: string;
  options: string[];
  /** `messageSecret` of the poll. */
  secret: Uint8Array;
  /** Ids that its author goes by. */
  creators: string[];
}

/**
 * Votes are encrypted once more with the poll's secret, bound to author and voter. Which of the two ids of each was
 * used, the number's or the LID's, depends on the voter's phone and is told nowhere: all are tried.
 */
export function createPollReader(
  sources: SealedSources,
  own: () => OwnIds,
  box: Pick<SecretBox, "hmac">,
): SealedReader {
  /** Ours before what arrived: nobody can take the place of our poll by using its id. */
  async function find(chatKey: string, id: string): Promise<KnownPoll | null> {
    const draft = await sources.sent(id);
    if (draft !== null) {
      if (draft.kind !== "poll") return null;
      const { name, options } = draft;
      return { name, options, secret: messageSecret(box, id), creators: distinct(own().lid, own().pn) };
    }
    const incoming = await sources.received(chatKey, id);
    if (!incoming?.poll || incoming.type === "poll_vote" || incoming.poll.name === null) return null;
    const secret = secretIn(incoming);
    if (secret === null) return null;
    const { name, options } = incoming.poll;
    return { name, options, secret, creators: await idsOf(incoming, own(), sources) };
  }

  async function readVote(incoming: Incoming, update: proto.Message.IPollUpdateMessage): Promise<Incoming> {
    const id = update.pollCreationMessageKey?.id ?? "";
    const poll = await find(incoming.chatKey, id);
    if (poll === null) return { ...incoming, poll: { id, name: null, options: [], vote: null } };
    const selected = decrypt(update, id, poll, await idsOf(incoming, own(), sources));
    const vote: PollVote | null = selected && { selected, at: votedAt(update, incoming.timestamp) };
    const { name, options } = poll;
    return { ...incoming, text: selected?.join(", ") ?? "", poll: { id, name, options, vote } };
  }

  return async (incoming, message) => {
    const update = baileys.normalizeMessageContent(message)?.pollUpdateMessage;
    return update ? readVote(incoming, update) : incoming;
  };
}

/** The names that were chosen; null when no pair of ids fits. */
function decrypt(
  { vote }: proto.Message.IPollUpdateMessage,
  pollMsgId: string,
  { options, secret, creators }: KnownPoll,
  voters: string[],
): string[] | null {
  if (!vote?.encPayload || !vote.encIv) return null;
  for (const pollCreatorJid of creators)
    for (const voterJid of voters) {
      try {
        const context = { pollCreatorJid, pollMsgId, pollEncKey: secret, voterJid };
        const { selectedOptions } = baileys.decryptPollVote(vote, context);
        const chosen = new Set(selectedOptions.map((hash) => Buffer.from(hash).toString("hex")));
        return options.filter((name) => chosen.has(createHash("sha256").update(name).digest("hex")));
      } catch {
        // Authenticated encryption: a wrong pair cannot give a wrong vote, it gives none.
      }
    }
  return null;
}

/**
 * The voter's own clock tells two votes of one second apart. It is believed no further than WhatsApp's: a vote from a
 * phone whose clock is ahead must not hold against all later ones.
 */
function votedAt(update: proto.Message.IPollUpdateMessage, timestamp: number): number {
  const latest = timestamp * 1000 + 999;
  const claimed = baileys.toNumber(update.senderTimestampMs ?? undefined);
  return claimed > 0 ? Math.min(claimed, latest) : timestamp * 1000;
}
