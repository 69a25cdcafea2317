import { PAGE } from "../calls.ts";
import { keyOfMessage, type Message, type PageOf } from "../records.ts";

/** Asks for one page of the conversation. */
export type AskPage = (range: {
  before?: string | null;
  since?: string | null;
  limit?: number;
}) => Promise<PageOf<Message>>;

/** A time before which what is of this time is, too. */
export const justAfter = (at: string): string => new Date(Date.parse(at) + 1).toISOString();

/** Further pages of one window of time before it is taken to be too wide. */
const MOST_PAGES = 4;
/** A window that is not made narrower: what bears one time is read to its end. */
const NARROWEST_MS = 2;
const MINUTE_MS = 60_000;

/**
 * The next messages after those that are held, newest first. The gateway lists backwards, so it is asked window by window of time, as wide as
 * the last messages were apart, and wider where nothing is.
 */
export async function newerThan(held: readonly Message[], ask: AskPage, signal: AbortSignal) {
  const newest = held.at(-1);
  const first = held.at(-PAGE) ?? held[0];
  let from = newest === undefined ? 0 : Date.parse(newest.at);
  let width = Math.max(MINUTE_MS, from - (first === undefined ? 0 : Date.parse(first.at)));
  const found: Message[] = [];
  for (;;) {
    const end = from + width;
    const open = end > Date.now();
    const range = {
      since: new Date(from).toISOString(),
      ...(!open && { before: new Date(end).toISOString() }),
    };
    const some = await everythingOf(range, ask, width > NARROWEST_MS ? MOST_PAGES : Infinity);
    if (some === null) {
      width = Math.max(NARROWEST_MS, Math.ceil(width / 4));
      continue;
    }
    const known = new Set(held.map(keyOfMessage));
    found.unshift(...some.filter((message) => !known.has(keyOfMessage(message))));
    if (open || found.length >= PAGE / 2 || signal.aborted) return { found, reachedEnd: open };
    from = end;
    width *= 4;
  }
}

/** Everything of a window of time, newest first; null: it holds more than so many pages of 100. */
export async function everythingOf(
  range: { since: string; before?: string | null },
  ask: AskPage,
  pages: number,
): Promise<Message[] | null> {
  const found: Message[] = [];
  let before = range.before ?? null;
  for (let count = 0; count < pages; count++) {
    const page = await ask({ ...range, before, limit: 100 });
    found.push(...page.data);
    if (page.next === null) return found;
    before = page.next;
  }
  return null;
}
