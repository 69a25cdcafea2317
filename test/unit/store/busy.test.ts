import { join } from "node:path";
import { expect, it } from "vitest";
import { openStore } from "../../../src/store/open.ts";
import { runChild } from "./child.ts";
import { configFor, silentLog, temporaryFolder } from "./temporary.ts";
import { rawRows } from "./rows.ts";

it("a start waits for somebody who has the database for a moment", async () => {
  const config = configFor(temporaryFolder());
  const first = runChild("holding-process.ts", config.dataDir);
  await first.printed((output) => output.includes("open"));
  await first.kill();
  const other = runChild("busy-process.ts", join(config.dataDir, "parley.db"));
  await other.printed((output) => output.includes("held"));

  const store = await openStore(config, silentLog(config));
  expect(await rawRows(store, "SELECT count(*) AS n FROM inbox", [])).toMatchObject([{ n: 0 }]);
  await store.close();
});
