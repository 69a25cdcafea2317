import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { definedQueries } from "../../../src/store/query.ts";
import { connect } from "../../../src/store/connection.ts";
import { openStore } from "../../../src/store/open.ts";
import { configFor, silentLog, temporaryFolder } from "./temporary.ts";

const SOURCES = fileURLToPath(new URL("../../../src/", import.meta.url));

it("every query runs on the schema, and its columns and fields are the same", async () => {
  const modules = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .filter((file) => /defineQuery\(/.test(readFileSync(join(SOURCES, file), "utf8")));
  for (const module of modules) await import(join(SOURCES, module));
  const config = configFor(temporaryFolder());
  await (await openStore(config, silentLog(config))).close();
  const connection = connect(join(config.dataDir, "parley.db"), []);

  const wrong: unknown[] = [];
  for (const { sql, mismatch } of definedQueries()) {
    try {
      const { missing, unused } = mismatch(connection.columns(sql));
      if (missing.length + unused.length > 0) wrong.push({ sql, missing, unused });
    } catch (error) {
      wrong.push({ sql, error: String(error) });
    }
  }
  connection.close();

  expect(definedQueries().length).toBeGreaterThan(0);
  expect(wrong).toEqual([]);
});
