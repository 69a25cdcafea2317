import { describe, expect, it } from "vitest";
import { definePages } from "../../../src/store/pages.ts";
import { fullScans, planOf, recordingStore } from "../../_setup/query-plan.ts";
import { temporaryStore } from "./temporary.ts";

const LISTS = {
  accounts: definePages("accounts", "TRUE", 0),
  api_keys: definePages("api_keys", "account_id = ?1", 1),
  channels: definePages("channels", "device_id = ?1", 1),
  audit_log: definePages("audit_log", "TRUE", 0, "coalesce(octet_length(changes), 0)"),
  audit_log_of: definePages("audit_log", "account_id = ?1", 1, "coalesce(octet_length(changes), 0)"),
};
const OF_EVERYBODY = new Set(["accounts", "audit_log"]);
const INDEXES: Record<string, string> = { audit_log_of: "audit_log_account" };

describe("a list of what people made", () => {
  it.each(Object.entries(LISTS))(
    "of %s is read by its index, in its order, as far as the page goes",
    async (table, pages) => {
      const { store, statements } = recordingStore(await temporaryStore());
      await pages.find(store, OF_EVERYBODY.has(table) ? [] : [1], { limit: 10, before: "5.5" });

      const [rows, counted] = statements();
      expect(await fullScans(store, rows!)).toEqual([]);
      const plan = (await planOf(store, rows!)).join("; ");
      expect(plan).toContain(
        `USING INDEX ${INDEXES[table] ?? `${table}_listed`}`.replace(
          "INDEX",
          plan.includes("COVERING") ? "COVERING INDEX" : "INDEX",
        ),
      );
      expect(plan).not.toContain("TEMP B-TREE");
      expect(counted).toMatch(/LIMIT 1001\)$/);
      expect((await planOf(store, counted!)).join()).toContain("COVERING INDEX");
    },
  );

  it("has each row once, however many were made in one millisecond", async () => {
    const store = await temporaryStore();
    await store.writer.commit([
      {
        sql: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70)
          INSERT INTO accounts (id, name, plan, enabled, created_at) SELECT 'a' || i, 'A', 'basic', 1, i / 10 FROM n`,
        args: [],
      },
    ]);
    const seen: number[] = [];
    for (let before: string | undefined; ;) {
      const { rowids, next, total } = await LISTS.accounts.find(store, [], { limit: 7, before });
      expect(total).toBe(70);
      seen.push(...(JSON.parse(rowids) as number[]));
      if (next === null) break;
      before = next;
    }
    expect(seen).toEqual(Array.from({ length: 70 }, (_, index) => 70 - index));
  });
});
