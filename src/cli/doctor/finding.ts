import type { Client } from "@libsql/client";
import type { Config } from "../../config.ts";

/** `good`: as it should be. `note`: works, and should be known. `bad`: something will not work until it is cured. */
export interface Finding {
  name: string;
  state: "good" | "note" | "bad";
  text: string;
}

/** A finding that needs nothing. */
export const good = (name: string, text: string): Finding => ({ name, state: "good", text });
/** A finding that somebody should know of, though everything works. */
export const note = (name: string, text: string): Finding => ({ name, state: "note", text });
/** A finding that keeps something from working; the text says how to cure it. */
export const bad = (name: string, text: string): Finding => ({ name, state: "bad", text });

/** The cure when the database is damaged beyond what repairing can save. */
export const NOT_SAVED = "restore a backup: npm run parley -- restore <file>";
/** The cure when repairing loses nothing. */
export const REPAIR = "repair it with: npm run parley -- doctor --repair";

/** What the checks of a database share. */
export interface Examination {
  client: Client;
  config: Config;
  file: string;
  repair: boolean;
  now: number;
  /** Before the first change: a copy of the files as they were. */
  copyFirst(): void;
  findings: Finding[];
}
