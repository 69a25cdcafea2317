import type { StoredMessage } from "../model/answerer.ts";
import type { Statement } from "../model/statement.ts";
import type { BotState } from "./state.ts";

/** Results of `ctx.step` of one message and bot, read when the first is asked for. */
export interface Steps {
  /** For the message's commit: whoever answers it, nobody asks for them again. */
  forget(): Statement[];
  run<T>(key: string, work: (signal: AbortSignal) => Promise<T> | T, signal: AbortSignal): Promise<T>;
}

/**
 * Steps of one bot for one message. Results of an earlier run of the same message are used again.
 *
 * @param onTwice told of a key that one run uses again: its work is not done a second time
 */
export function openSteps(
  state: Pick<BotState, "steps" | "keepStep" | "forgetSteps">,
  botId: string,
  { inboxId, deviceId }: StoredMessage,
  onTwice: (key: string) => void,
): Steps {
  let known: Promise<Map<string, unknown>> | null = null;
  const inFlight = new Map<string, Promise<unknown>>();
  const asked = new Set<string>();

  async function make(key: string, work: (signal: AbortSignal) => unknown, signal: AbortSignal) {
    const made = await (known ??= state.steps(inboxId, botId));
    if (made.has(key)) return made.get(key);
    const value = await work(signal);
    // As it will be read after a crash: what JSON does not keep must not differ then.
    const kept = value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
    await state.keepStep({ inboxId, deviceId, botId, key, value: kept });
    made.set(key, kept);
    return kept;
  }

  return {
    forget: () => (known === null ? [] : [state.forgetSteps(inboxId)]),
    run<T>(key: string, work: (signal: AbortSignal) => Promise<T> | T, signal: AbortSignal) {
      if (asked.has(key)) onTwice(key);
      asked.add(key);
      // Two at the same time under one key are one.
      const running = inFlight.get(key) ?? make(key, work, signal).finally(() => inFlight.delete(key));
      inFlight.set(key, running);
      return running as Promise<T>;
    },
  };
}
