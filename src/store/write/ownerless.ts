import type { Statement } from "../../model/statement.ts";

/** Tables of which only the owner of a number writes rows: what it knows of them in memory has to be true. */
const OWNED = [
  "wa_creds",
  "wa_keys",
  "journal",
  "inbox",
  "decisions",
  "bot_sessions",
  "bot_dialogues",
  "bot_steps",
  "bot_store",
  "bot_timers",
  "connections",
  "missing_messages",
];
const WRITES = new RegExp(
  `^\\s*(?:insert(?: or \\w+)? into|replace into|update|delete from)\\s+(${OWNED.join("|")})\\b`,
  "i",
);
/** Who only passes units on: the one who called it says whose they are. */
const PASSES_ON =
  /\/src\/(?:store\/write\/(?:writer|ownerless|intake|owned)|testing\/life|metrics\/metrics)\.ts/;
/** Tests and their kit may put rows where they want them. */
const OF_TESTS = /\/test\/|\/src\/testing\//;

/**
 * Says what is wrong with a unit that says of no number that it is written for it: a table of owners is written to, and whether
 * the process still has the number is asked of nobody. Only where tests run: it looks at who called.
 *
 * @returns null when nothing is
 */
export function ownerlessWrite(statements: readonly Statement[]): string | null {
  const table = statements.map(({ sql }) => WRITES.exec(sql)?.[1]).find((name) => name !== undefined);
  if (table === undefined) return null;
  const frames = (new Error("who calls").stack ?? "")
    .split("\n")
    .filter((line) => /\/(?:src|test)\//.test(line));
  const caller = frames.find((line) => !PASSES_ON.test(line));
  if (caller === undefined || OF_TESTS.test(caller)) return null;
  return `${table.toLowerCase()} is written without a number at ${caller.trim()}: pass { owning: deviceId }, or { owning: null } when any process may write`;
}
