import { expect, it } from "vitest";
import { createStorageCheck } from "../../../src/store/file/health.ts";
import type { Store } from "../../../src/store/store.ts";
import { temporaryFolder, temporaryStore } from "./temporary.ts";

it("whether the database can be written is tried once a second, however many ask", async () => {
  const real = await temporaryStore();
  let commits = 0;
  let now = 1_000;
  const store: Store = {
    ...real,
    time: { ...real.time, monotonic: () => now },
    writer: {
      ...real.writer,
      commit(statements) {
        commits++;
        return real.writer.commit(statements);
      },
    },
  };
  const check = createStorageCheck(store, temporaryFolder());

  const together = await Promise.all([check(), check(), check()]);
  now += 999;
  await check();
  expect(commits).toBe(1);
  now += 1;
  await check();

  expect(commits).toBe(2);
  expect(together.every(({ database }) => database)).toBe(true);
});
