import { AsyncLocalStorage } from "node:async_hooks";

// Taken while this module loads, when no transaction can be open.
const atLoad = AsyncLocalStorage.snapshot();

/**
 * Runs `work` outside the transaction that the caller may be in. Baileys finds its open transaction by the asynchronous
 * context, and a transaction inside another writes only when the outer one ends.
 */
export function outsideTransactions<T>(work: () => Promise<T>): Promise<T> {
  return atLoad(work);
}
