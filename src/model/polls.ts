import type { IncomingPoll, PollTally } from "./messages.ts";

/** A poll as webhooks and bots see it. Unknown values are null. */
export interface PollView {
  /** Message id of the poll. */
  id: string;
  name: string | null;
  /** The options that this vote chose. Empty when the vote was withdrawn. Null when this is not a vote, or could not be read. */
  selected: string[] | null;
  options: PollTally["options"] | null;
  /** Number of people who have voted for an option. */
  total: number | null;
}

/** @returns null for a message that has nothing to do with a poll */
export function viewPoll(poll: IncomingPoll | null | undefined): PollView | null {
  if (!poll) return null;
  const { id, name, vote } = poll;
  const selected = vote?.selected ?? null;
  if (name === null) return { id, name, selected, options: null, total: null };
  return { id, name, selected, ...(poll.tally ?? countVotes(poll.options, [])) };
}

/**
 * @param options names in the poll's order
 * @param votes   the last vote of each person; names that the poll has not are left out
 */
export function countVotes(options: string[], votes: { voter: string; selected: string[] }[]): PollTally {
  const counted = votes.filter(({ selected }) => selected.some((name) => options.includes(name)));
  return {
    options: options.map((name) => ({
      name,
      voters: counted.filter(({ selected }) => selected.includes(name)).map(({ voter }) => voter),
    })),
    total: counted.length,
  };
}
