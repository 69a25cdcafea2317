import type { proto } from "@whiskeysockets/baileys";
import { createHash } from "node:crypto";
import type { Incoming, PollVote } from "../../model/messages.ts";
import type { OwnIds } from "../addresses.ts";
import { baileys } from "../baileys.ts";
import type { FindPoll, KnownPoll } from "./known-polls.ts";
import { idsOf, type SealedReader, type SealedSources } from "./sealed-sources.ts";

/**
 * Votes are encrypted once more with the poll's secret, bound to author and voter. Which of the two ids of each was
 * used, the number's or the LID's, depends on the voter's phone and is told nowhere: all are tried.
 */
export function createPollReader(sources: SealedSources, own: () => OwnIds, find: FindPoll): SealedReader {
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

/** The names that were chosen; null when no pair of ids fits, or none of them is known. */
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
        const names = options.filter((name) => chosen.has(createHash("sha256").update(name).digest("hex")));
        // An option that we were not told of is chosen all the same: that is not to have chosen none.
        return chosen.size > 0 && names.length === 0 ? null : names;
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
