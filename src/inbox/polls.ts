import { lidMap, pollVotes } from "../../drizzle/schema.ts";
import type { PollDraft } from "../model/content/drafts.ts";
import type { Incoming, IncomingPoll, PollTally } from "../model/messages.ts";
import { countVotes } from "../model/polls.ts";
import type { InboxReader } from "./reader.ts";
import { defineQuery, integer, nullable } from "../store/query.ts";
import type { Arguments, Statement, Store } from "../store/store.ts";

/** Votes, kept as they arrive and counted when somebody asks. */
export interface Polls {
  /** Statements that keep the votes among these messages; they belong into the commit that stores the messages. */
  keepVotes(deviceId: number, messages: Incoming[]): Statement[];
  /** What is known now of a poll's votes. */
  tally(deviceId: number, poll: Pick<IncomingPoll, "id" | "options">): Promise<PollTally>;
  /** A vote, or a poll, with its tally. Every other message as it is. */
  withTally(deviceId: number, message: Incoming): Promise<Incoming>;
  /** The tally of a poll that this number sent to a chat, with the options that were added to it. */
  sent(
    deviceId: number,
    sent: { id: string; chat: string; draft: PollDraft },
  ): Promise<PollTally & { name: string }>;
}

// Votes may arrive in any order; the clock of the voter's own phone says which is the last.
const KEEP = `INSERT INTO poll_votes (device_id, poll_id, voter, selected, voted_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (device_id, poll_id, voter) DO UPDATE SET selected = excluded.selected, voted_at = excluded.voted_at
WHERE excluded.voted_at >= poll_votes.voted_at`;
// By voter, so that a poll of thousands is read in pages. Who voted as a LID may be known by number since.
const VOTES = defineQuery(
  `SELECT v.rowid AS place, v.voter, v.selected, v.voted_at, m.pn_user AS pnUser FROM poll_votes v
LEFT JOIN lid_map m ON m.device_id = v.device_id
AND m.lid_user = CASE WHEN v.voter LIKE '%@lid' THEN substr(v.voter, 1, length(v.voter) - 4) END
WHERE v.device_id = ? AND v.poll_id = ? AND v.voter > ? ORDER BY v.voter LIMIT ?`,
  {
    place: integer(),
    voter: pollVotes.voter,
    selected: pollVotes.selected,
    votedAt: pollVotes.votedAt,
    pnUser: nullable(lidMap.pnUser),
  },
);

/** A vote as its row has it; `place` tells which of two in the same millisecond was kept first. */
interface Vote {
  place: number;
  votedAt: number;
  voter: string;
  selected: string[];
}

const oldestFirst = (a: Vote, b: Vote): number => a.votedAt - b.votedAt || a.place - b.place;

/** Votes on polls: kept as they arrive, counted when somebody asks. */
export function createPolls(
  { box, pages }: Pick<Store, "box" | "pages">,
  changesOf: InboxReader["changesOf"] = async () => [],
): Polls {
  function keep(deviceId: number, { sender, poll }: Incoming): Statement[] {
    if (!poll?.vote) return [];
    const { selected, at } = poll.vote;
    const sealed = box.sealJson(selected, sealContext(deviceId, poll.id, sender));
    return [{ sql: KEEP, args: [deviceId, poll.id, sender, sealed, at] }];
  }

  async function tally(
    deviceId: number,
    { id, options }: Pick<IncomingPoll, "id" | "options">,
  ): Promise<PollTally> {
    const votes: Vote[] = [];
    const after = (row: { voter: string } | null): Arguments => [deviceId, id, row?.voter ?? ""];
    for await (const page of pages(VOTES, after))
      for (const { place, votedAt, voter, selected, pnUser } of page) {
        const chosen = box.openJson<string[]>(selected, sealContext(deviceId, id, voter));
        votes.push({ place, votedAt, voter: pnUser ?? shownVoter(voter), selected: chosen });
      }
    // Oldest first: somebody with two rows, one of before the number was known, counts with the newer.
    const last = new Map<string, string[]>();
    for (const { voter, selected } of votes.toSorted(oldestFirst)) {
      last.delete(voter);
      last.set(voter, selected);
    }
    return countVotes(
      options,
      [...last].map(([voter, selected]) => ({ voter, selected })),
    );
  }

  return {
    keepVotes: (deviceId, messages) => messages.flatMap((message) => keep(deviceId, message)),
    tally,
    async withTally(deviceId, message) {
      const { poll } = message;
      if (!poll || poll.name === null) return message;
      return { ...message, poll: { ...poll, tally: await tally(deviceId, poll) } };
    },
    async sent(deviceId, { id, chat, draft: { name, options } }) {
      const changes = await changesOf(deviceId, chat, id);
      const added = changes.flatMap(({ poll }) => (poll?.name == null ? [] : poll.options));
      return { name, ...(await tally(deviceId, { id, options: [...new Set([...options, ...added])] })) };
    },
  };
}

/** Digits, or the LID's id. */
function shownVoter(voter: string): string {
  return voter.replace(/@s\.whatsapp\.net$/, "");
}

function sealContext(deviceId: number, pollId: string, voter: string): string {
  return `poll_vote:${deviceId}:${pollId}:${voter}`;
}
