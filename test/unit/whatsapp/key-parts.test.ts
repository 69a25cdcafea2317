import { describe, expect, it, onTestFinished } from "vitest";
import { openStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { eraseKeys, keyStatements, readKeys } from "../../../src/whatsapp/signal/key-rows.ts";
import { findSqld, startSqld } from "../../_setup/sqld.ts";
import { rawRows } from "../store/rows.ts";
import { NODE_SETTINGS } from "../store/temporary-config.ts";
import { configFor, silentLog, temporaryFolder, temporaryStore } from "../store/temporary.ts";

const STATE = "app-state-sync-version";

async function serverStore(): Promise<Store> {
  const { url } = await startSqld(findSqld()!);
  const config = configFor(temporaryFolder(), { DATABASE_URL: url, ...NODE_SETTINGS });
  const store = await openStore(config, silentLog(config));
  onTestFinished(() => store.close());
  return store;
}

/** What Baileys knows of so many contacts. */
const stateOf = (contacts: number): string =>
  JSON.stringify({
    version: 7,
    indexValueMap: Object.fromEntries(
      Array.from({ length: contacts }, (_, index) => [
        String(index).padStart(44, "i"),
        { valueMac: { type: "Buffer", data: String(index).padStart(44, "v") } },
      ]),
    ),
  });

async function put(store: Store, value: string | null): Promise<void> {
  const changes = { [STATE]: { regular: value }, session: { a: "x" } };
  await store.writer.commit(keyStatements(store, 5, changes as never), { owning: null });
}
const get = async (store: Store): Promise<string | undefined> =>
  (await readKeys(store, 5, STATE, ["regular", "critical"])).get("regular")?.toString();
const rows = async (store: Store): Promise<unknown[]> =>
  (await rawRows(store, "select id from wa_keys where type <> 'session' order by id", [])).map(
    (row) => row["id"],
  );

describe.each([
  ["a file", temporaryStore as () => Promise<Store>, false],
  ["a libSQL server", serverStore, findSqld() === null],
])("the state of an app with 40,000 contacts, in %s", (_, open, isLeftOut) => {
  it.skipIf(isLeftOut)("is stored, read, made smaller and deleted whole", async () => {
    const store = await open();
    const [large, larger] = [stateOf(35_000), stateOf(40_000)];
    expect(large.length).toBeGreaterThan(4_194_304);
    for (const state of [larger, large]) {
      await put(store, state);
      expect((await get(store)) === state).toBe(true);
    }
    await put(store, stateOf(10));
    expect(await rows(store)).toEqual(["regular"]);

    await put(store, large);
    await put(store, null);
    expect(await get(store)).toBeUndefined();
    expect(await rows(store)).toEqual([]);
  });

  it.skipIf(isLeftOut)("is asked for anew when a part of it is missing", async () => {
    const store = await open();
    await put(store, stateOf(35_000));
    await store.writer.commit([{ sql: "delete from wa_keys where id = 'regular/2'", args: [] }], {
      owning: null,
    });
    expect(await get(store)).toBeUndefined();
    await eraseKeys(store, 5);
    expect(await rows(store)).toEqual([]);
  });
});
