import { MOST_LISTED, storeView, type Written } from "../sessions/own-store.ts";
import type { BotStore } from "../types/store.ts";
import { FlowMistake } from "./errors.ts";
import type { Progress } from "./progress.ts";
import type { FlowEntry } from "./types.ts";

const VALUE: readonly FlowEntry["kind"][] = ["value"];

/** `f.store`: what was read is given again, what is written is written once, when the code stands still. */
export function createFlowStore(progress: Progress, later: (effect: () => void) => void): BotStore {
  const { ctx, journal } = progress;
  const written: Written = new Map();
  const reading = {
    get: (key: string) => ctx.store.get(key),
    under: (prefix: string, limit: number) => ctx.store.list(prefix, { limit: Math.min(limit, MOST_LISTED) }),
  };
  const view = storeView(
    "f.store",
    reading,
    written,
    () => undefined,
    (key, entry) =>
      later(() => (entry === null ? ctx.store.delete(key) : ctx.store.set(key, entry.value, entry.options))),
  );
  function outside(call: string): void {
    if (progress.stepsUnderWay.size > 0)
      throw new FlowMistake(
        `f.store was used inside f.step: a step does not run again, so its writes would be lost. Use f.store before or after the step.`,
      );
    progress.called(call);
  }
  function read<T>(call: string, make: () => Promise<T>): Promise<T> {
    // At the call, awaited or not: a loop ends there.
    outside(call);
    return found(journal.keyOf("store"), make);
  }
  async function found<T>(key: string, make: () => Promise<T>): Promise<T> {
    const known = journal.find(key, VALUE);
    if (known !== null) return known.value as T;
    if (progress.push?.kind === "foreseen") return progress.stop({ kind: "ahead", will: "does", key });
    const value = await make();
    journal.add({ key, kind: "value", value });
    return value;
  }
  const write = (call: string, change: () => void): void => {
    outside(call);
    if (progress.isNew()) change();
  };
  return {
    get: <T>(key: string) => read("f.store.get", () => view.get<T>(key)),
    list: <T>(...of: Parameters<BotStore["list"]>) => read("f.store.list", () => view.list<T>(...of)),
    set: (...of) => write("f.store.set", () => view.set(...of)),
    delete: (key) => write("f.store.delete", () => view.delete(key)),
  };
}
