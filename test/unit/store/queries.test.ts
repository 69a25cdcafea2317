import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { definedQueries } from "../../../src/store/query.ts";
import { connect } from "../../../src/store/connection.ts";
import { openStore } from "../../../src/store/open.ts";
import { fullScans } from "../../_setup/query-plan.ts";
import { configFor, silentLog, temporaryFolder, temporaryStore } from "./temporary.ts";

const SOURCES = fileURLToPath(new URL("../../../src/", import.meta.url));

const withQueries = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .filter((file) => /defineQuery\(/.test(readFileSync(join(SOURCES, file), "utf8")));

it("every query runs on the schema, and its columns and fields are the same", async () => {
  for (const module of withQueries) await import(join(SOURCES, module));
  const config = configFor(temporaryFolder());
  await (await openStore(config, silentLog(config))).close();
  const connection = connect(join(config.dataDir, "parley.db"), []);

  const wrong: unknown[] = [];
  const own = ofTests();
  for (const { sql, mismatch } of definedQueries()) {
    if (own.some((text) => text.includes(sql))) continue;
    try {
      const { missing, unused } = mismatch(connection.columns(sql));
      if (missing.length + unused.length > 0) wrong.push({ sql, missing, unused });
    } catch (error) {
      wrong.push({ sql, error: String(error) });
    }
  }
  connection.close();

  expect(definedQueries().length).toBeGreaterThan(0);
  expect(wrong, "Correct the columns that defineQuery names, or the schema.").toEqual([]);
});

/** What a query may read from end to end, as its plan names it, and why that stays short. */
const MAY_SCAN = [
  /** As many as there are machines. */
  "nodes",
  // A row for each account, number, or number with something: not for each message, chat or contact.
  "accounts",
  "devices",
  "d",
  "webhooks",
  "listeners",
  "wa_creds",
  "reachout_locks",
  "send_brakes",
  "erased_devices",
  // A row for each of the 256 partitions, and for each process of the last day.
  "leases",
  "nodes",
  // What a subquery has cut off at its limit, names of one person, numbers with something that waits.
  "(subquery-1)",
  "(subquery-2)",
  "(subquery-3)",
  "names",
  "numbers",
  "sqlite_master",
];
/** Walks that end at their limit, over an index that has only what waits. */
const LIMITED = /^SCAN (inbox|outbox) USING (COVERING )?INDEX (inbox_pending|outbox_waiting)/;
/** With nobody to be stopped: a command for a gateway that does not run, and the kit for tests of bots. */
const BESIDE = /^(backup\/prepare|testing\/.*)\.ts$/;

/** Files of tests define queries as well, and may have run in this process before. */
function ofTests(): string[] {
  const tests = fileURLToPath(new URL("../../", import.meta.url));
  return readdirSync(tests, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(join(tests, file), "utf8"))
    .filter((text) => text.includes("defineQuery("));
}

it("no query reads from end to end what grows with messages, chats or contacts", async () => {
  for (const module of withQueries) await import(join(SOURCES, module));
  const store = await temporaryStore();
  const beside = [
    ...withQueries
      .filter((file) => BESIDE.test(file))
      .map((file) => readFileSync(join(SOURCES, file), "utf8")),
    ...ofTests(),
  ];

  const guilty: string[] = [];
  for (const { sql } of definedQueries().filter(
    (query) => !beside.some((text) => text.includes(query.sql)),
  )) {
    const scans = (await fullScans(store, sql, MAY_SCAN)).filter((step) => !LIMITED.test(step));
    guilty.push(...scans.map((step) => `${step} in: ${sql}`));
  }
  expect(
    guilty,
    "Add an index (npm run db:generate), or a bound; a table that stays short goes into MAY_SCAN of this file.",
  ).toEqual([]);
});
