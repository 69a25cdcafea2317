import { NEVER_SENT } from "../message/changes.ts";
import { dayOf } from "../days.ts";
import { keyOfMessage, sameWriter, type Message } from "../records.ts";

/** What people have put on a message: each emoji with how many of them. */
export type Reactions = { emoji: string; count: number }[];

/** One line of a conversation, top to bottom. */
export type Row =
  | { kind: "day"; key: string; day: string }
  | {
      kind: "message";
      key: string;
      message: Message;
      reactions: Reactions;
      /** The same writer's go close together: the first has the name. */
      first: boolean;
    }
  | { kind: "note"; key: string; message: Message };

/** They are seen in the message that they are about. */
const UNSEEN = new Set<string>(["reaction", "edit", "revoke"]);
/** Small lines between the messages. */
const NOTES = new Set<string>(["poll_vote", "call"]);
const CLOSE_MS = 5 * 60_000;

/** @param messages oldest first */
export function rowsOf(messages: readonly Message[]): Row[] {
  const reactions = reactionsOf(messages);
  const rows: Row[] = [];
  let before: Message | null = null;
  for (const message of messages) {
    if (UNSEEN.has(message.type)) continue;
    const day = dayOf(message.at);
    if (before === null || dayOf(before.at) !== day) rows.push({ kind: "day", key: `day/${day}`, day });
    const key = keyOfMessage(message);
    if (NOTES.has(message.type)) rows.push({ kind: "note", key, message });
    else
      rows.push({
        kind: "message",
        key,
        message,
        reactions: reactions.get(message.id) ?? [],
        first: !(before !== null && dayOf(before.at) === day && isClose(before, message)),
      });
    before = message;
  }
  return rows;
}

const isClose = (before: Message, message: Message): boolean =>
  sameWriter(before, message) &&
  !NOTES.has(before.type) &&
  Date.parse(message.at) - Date.parse(before.at) < CLOSE_MS;

/** Of each person the last one counts, and an empty one takes it back. */
function reactionsOf(messages: readonly Message[]): Map<string, Reactions> {
  const byPerson = new Map<string, Map<string, string>>();
  for (const { type, target_id: target, direction, from, message, state } of messages) {
    if (type !== "reaction" || target === undefined || NEVER_SENT.has(state)) continue;
    const people = byPerson.get(target) ?? new Map<string, string>();
    byPerson.set(target, people.set(direction === "out" ? "" : from, message));
  }
  const counted = new Map<string, Reactions>();
  for (const [target, people] of byPerson) {
    const counts = new Map<string, number>();
    for (const emoji of people.values()) if (emoji !== "") counts.set(emoji, (counts.get(emoji) ?? 0) + 1);
    counted.set(
      target,
      [...counts].map(([emoji, count]) => ({ emoji, count })).toSorted((a, b) => b.count - a.count),
    );
  }
  return counted;
}
