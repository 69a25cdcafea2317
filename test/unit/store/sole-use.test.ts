import { expect, it, vi } from "vitest";
import { createTime } from "../../../src/model/time.ts";
import { refuseSoleUse, takeSoleUse } from "../../../src/store/write/sole-use.ts";
import { manualClock } from "../outbox/harness.ts";
import { rawRows } from "./rows.ts";
import { temporaryFolder, temporaryStore } from "./temporary.ts";

const QUIET = { warn: () => undefined, error: () => undefined };
const ENTER = `INSERT INTO nodes (name, incarnation, url, version, leaving, numbers, lag_ms, since, until)
VALUES ('node-1', 'x', NULL, '0', 0, 0, 0, 0, unixepoch() * 1000 + 60000)`;

async function alone() {
  const clock = manualClock();
  const opened = await temporaryStore();
  const time = createTime({ now: clock.now, monotonic: clock.now, after: clock.schedule });
  const store = { ...opened, time };
  const onTaken = vi.fn<() => void>();
  const use = await takeSoleUse({ store, dataDir: temporaryFolder(), log: QUIET, onTaken });
  const row = async () =>
    JSON.parse(
      String((await rawRows(store, "SELECT value FROM meta WHERE key = 'sole_use'", []))[0]?.value ?? "null"),
    );
  return { store, clock, use, onTaken, row };
}

it("a node that enters only to be refused does not end the process that has the database for itself", async () => {
  const { store, clock, onTaken, row } = await alone();
  await store.writer.commit(
    [
      { sql: ENTER, args: [] },
      {
        sql: "UPDATE meta SET value = json_set(value, '$.at', unixepoch() * 1000 - 20000) WHERE key = 'sole_use'",
        args: [],
      },
    ],
    { owning: null },
  );
  const { at: before } = await row();
  await clock.advance(15_000);
  await vi.waitFor(async () => expect((await row()).at).toBeGreaterThan(before));
  expect(onTaken).not.toHaveBeenCalled();
});

it("a process that was away so long that a node took the database ends when it comes back", async () => {
  const { store, clock, onTaken } = await alone();
  await store.writer.commit(
    [
      {
        sql: "UPDATE meta SET value = json_set(value, '$.at', unixepoch() * 1000 - 60000) WHERE key = 'sole_use'",
        args: [],
      },
    ],
    { owning: null },
  );
  await refuseSoleUse(store, QUIET);
  await store.writer.commit([{ sql: ENTER, args: [] }], { owning: null });
  await clock.advance(15_000);
  await vi.waitFor(() => expect(onTaken).toHaveBeenCalledOnce());
});
