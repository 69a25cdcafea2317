import type { Happened } from "./happened.ts";

/**
 * A stored conversation that is told again to bots as their files are now, in a process of its own: what goes there and what
 * comes back. The process gets nothing of the gateway's, neither its data nor its surroundings.
 */
export interface ForkAsked {
  /** The chat's canonical key. */
  chat: string;
  happened: readonly Happened[];
  /** In the order of asking. */
  bots: ForkedBot[];
  /** Where their files lie, the first that has one counts. Absolute. */
  folders: readonly ForkFolder[];
  /** What the person does after what is stored. */
  more: readonly ForkLine[];
  /** As in the gateway. */
  settings: { takeoverMinutes: number; botTimeoutMs: number };
}

/** A folder of bots: what `BOTS_DIR` names, or sources that the build was made of. */
export interface ForkFolder {
  from: "folder" | "sources";
  path: string;
}

/** What holds of one bot at the number. */
export interface ForkedBot {
  id: string;
  priority: number;
  config: Record<string, unknown> | null;
}

/** One thing that a person does in the sandbox, or time that passes: `20m`. */
export type ForkLine = string | { vote: string[] } | { after: string };

/** What somebody was answered. */
export interface ForkAnswer {
  who: "bot" | "webhook" | "sent";
  text: string;
}

/** What was said, and what came of it: then, and now. */
export interface ForkTurn {
  who: "user" | "owner" | "time";
  /** In a group: who writes. */
  as: string | null;
  said: string[];
  /** Null: this was never said to the gateway, only in the sandbox. */
  before: ForkAnswer[] | null;
  /** Null: the sandbox ended before. */
  now: ForkAnswer[] | null;
}

/** What came of it. */
export interface Forked {
  turns: ForkTurn[];
  /** Where the code came from that answered: `build` is what runs in the gateway. */
  bots: { id: string; from: "folder" | "sources" | "build" }[];
  /** What could not be done again, or went wrong, in sentences. */
  troubles: string[];
  /** What was logged as wrong. */
  logged: string[];
  /** The conversation in the sandbox as the text of a story, without the people it was with. */
  story: string;
}

/** What the process says: that it is there; what was said then; what came of it. */
export type ForkSaid =
  | { kind: "ready" }
  | { kind: "told"; turns: ForkTurn[] }
  | { kind: "played"; forked: Forked }
  | { kind: "failed"; problem: string };
