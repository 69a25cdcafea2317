/** How often each of some keys was found; beyond fifty keys the rest is counted under `…`. */
export type Counts = Record<string, number>;

/** Open conversations of one dialogue or flow, those of flows beside the chat's among them. */
export interface DialogueForecast {
  /** Today's id; the stored one when the bot has no such dialogue any more. */
  dialogue: string;
  /** `menu`, `form`, `flow`; null: the bot has it no more. */
  kind: string | null;
  open: number;
  /** What is answered to what was shown is taken. */
  goes_on: number;
  /** Choices that were shown and are not offered any more, by key. */
  gone_choices: Counts;
  /** By the question whose answer fits no more. */
  asked_again: Counts;
  /** By the question that comes first, or in the place of one that is gone. */
  asked_new: Counts;
  /** By the step that is done first. */
  does: Counts;
  /** By what they wait for first. */
  waits: Counts;
  /** By what is asked after the author's `onChange`. */
  migrates: Counts;
  /** Nothing is left to ask. */
  completes: number;
  restarts: number;
  ends: number;
  /** By error and place. */
  fails: Counts;
  /** The bot is off at their number, or its file is broken: they wait. */
  paused: number;
}

/** What the code makes of stored sessions: see `fitSession`. */
export interface SessionForecast {
  all: number;
  completed: number;
  migrated: number;
  /** They begin anew: by what does not fit. */
  misfits: Counts;
  /** `initial` or `migrate` threw, or gave what the schema refuses: by error. */
  fails: Counts;
}

/** What becomes of what one bot has stored. */
export interface BotForecast {
  /** Today's id; the stored one when no bot has it. */
  bot: string;
  /** `gone`: no file has this id, and no bot says that it was this one. `broken`: its file cannot be loaded. */
  state: "loaded" | "gone" | "broken";
  dialogues: DialogueForecast[];
  sessions: SessionForecast;
  /** Timers of `ctx.after`: how many, and those that no route of the bot is there for, by key. */
  timers: { all: number; gone: Counts };
  /** At how many numbers something is said of it, and where its settings do not fit. */
  bindings: { all: number; misfits: number };
}

/** What a change of code does to everything that is stored. */
export interface Forecast {
  bots: BotForecast[];
  /** Conversations, sessions, timers and bindings that people or the operator would lose. */
  lost: number;
  /** Everything that does not go on as it is stored, what is lost among it. */
  misfits: number;
  /** Rows that do not open, whatever the code. */
  unreadable: number;
}

/** What becomes of one open conversation. */
export interface ConversationForecast {
  device: number;
  /** The chat; in groups with the writer behind `|`. */
  scope: string;
  bot: string;
  dialogue: string;
  /** As `Foreseen`; `paused`: see `DialogueForecast`. */
  outcome: string;
  /** Of the question, step or waiting that the outcome is about. */
  key: string | null;
}
