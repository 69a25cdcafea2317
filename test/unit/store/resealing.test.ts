import { describe, expect, it, onTestFinished } from "vitest";
import { openStore } from "../../../src/store/open.ts";
import { writesFormerSeals } from "../../../src/store/sealed/resealing.ts";
import { createSealing } from "../../../src/store/sealed/sealing.ts";
import { createSecretBox } from "../../../src/store/sealed/secret-box.ts";
import type { Statement, Store } from "../../../src/store/store.ts";
import { rawRows } from "./rows.ts";
import { configFor, silentLog, temporaryFolder } from "./temporary.ts";

const MASTER_KEY = Buffer.alloc(32, 9);
const OWNERLESS = { owning: null };
const formerBox = createSecretBox(MASTER_KEY, { format: 1 });
const contextOf = (n: number): string => `wa_keys:1:session:${n}`;

const former = (n: number): Statement => ({
  sql: "INSERT INTO wa_keys (device_id, type, id, value, updated_at) VALUES (1, 'session', ?, ?, 0)",
  args: [`${n}`, formerBox.seal(`session ${n}`, contextOf(n))],
});

/** A folder with rows that an earlier version has sealed. */
async function folder(count: number) {
  const config = configFor(temporaryFolder(), { PARLEY_MASTER_KEY: MASTER_KEY.toString("base64") });
  const log = silentLog(config);
  const store = await openStore(config, log);
  onTestFinished(() => store.close());
  await store.writer.commit(
    [{ sql: "INSERT INTO meta (key, value) VALUES ('seals_of_before', 'written')", args: [] }],
    OWNERLESS,
  );
  await store.writer.commit(
    Array.from({ length: count }, (_, n) => former(n)),
    OWNERLESS,
  );
  return { log, store };
}

const valuesOf = async (store: Store): Promise<Map<number, Buffer>> =>
  new Map(
    (await rawRows(store, "SELECT id, value FROM wa_keys", [])).map(({ id, value }) => [
      Number(id),
      Buffer.from(value as ArrayBuffer),
    ]),
  );
const formats = async (store: Store): Promise<number[]> =>
  [...(await valuesOf(store)).values()].map((value) => value[0]!);

async function sealed(store: Store, log: Parameters<typeof createSealing>[0]["log"]): Promise<void> {
  const sealing = createSealing({ store, log });
  sealing.start();
  await sealing.finished();
}

/** The same store; every commit is seen before it is made. */
const watched = (store: Store, see: (statements: Statement[]) => Promise<void> | void): Store => ({
  ...store,
  writer: {
    ...store.writer,
    async commit(statements, options) {
      await see(statements);
      return store.writer.commit(statements, options);
    },
  },
});

describe("what was sealed with one key for everything", () => {
  it("is sealed anew in the background and opens as before; the next start has nothing to do", async () => {
    const { log, store } = await folder(130);
    await store.writer.commit(
      [{ sql: "UPDATE wa_keys SET value = x'0100' WHERE id = '7'", args: [] }],
      OWNERLESS,
    );

    await sealed(store, log);

    const values = await valuesOf(store);
    // One that does not open stays as it is, for the doctor.
    expect(values.get(7)).toEqual(Buffer.from([1, 0]));
    values.delete(7);
    for (const [n, value] of values) {
      expect(value[0]).toBe(2);
      expect(store.box.open(value, contextOf(n)).toString()).toBe(`session ${n}`);
    }
    expect(values.size).toBe(129);
    let commits = 0;
    await sealed(
      watched(store, () => void commits++),
      log,
    );
    expect(commits).toBe(0);
  });

  it("is sealed a few rows at a time, goes on where it ended, and takes nothing back that was written meanwhile", async () => {
    const { log, store } = await folder(130);
    let largest = 0;
    const first = createSealing({
      log,
      store: watched(store, async (statements) => {
        largest = Math.max(largest, statements.length);
        if (!statements.some(({ sql }) => sql.startsWith("UPDATE wa_keys"))) return;
        void first.stop();
        // Read already, and written by its owner before the commit.
        const value = store.box.seal("newer", contextOf(3));
        await store.writer.commit(
          [{ sql: "UPDATE wa_keys SET value = ? WHERE id = '3'", args: [value] }],
          OWNERLESS,
        );
      }),
    });
    first.start();
    await first.finished();
    expect((await formats(store)).filter((format) => format === 1)).toHaveLength(80);

    await sealed(store, log);

    expect(largest).toBeLessThanOrEqual(51);
    expect(new Set(await formats(store))).toEqual(new Set([2]));
    const values = await valuesOf(store);
    expect(store.box.open(values.get(3)!, contextOf(3)).toString()).toBe("newer");
    expect(store.box.open(values.get(129)!, contextOf(129)).toString()).toBe("session 129");
  });

  it("is still written by nodes until all of them are of one version", async () => {
    expect(writesFormerSeals("written", true)).toBe(true);
    for (const [row, isNode] of [
      ["written", false],
      ["read", true],
      [null, true],
    ] as const)
      expect(writesFormerSeals(row, isNode)).toBe(false);

    const { log, store } = await folder(3);
    const asNode: Store = { ...store, box: formerBox };
    const enter = (name: string, version: string): Statement => ({
      sql: `INSERT INTO nodes (name, incarnation, url, version, since, until, leaving, numbers, lag_ms)
        VALUES (?, ?, NULL, ?, 0, 0, 0, 0, 0)`,
      args: [name, name, version],
    });
    const row = async () =>
      (await rawRows(store, "SELECT value FROM meta WHERE key = 'seals_of_before'", []))[0]?.value;
    await store.writer.commit([enter("one", "0.2"), enter("two", "0.3")]);
    await sealed(asNode, log);
    expect(await row()).toBe("written");

    await store.writer.commit([{ sql: "UPDATE nodes SET version = '0.3'", args: [] }]);
    await sealed(asNode, log);

    expect(await row()).toBe("read");
    expect(new Set(await formats(store))).toEqual(new Set([1]));
    await sealed(store, log);
    expect(new Set(await formats(store))).toEqual(new Set([2]));
  });
});
