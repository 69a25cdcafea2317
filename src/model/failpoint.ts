/**
 * Named places at which a crash test ends the process. In a production build `__FAILPOINTS__` is the constant false and
 * the calls are removed; a test build kills the process with SIGKILL when `CRASH_AT` names the place (`name` or
 * `name:3` for the third time it is passed).
 */
// oxlint-disable-next-line no-underscore-dangle -- what a build replaces should look like nothing else
declare const __FAILPOINTS__: boolean;

export type FailpointName =
  | "after-journal-commit"
  | "after-inbox-commit"
  | "after-reply-commit"
  | "before-ack";

const passed = new Map<string, number>();

export function failpoint(name: FailpointName): void {
  if (typeof __FAILPOINTS__ === "undefined" || !__FAILPOINTS__) return;
  const [wanted, nth = "1"] = (process.env.CRASH_AT ?? "").split(":");
  if (wanted !== name) return;
  const count = (passed.get(name) ?? 0) + 1;
  passed.set(name, count);
  if (count === Number(nth)) process.kill(process.pid, "SIGKILL");
}
