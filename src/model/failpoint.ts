import { readFileSync, writeFileSync } from "node:fs";

/**
 * Named places at which a crash test ends the process. In a production build `__FAILPOINTS__` is the constant false and
 * the calls are removed; a test build kills the process with SIGKILL when `CRASH_AT` names the place (`name` or
 * `name:3` for the third time it is passed). `CRASH_FILE` names a file with the same words, which may be written while
 * the gateway runs: passes count from then; the process leaves `died at <name>` in it.
 */
// oxlint-disable-next-line no-underscore-dangle -- what a build replaces should look like nothing else
declare const __FAILPOINTS__: boolean;

/** The places, roughly in the order in which a message passes them. */
export type FailpointName =
  | "before-receive-commit"
  | "after-receive-commit"
  | "after-receipt"
  | "in-handler"
  | "before-reply-commit"
  | "after-ahead-commit"
  | "after-reply-commit"
  | "after-webhook-request"
  | "after-webhook-answer"
  | "after-accept"
  | "before-due-commit"
  | "after-due-commit"
  | "before-encrypt"
  | "before-encrypt-anew"
  | "after-encrypt-commit"
  | "after-upload"
  | "before-ack"
  | "after-ack"
  | "before-missed-devices"
  | "after-token-given"
  | "before-outcome-commit"
  | "after-outcome-commit"
  | "after-delivery-receipt"
  | "in-import"
  | "in-drain"
  | "mid-migration"
  | "before-secret-commit"
  | "after-secret-commit"
  | "before-pre-keys-commit"
  | "after-pre-keys-commit"
  | "before-creds-commit"
  | "after-creds-commit";

/** Places in commands of the `parley` program, which run without a gateway. */
export type CommandFailpointName =
  | "after-next-key"
  | "while-rotating"
  | "before-rotation-commit"
  | "after-rotation-commit"
  | "before-restored-files"
  | "after-files-aside"
  | "after-restored-database";

/** False in a production build: what only serves failpoints is then left out. */
export const hasFailpoints: boolean = typeof __FAILPOINTS__ !== "undefined" && __FAILPOINTS__;

let armed = "";
let passed = 0;

/** Ends the process when this is the place, and the pass, that a crash test has named. */
export function failpoint(name: FailpointName | CommandFailpointName): void {
  if (typeof __FAILPOINTS__ === "undefined" || !__FAILPOINTS__) return;
  if (!isArmed(name)) return;
  const nth = Number(armed.split(":")[1] ?? 1);
  if (++passed !== nth) return;
  if (process.env["CRASH_FILE"]) writeFileSync(process.env["CRASH_FILE"], `died at ${name}`);
  process.kill(process.pid, "SIGKILL");
}

/**
 * Whether the process is going to end at this place: what races with it can then be held back, so that the crash comes
 * before it every time. Always false in a production build.
 */
export function isArmed(name: FailpointName | CommandFailpointName): boolean {
  if (typeof __FAILPOINTS__ === "undefined" || !__FAILPOINTS__) return false;
  const wanted = wantedNow();
  if (wanted !== armed) passed = 0;
  armed = wanted;
  return armed.split(":")[0] === name;
}

function wantedNow(): string {
  const file = process.env["CRASH_FILE"];
  if (file === undefined) return process.env["CRASH_AT"] ?? "";
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return process.env["CRASH_AT"] ?? "";
  }
}
