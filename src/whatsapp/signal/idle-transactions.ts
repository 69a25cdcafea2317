import { AsyncLocalStorage } from "node:async_hooks";

/** What Baileys keeps of an open transaction. */
interface Transaction {
  cache: object;
  mutations: object;
}

/**
 * Baileys finds its open transaction by the asynchronous context. Up to Node 22, a storage of such contexts that was used
 * once makes every promise of the process cost about three times as much, for good. From now on one that holds no
 * transaction any more is switched off until the next begins.
 *
 * What was begun inside a transaction and goes on after its end is then outside: what it wrote into it would be lost.
 */
export function restWithoutTransactions(): void {
  const { prototype } = AsyncLocalStorage;
  const run = prototype.run;
  const open = new WeakMap<object, number>();

  function count(storage: AsyncLocalStorage<unknown>, difference: 1 | -1): void {
    const left = (open.get(storage) ?? 0) + difference;
    open.set(storage, left);
    if (left === 0) storage.disable();
  }

  prototype.run = function (
    this: AsyncLocalStorage<unknown>,
    store: unknown,
    work: () => unknown,
    ...args: []
  ) {
    if (!isTransaction(store)) return run.call(this, store, work, ...args);
    count(this, 1);
    const result = run.call(this, store, work, ...args);
    const end = (): void => count(this, -1);
    void Promise.resolve(result).then(end, end);
    return result;
  } as typeof run;
}

const isTransaction = (store: unknown): store is Transaction =>
  typeof store === "object" && store !== null && "mutations" in store && "cache" in store;
