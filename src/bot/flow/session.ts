import { FlowMistake } from "./errors.ts";
import type { Progress } from "./progress.ts";
import type { FlowEntry } from "./types.ts";

const VALUE: readonly FlowEntry["kind"][] = ["value"];
/** No key of an author has the sign. */
const KEY = ">session";

/** `f.session` of one run. */
export interface FlowSession {
  /** The flow's own copy: one object for as long as the code runs. */
  read(): unknown;
  /** Puts into the bot's session what the code has changed in this turn; null: nothing. Not called when nothing may be done. */
  changes(): (() => void) | null;
}

/**
 * The code runs again and again, and what it changes must count once: it works on a copy. The journal has what the session was
 * when the code read it, so that each run reads and changes the same; only what changes beyond what was done before is stored.
 */
export function createFlowSession(progress: Progress): FlowSession {
  const { ctx, journal } = progress;
  let own: unknown;
  /** The copy as it was when the code came to what is new. */
  let base: unknown;
  let isFresh = false;
  progress.whenNew(() => (base = copyOf(own)));

  /** As the bot's session is now, with what the code has changed since `base`. */
  function readAnew(key: string): void {
    if (progress.push?.kind === "foreseen") {
      void progress.stop({ kind: "ahead", will: "does", key: "session" });
      throw new FlowMistake("f.session is not there: nothing may be done.");
    }
    const now = copyOf(ctx.session);
    const mine = changesIn(base, own);
    base = copyOf(now);
    const next = mine === null ? now : mine(now);
    if (JSON.stringify(next) !== JSON.stringify(own))
      journal.add({ key, kind: "value", value: copyOf(next) });
    own = filled(own, next);
  }

  return {
    read() {
      if (progress.stepsUnderWay.size > 0)
        throw new FlowMistake(
          "f.session was used inside f.step: a step does not run again, so what it changes would be lost. Use f.session before or after the step.",
        );
      progress.called("f.session");
      const key = journal.keyOf(KEY);
      const known = journal.find(key, VALUE);
      if (known !== null) own = filled(own, copyOf(known.value));
      else if ((progress.isNew() && !isFresh) || own === undefined) readAnew(key);
      isFresh ||= progress.isNew();
      return own;
    },
    changes() {
      const changed = progress.isNew() ? changesIn(base, own) : null;
      return changed === null ? null : () => void (ctx.session = changed(ctx.session));
    },
  };
}

const copyOf = <T>(value: T): T => (value === undefined ? value : (JSON.parse(JSON.stringify(value)) as T));

type Keys = Record<string, unknown>;
const isKeys = (value: unknown): value is Keys =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The same object with other content, where that can be: the author may hold it. */
function filled(held: unknown, content: unknown): unknown {
  if (!isKeys(held) || !isKeys(content)) return content;
  for (const key of Object.keys(held)) if (!Object.hasOwn(content, key)) delete held[key];
  return Object.assign(held, content);
}

/** What leads from one to the other, key by key; null: nothing. What others have changed in other keys stays. */
function changesIn(before: unknown, after: unknown): ((to: unknown) => unknown) | null {
  if (before === undefined || JSON.stringify(before) === JSON.stringify(after)) return null;
  if (!isKeys(before) || !isKeys(after)) return () => copyOf(after);
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
  );
  return (to) => {
    const next: Keys = isKeys(to) ? to : {};
    for (const key of keys)
      if (after[key] === undefined) delete next[key];
      else next[key] = copyOf(after[key]);
    return next;
  };
}
