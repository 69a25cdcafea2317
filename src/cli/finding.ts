import type { Client } from "@libsql/client";
import type { Config } from "../config.ts";

/** `good`: as it should be. `note`: works, and should be known. `bad`: something will not work until it is cured. */
export interface Finding {
  name: string;
  state: "good" | "note" | "bad";
  text: string;
}

export const good = (name: string, text: string): Finding => ({ name, state: "good", text });
export const note = (name: string, text: string): Finding => ({ name, state: "note", text });
export const bad = (name: string, text: string): Finding => ({ name, state: "bad", text });

export const NOT_SAVED = "put a backup back: npm run parley -- restore <file>";
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
