import { fromNow } from "../duration.ts";
import type { Effects } from "../handlers/effects.ts";
import { nearest } from "../place.ts";
import type { AnyContext, Bot, TimerOptions } from "../types.ts";

/** Calls of a context that set and forget timers. */
type TimerCalls = Pick<AnyContext, "after" | "at" | "cancelTimer">;

/** What timers of one handler need. */
interface TimerCallsInput {
  bot: Pick<Bot, "routes">;
  effects: Pick<Effects, "timers">;
  /** @throws {ContextClosedError} when nothing may be changed any more */
  open(call: string): void;
  now: () => number;
}

/** Stands between a timer's key and its id where they are one text: no key may have it. */
const BETWEEN = "\u001F";
const LONGEST_ID = 64;

/** Under which a timer is kept: one of a key and an id in a chat. */
export const timerName = (key: string, id: string | null): string =>
  id === null ? key : `${key}${BETWEEN}${id}`;

/** What {@link timerName} was made of. */
export function namedTimer(name: string): { key: string; id: string | null } {
  const end = name.indexOf(BETWEEN);
  return end === -1 ? { key: name, id: null } : { key: name.slice(0, end), id: name.slice(end + 1) };
}

/** A timer as it is to be set. */
interface Wanted {
  call: string;
  dueAt: number;
  key: string;
  data: unknown;
  options: TimerOptions;
}

/** The part of a context that sets timers. They are put into `effects.timers`, and nothing happens before the commit. */
export function createTimerCalls({ bot, effects, open, now }: TimerCallsInput): TimerCalls {
  /** @returns whether it will run: an author may not want one any more whose time is over */
  function set({ call, dueAt, key, data, options }: Wanted): boolean {
    refuseUnknown(options, ["id", "existing", "expire", "past"], call);
    if (!bot.routes.some((route) => route.kind === "timer" && route.word === key))
      throw new TypeError(
        `${call}: the bot has no timer ${JSON.stringify(key)}. Add b.timer(${JSON.stringify(key)}, (ctx) => { … }).`,
      );
    const name = timerName(key, readId(options.id, call));
    const keeps = readWord(options.existing, ["replace", "keep"], `${call}: existing`) === "keep";
    const expiresAt = readExpiry(options.expire, dueAt, call);
    const isSkipped = readWord(options.past, ["now", "skip"], `${call}: past`) === "skip" && dueAt < now();
    if (isSkipped) {
      // What was set before is not meant for its old time any more.
      if (!keeps) effects.timers.set(name, null);
    } else if (!keeps || !effects.timers.get(name))
      effects.timers.set(name, { dueAt, data, expiresAt, keeps: keeps && !effects.timers.has(name) });
    return !isSkipped;
  }

  return {
    after(delay, key, ...[data = null, options = {}]) {
      open("after");
      const call = "ctx.after()";
      return set({ call, dueAt: now() + fromNow(delay, call), key, data, options });
    },
    at(date, key, ...[data = null, options = {}]) {
      open("at");
      const call = "ctx.at()";
      return set({ call, dueAt: readDate(date, `${call}: the first argument`), key, data, options });
    },
    cancelTimer(key, id) {
      open("cancelTimer");
      effects.timers.set(timerName(key, readId(id, "ctx.cancelTimer()")), null);
    },
  };
}

function readId(id: unknown, call: string): string | null {
  if (id === undefined) return null;
  const text = typeof id === "number" ? String(id) : id;
  if (typeof text === "string" && text.length > 0 && text.length <= LONGEST_ID && !text.includes(BETWEEN))
    return text;
  throw new TypeError(`${call}: an id must have 1 to ${LONGEST_ID} characters, for instance the order's id.`);
}

/** @returns Unix milliseconds; null: it runs however late */
function readExpiry(expire: unknown, dueAt: number, call: string): number | null {
  if (expire === undefined) return null;
  const what = `${call}: expire`;
  return expire instanceof Date ? readDate(expire, what) : dueAt + fromNow(expire, what);
}

function readDate(date: unknown, what: string): number {
  const at = date instanceof Date ? date.getTime() : Number.NaN;
  if (Number.isFinite(at)) return at;
  throw new TypeError(`${what} is a Date: new Date("2026-05-07T09:00:00Z").`);
}

function readWord(word: unknown, words: readonly string[], what: string): string {
  if (word === undefined) return words[0]!;
  if (typeof word === "string" && words.includes(word)) return word;
  throw new TypeError(`${what} is ${words.map((one) => JSON.stringify(one)).join(" or ")}.`);
}

/** A slip in an option's name would be a reminder that nobody gets, or that comes too late. */
function refuseUnknown(options: object, known: readonly string[], call: string): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const meant = nearest(name, known);
    const hint = meant === null ? `It knows ${known.join(", ")}.` : `Did you mean ${JSON.stringify(meant)}?`;
    throw new TypeError(`${call} has no option ${JSON.stringify(name)}. ${hint}`);
  }
}
