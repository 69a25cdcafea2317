import { AsyncLocalStorage } from "node:async_hooks";
import { beforeAll, expect, it } from "vitest";

beforeAll(async () => {
  // The patch is made once in a process.
  await import("../../../src/whatsapp/baileys.ts");
});

const transaction = () => ({ cache: {}, mutations: {}, dbQueries: 0 });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("a storage without a transaction is switched off, and on again with the next; another keeps its own", async () => {
  const storage = new AsyncLocalStorage<unknown>();
  const [first, second] = [transaction(), transaction()];
  let end!: () => void;
  const held = new Promise<void>((resolve) => (end = resolve));
  const seen: unknown[] = [];

  const long = storage.run(first, async () => {
    await held;
    seen.push(storage.getStore());
    void turn().then(() => seen.push(storage.getStore()));
  });
  await storage.run(second, async () => {
    await turn();
    seen.push(storage.getStore());
  });
  await turn();
  end();
  await long;
  await turn();
  await turn();
  // What goes on after the end of its transaction is outside.
  expect(seen).toEqual([second, first, undefined]);
  await storage.run(second, async () => {
    await turn();
    expect(storage.getStore()).toBe(second);
  });
});

it("other uses of asynchronous contexts stay as they are", async () => {
  const storage = new AsyncLocalStorage<string>();
  await storage.run("a request", async () => {
    await turn();
    void Promise.resolve();
    expect(storage.getStore()).toBe("a request");
  });
  let later: string | undefined;
  await new Promise<void>((resolve) => {
    storage.run("another", () => {
      setImmediate(() => {
        later = storage.getStore();
        resolve();
      });
    });
  });
  expect(later).toBe("another");
});
