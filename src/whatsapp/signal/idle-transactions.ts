import { AsyncLocalStorage } from "node:async_hooks";

/** What Baileys keeps of an open transaction. */
interface Transaction {
  cache: object;
  mutations: object;
}

type Run = (store: unknown, work: () => unknown, ...args: []) => unknown;

/** How much is under way in each storage. */
const open = new WeakMap<object, number>();

function count(storage: AsyncLocalStorage<unknown>, difference: 1 | -1): void {
  const left = (open.get(storage) ?? 0) + difference;
  open.set(storage, left);
  if (left === 0) storage.disable();
}

/** As `run` does; the storage is switched off when nothing is under way in it any more. */
function runAndRest(
  storage: AsyncLocalStorage<unknown>,
  run: Run,
  store: unknown,
  work: () => unknown,
): unknown {
  count(storage, 1);
  const result = run.call(storage, store, work);
  const end = (): void => count(storage, -1);
  void Promise.resolve(result).then(end, end);
  return result;
}

/**
 * Runs `work` in a storage of asynchronous contexts, and switches the storage off after it. Up to Node 22, one that was used
 * once makes every promise of the process cost about three times as much, for good.
 */
export function inRestingStorage<S, T>(
  storage: AsyncLocalStorage<S>,
  store: S,
  work: () => Promise<T>,
): Promise<T> {
  return runAndRest(storage as AsyncLocalStorage<unknown>, storage.run as Run, store, work) as Promise<T>;
}

/**
 * Baileys finds its open transaction by the asynchronous context. From now on a storage that holds no transaction any more is
 * switched off until the next begins, see {@link inRestingStorage}.
 *
 * What was begun inside a transaction and goes on after its end is then outside: what it wrote into it would be lost.
 */
export function restWithoutTransactions(): void {
  const { prototype } = AsyncLocalStorage;
  const run = prototype.run as Run;
  prototype.run = function (
    this: AsyncLocalStorage<unknown>,
    store: unknown,
    work: () => unknown,
    ...args: []
  ) {
    return isTransaction(store) ? runAndRest(this, run, store, work) : run.call(this, store, work, ...args);
  } as typeof prototype.run;
}

const isTransaction = (store: unknown): store is Transaction =>
  typeof store === "object" && store !== null && "mutations" in store && "cache" in store;
