import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openReadOnly } from "../../../src/store/file/read-only.ts";
import { openStore } from "../../../src/store/open.ts";
import { defineQuery, text } from "../../../src/store/query.ts";
import { configFor, silentLog, temporaryFolder } from "./temporary.ts";

const VALUE = defineQuery("SELECT value FROM meta WHERE key = 'beside'", { value: text() });
const write = (value: string) => ({
  sql: "INSERT INTO meta (key, value) VALUES ('beside', ?) ON CONFLICT DO UPDATE SET value = excluded.value",
  args: [value],
});

it("reads what a running gateway writes, without its lock", async () => {
  const config = configFor(temporaryFolder());
  const store = await openStore(config, silentLog(config));
  const sealed = store.box.sealJson({ secret: 1 }, "here");

  const beside = await openReadOnly(config);
  await store.writer.commit([write("first")]);
  expect(await beside.readOne(VALUE)).toEqual({ value: "first" });
  await store.writer.commit([write("second")]);
  expect(await beside.readOne(VALUE)).toEqual({ value: "second" });
  expect(beside.box.openJson(sealed, "here")).toEqual({ secret: 1 });

  beside.close();
  await store.writer.commit([write("third")]);
  await store.close();
});

it("reads what a gateway has left behind", async () => {
  const config = configFor(temporaryFolder());
  const store = await openStore(config, silentLog(config));
  await store.writer.commit([write("left")]);
  await store.close();
  const beside = await openReadOnly(config);
  expect(await beside.readOne(VALUE)).toEqual({ value: "left" });
  beside.close();
});

it("says what is missing", async () => {
  const config = configFor(temporaryFolder());
  await expect(openReadOnly(config)).rejects.toThrow(
    /^The database .*parley\.db does not exist: name the data folder/,
  );
});

it("asks for the key that is missing", async () => {
  const config = configFor(temporaryFolder());
  await (await openStore(config, silentLog(config))).close();
  await rm(join(config.dataDir, "master-key"));
  await expect(openReadOnly(config)).rejects.toThrow(/master key is missing: put the file .*master-key back/);
});
