import { isAction, type Draft } from "../model/content/drafts.ts";
import type { Incoming, IncomingPoll } from "../model/messages.ts";

/** What a message is made of besides its text and file. Absent is undefined. */
export interface ListParts {
  /** What the writer of a message that came calls himself. */
  name?: string;
  /** The message that a reaction, a vote, an edit or a revoke is about. */
  targetId?: string;
  /** Of a poll its options; of a vote those that were chosen, too: none when the vote was withdrawn. */
  poll?: { id: string; name: string | null; options: string[]; selected?: string[] };
  location?: NonNullable<Incoming["location"]>;
  contacts?: NonNullable<Incoming["contacts"]>;
}

/** Of a message that came, or that the owner typed. */
export function partsOfIncoming({
  pushName,
  fromMe,
  targetId,
  reaction,
  poll,
  location,
  contacts,
}: Incoming): ListParts {
  const target = reaction?.id ?? targetId;
  return {
    ...(!fromMe && pushName !== "" && { name: pushName }),
    ...(target !== null && { targetId: target }),
    ...(poll && { poll: pollOf(poll) }),
    ...(location !== null && { location }),
    ...(contacts !== null && { contacts }),
  };
}

const pollOf = ({ id, name, options, vote }: IncomingPoll) => ({
  id,
  name,
  options,
  ...(vote && { selected: vote.selected }),
});

/** Of a message that the gateway sends. @param id its own */
export function partsOfDraft(draft: Draft, id: string): ListParts {
  if (isAction(draft)) return { targetId: draft.target.id };
  if (draft.kind === "location") {
    const { latitude, longitude, name = null, address = null } = draft;
    return { location: { latitude, longitude, name, address } };
  }
  if (draft.kind === "contact")
    return { contacts: draft.contacts.map(({ name, numbers }) => ({ name, numbers })) };
  return draft.kind === "poll" ? { poll: { id, name: draft.name, options: draft.options } } : {};
}
