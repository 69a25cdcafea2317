import { compareIds } from "../routes/table.ts";
import type { BotForecast, Counts, DialogueForecast, Forecast } from "./types.ts";

const MOST_KEYS = 50;

/** One more under a key. */
export function count(counts: Counts, key: string): void {
  const name = Object.hasOwn(counts, key) || Object.keys(counts).length < MOST_KEYS ? key : "…";
  counts[name] = (counts[name] ?? 0) + 1;
}

/** All of some counts together. */
export const sumOf = (counts: Counts): number => Object.values(counts).reduce((sum, n) => sum + n, 0);

/** Counts by bot and dialogue; as large as the code, however many rows there are. */
export interface Tally {
  bot(id: string, state: BotForecast["state"]): BotForecast;
  dialogue(bot: BotForecast, dialogue: string, kind: string | null): DialogueForecast;
  unreadable(): void;
  result(): Forecast;
}

/** Nothing is counted yet. */
export function createTally(): Tally {
  const bots = new Map<string, BotForecast>();
  let unreadable = 0;
  return {
    bot(id, state) {
      const known = bots.get(id) ?? {
        bot: id,
        state,
        dialogues: [],
        sessions: { all: 0, completed: 0, migrated: 0, misfits: {}, fails: {} },
        timers: { all: 0, gone: {} },
        bindings: { all: 0, misfits: 0 },
      };
      bots.set(id, known);
      return known;
    },
    dialogue(bot, dialogue, kind) {
      const known = bot.dialogues.find((other) => other.dialogue === dialogue);
      if (known !== undefined) return known;
      const found = blank(dialogue, kind);
      bot.dialogues.push(found);
      return found;
    },
    unreadable: () => void unreadable++,
    result() {
      const all = [...bots.values()].toSorted((a, b) => compareIds(a.bot, b.bot));
      for (const { dialogues } of all) dialogues.sort((a, b) => compareIds(a.dialogue, b.dialogue));
      const lost = all.reduce((sum, bot) => sum + lostOf(bot), 0);
      const misfits = all.reduce((sum, bot) => sum + misfitsOf(bot), 0);
      return { bots: all, lost, misfits, unreadable };
    },
  };
}

const blank = (dialogue: string, kind: string | null): DialogueForecast => ({
  dialogue,
  kind,
  open: 0,
  goes_on: 0,
  gone_choices: {},
  asked_again: {},
  asked_new: {},
  does: {},
  waits: {},
  migrates: {},
  completes: 0,
  restarts: 0,
  ends: 0,
  fails: {},
  paused: 0,
});

/** Conversations, sessions, timers and bindings of a bot that people or the operator would lose. */
export function lostOf({ state, dialogues, sessions, timers, bindings }: BotForecast): number {
  const ended = dialogues.reduce((sum, { ends, fails }) => sum + ends + sumOf(fails), 0);
  if (state === "gone")
    return dialogues.reduce((sum, { open }) => sum + open, 0) + sessions.all + timers.all + bindings.all;
  return ended + sumOf(sessions.misfits) + sumOf(sessions.fails) + sumOf(timers.gone);
}

/** The same, and what is asked again, begins anew, or waits because something is broken. */
export function misfitsOf(bot: BotForecast): number {
  const { state, dialogues, bindings } = bot;
  const changed = dialogues.reduce(
    (sum, { asked_again, restarts, paused }) =>
      sum + sumOf(asked_again) + restarts + (state === "broken" ? paused : 0),
    0,
  );
  return lostOf(bot) + (state === "gone" ? 0 : changed + bindings.misfits);
}
