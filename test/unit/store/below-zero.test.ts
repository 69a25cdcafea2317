import { expect, it, onTestFinished } from "vitest";
import { openStore } from "../../../src/store/open.ts";
import { rotateMasterKey } from "../../../src/store/sealed/rotate.ts";
import { createSealing } from "../../../src/store/sealed/sealing.ts";
import { createSecretBox } from "../../../src/store/sealed/secret-box.ts";
import type { SecretBox, Store } from "../../../src/store/store.ts";
import { rawRows } from "./rows.ts";
import { configFor, silentLog, temporaryFolder } from "./temporary.ts";

const IDS = [-9_000_000_000_000, -1, 1];
const contextOf = (id: number): string => `inbox:1:w${id}`;

const rows = (box: Pick<SecretBox, "seal">) =>
  IDS.map((id) => ({
    sql: `INSERT INTO inbox (id, device_id, chat, sender, wa_id, from_me, type, state, timestamp, received_at, body)
      VALUES (?, 1, 'c', 's', ?, 0, 'text', 'done', 1, 1, ?)`,
    args: [id, `w${id}`, box.seal(`text ${id}`, contextOf(id))],
  }));

async function opened(store: Store): Promise<string[]> {
  const found = await rawRows(store, "SELECT id, body FROM inbox ORDER BY id");
  return found.map(({ id, body }) =>
    store.box.open(Buffer.from(body as ArrayBuffer), contextOf(Number(id))).toString(),
  );
}

const TEXTS = IDS.map((id) => `text ${id}`);

it("a change of the master key seals imported messages anew as well", async () => {
  const config = configFor(temporaryFolder());
  const before = await openStore(config, silentLog(config));
  await before.writer.commit(rows(before.box));
  await before.close();
  await rotateMasterKey(config, null);
  const after = await openStore(config, silentLog(config));
  onTestFinished(() => after.close());
  expect(await opened(after)).toEqual(TEXTS);
});

it("what a node of before has sealed of them is sealed anew in the background", async () => {
  const key = Buffer.alloc(32, 9);
  const config = configFor(temporaryFolder(), { PARLEY_MASTER_KEY: key.toString("base64") });
  const store = await openStore(config, silentLog(config));
  onTestFinished(() => store.close());
  await store.writer.commit([
    { sql: "INSERT INTO meta (key, value) VALUES ('seals_of_before', 'written')", args: [] },
    ...rows(createSecretBox(key, { format: 1 })),
  ]);
  const sealing = createSealing({ store, log: silentLog(config) });
  sealing.start();
  await sealing.finished();
  const bodies = await rawRows(store, "SELECT body FROM inbox");
  expect(bodies.map(({ body }) => Buffer.from(body as ArrayBuffer)[0])).toEqual([2, 2, 2]);
  expect(await opened(store)).toEqual(TEXTS);
});
