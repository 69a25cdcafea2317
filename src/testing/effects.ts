import type { Statement } from "../model/statement.ts";
import type { MadeCall } from "./network/network.ts";

/** For each step whose result is stored: how often steps had been begun by then. */
export type KeptSteps = ReadonlyMap<string, number>;

/** @returns the steps whose results these statements store, as `MadeCall.step` names them */
export function stepsKeptBy(statements: readonly Statement[]): string[] {
  return statements
    .filter(({ sql }) => sql.includes("INSERT INTO bot_steps"))
    .map(({ args }) => {
      const [inboxId, , botId, key] = args as [number, number, string, string];
      return `${inboxId}:${botId}:${key}`;
    });
}

/**
 * What was asked of the network to change something, as the other side counts it. Twice is once where it can be told that it
 * was meant once: in a step that was begun again because its result had not been stored, and under an `Idempotency-Key`
 * with the same contents. Equal bodies tell nothing.
 */
export function effectsOf(calls: readonly MadeCall[], kept: KeptSteps): string[] {
  const changing = calls.filter(({ method }) => method !== "GET" && method !== "HEAD");
  // What was cut off is done over by the next beginning; one that comes after the result was stored is one too many.
  const isDone = ({ step, beginning }: MadeCall): boolean => beginning <= (kept.get(step!) ?? Infinity);
  const done = new Map<string | null, number>();
  for (const call of changing) if (isDone(call)) done.set(call.step, call.beginning);
  const keys = new Set<string>();
  return changing.flatMap((call) => {
    const { step, beginning, idempotencyKey, method, url, body } = call;
    if (step !== null && isDone(call) && beginning !== done.get(step)) return [];
    const line = `${method} ${url} ${body}`.trim();
    if (idempotencyKey === null) return [line];
    const once = `${idempotencyKey} ${line}`;
    return keys.has(once) ? [] : (keys.add(once), [line]);
  });
}
