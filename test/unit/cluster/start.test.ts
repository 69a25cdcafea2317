import { createClient } from "@libsql/client";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Environment } from "../../../src/config.ts";
import { StartError } from "../../../src/model/errors/errors.ts";
import { openStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { findSqld, startSqld } from "../../_setup/sqld.ts";
import { NODE_SETTINGS } from "../store/temporary-config.ts";
import { configFor, silentLog, temporaryFolder } from "../store/temporary.ts";

const sqld = findSqld();

/** Opens the store of a node in a data folder of its own, and closes it when the test ends. */
async function open(url: string, settings: Environment = {}): Promise<Store> {
  const config = configFor(temporaryFolder(), { ...NODE_SETTINGS, DATABASE_URL: url, ...settings });
  const store = await openStore(config, silentLog(config));
  onTestFinished(() => store.close());
  return store;
}

describe.skipIf(sqld === null)("nodes that start at the same time on an empty database", () => {
  it("make its tables together, and all of them start", async () => {
    const { url } = await startSqld(sqld!);

    const stores = await Promise.all(Array.from({ length: 4 }, () => open(url)));

    expect(stores).toHaveLength(4);
    const client = createClient({ url });
    onTestFinished(() => client.close());
    const { rows } = await client.execute(
      "SELECT hash, count(*) AS n FROM __drizzle_migrations GROUP BY hash",
    );
    expect(rows.filter(({ n }) => Number(n) !== 1)).toEqual([]);
    const checks = await client.execute("SELECT value FROM meta WHERE key = 'master_key_check'");
    expect(checks.rows).toHaveLength(1);
  });

  it("refuse all but one master key, and say which setting is wrong", async () => {
    const { url } = await startSqld(sqld!);
    const keys = [1, 2, 3].map((byte) => Buffer.alloc(32, byte).toString("base64"));

    const opened = await Promise.allSettled(keys.map((key) => open(url, { PARLEY_MASTER_KEY: key })));

    const refused = opened
      .filter((result) => result.status === "rejected")
      .map(({ reason }) => reason as Error);
    expect(refused).toHaveLength(2);
    for (const reason of refused) {
      expect(reason).toBeInstanceOf(StartError);
      expect(reason.message).toContain("PARLEY_MASTER_KEY");
    }
  });
});
