import type { StoredMessage } from "../../model/answerer.ts";
import type { Statement } from "../../model/statement.ts";
import type { Kept } from "../types/kept.ts";
import { ContextClosedError } from "./effects.ts";
import type { BotState, KeptStep } from "../sessions/state.ts";

/** Results of `ctx.step` of one message and bot, read when the first is asked for. */
export interface Steps {
  /** For the message's commit: whoever answers it, nobody asks for them again. */
  forget(): Statement[];
  /** Resolves when it is known whether anything was done for this message before. */
  ready(): Promise<unknown>;
  /** Whether the work of some step has ended well, now or in an earlier run. */
  isAnyDone(): boolean;
  /** What is under way is given up: whatever it still gives is not kept. */
  giveUp(): void;
  run<T>(key: string, work: (signal: AbortSignal) => Promise<T> | T, signal: AbortSignal): Promise<Kept<T>>;
}

/**
 * Steps of one bot for one message. Results of an earlier run of the same message are used again.
 *
 * @param resume called when an earlier run had them done for more messages than this one is about; when these are to be answered
 *   instead, it does not return
 * @param onTwice told of a key that one run uses again: its work is not done a second time
 */
export function openSteps(
  state: Pick<BotState, "steps" | "keepStep" | "forgetSteps">,
  botId: string,
  { inboxId, deviceId, together = [inboxId] }: StoredMessage,
  onTwice: (key: string) => void,
  resume: (together: readonly number[]) => Promise<void> = async () => undefined,
): Steps {
  let known: Promise<Map<string, KeptStep>> | null = null;
  const inFlight = new Map<string, Promise<unknown>>();
  const asked = new Set<string>();
  let isAnyDone = false;
  let isGivenUp = false;
  const earlier = (): Promise<Map<string, KeptStep>> => (known ??= readEarlier());

  async function readEarlier(): Promise<Map<string, KeptStep>> {
    const made = await state.steps(inboxId, botId);
    const longest = [...made.values()]
      .map((kept) => kept.together ?? [])
      .toSorted((a, b) => b.length - a.length);
    // It was done for more texts than these, and the process ended before they were answered: they belong together.
    if ((longest[0]?.length ?? 0) > together.length) await resume(longest[0]!);
    isAnyDone ||= made.size > 0;
    return made;
  }

  async function make(key: string, work: (signal: AbortSignal) => unknown, signal: AbortSignal) {
    const made = await earlier();
    const before = made.get(key);
    if (before !== undefined) return before.value;
    const value = await work(signal);
    if (isGivenUp) throw new ContextClosedError("step", "a newer text had come");
    isAnyDone = true;
    // As it will be read after a crash: what JSON does not keep must not differ then.
    const kept = value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
    await state.keepStep({ inboxId, deviceId, botId, key, value: kept, together });
    made.set(key, { value: kept });
    return kept;
  }

  return {
    ready: earlier,
    isAnyDone: () => isAnyDone,
    giveUp: () => void (isGivenUp = true),
    forget: () => (known === null ? [] : [state.forgetSteps(inboxId)]),
    run<T>(key: string, work: (signal: AbortSignal) => Promise<T> | T, signal: AbortSignal) {
      if (asked.has(key)) onTwice(key);
      asked.add(key);
      // Two at the same time under one key are one.
      const running = inFlight.get(key) ?? make(key, work, signal).finally(() => inFlight.delete(key));
      inFlight.set(key, running);
      return running as Promise<Kept<T>>;
    },
  };
}
