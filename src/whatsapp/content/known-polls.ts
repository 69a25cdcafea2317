import type { SecretBox } from "../../store/store.ts";
import type { OwnIds } from "../addresses.ts";
import { messageSecret } from "./message-secret.ts";
import { distinct, idsOf, secretIn, type SealedSources } from "./sealed-sources.ts";

/** A poll as its votes and its changes need it. */
export interface KnownPoll {
  /** As it is called now. */
  name: string;
  /** In their order, with those that were added to it. */
  options: string[];
  /** `messageSecret` of the poll. */
  secret: Uint8Array;
  /** Ids that its author goes by. */
  creators: string[];
}

/** Finds a poll in a chat; null when it is not here, or has no secret. */
export type FindPoll = (chatKey: string, id: string) => Promise<KnownPoll | null>;

/** More than WhatsApp allows a poll to have. */
const MOST_OPTIONS = 100;

/** Polls of ours and those that arrived, with what became of them since. */
export function createKnownPolls(
  sources: SealedSources,
  own: () => OwnIds,
  box: Pick<SecretBox, "hmac">,
): FindPoll {
  /** Ours before what arrived: nobody can take the place of our poll by using its id. */
  async function asWritten(chatKey: string, id: string): Promise<KnownPoll | null> {
    const draft = await sources.sent(id);
    if (draft !== null) {
      if (draft.kind !== "poll") return null;
      const { name, options } = draft;
      return { name, options, secret: messageSecret(box, id), creators: distinct(own().lid, own().pn) };
    }
    const incoming = await sources.received(chatKey, id);
    if (!incoming?.poll || incoming.type !== "poll" || incoming.poll.name === null) return null;
    const secret = secretIn(incoming);
    if (secret === null) return null;
    const { name, options } = incoming.poll;
    return { name, options, secret, creators: await idsOf(incoming, own(), sources) };
  }

  return async (chatKey, id) => {
    const poll = await asWritten(chatKey, id);
    if (poll === null) return null;
    // What did not open says nothing; what did says what the poll was like from then on.
    const changes = (await sources.changes(chatKey, id)).flatMap(({ poll: changed }) =>
      changed && changed.name !== null ? [changed] : [],
    );
    const options = [...new Set([...poll.options, ...changes.flatMap((changed) => changed.options)])];
    return { ...poll, name: changes.at(-1)?.name ?? poll.name, options: options.slice(0, MOST_OPTIONS) };
  };
}
