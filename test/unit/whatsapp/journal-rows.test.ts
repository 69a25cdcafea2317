import { timeWithClock } from "../../../src/model/time.ts";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "../../../src/config.ts";
import type { Incoming } from "../../../src/model/messages.ts";
import { openStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import {
  findJournalled,
  historyId,
  journalInsert,
  readHistories,
  readOwed,
  spendStatement,
  sweepJournal,
  type JournalEntry,
} from "../../../src/whatsapp/signal/journal-rows.ts";
import { removeFolder } from "../../_setup/folders.ts";
import { rawRows } from "../store/rows.ts";

const DAY = 24 * 60 * 60 * 1000;
const folder = mkdtempSync(join(tmpdir(), "parley-journal-"));
let store: Store;
let now = 1_000_000;

beforeEach(async () => {
  store = await openStore(
    loadConfig({ DATA_DIR: folder, STORE_THREAD: "off" }),
    pino({ level: "silent" }),
    timeWithClock(() => now),
  );
});

afterEach(async () => {
  await store.close();
  removeFolder(folder);
});

const message = (text: string): Row => ({
  stanzaId: text,
  content: { message: { id: text, text } as Incoming, plain: null },
});
type Row = Pick<JournalEntry, "stanzaId" | "content">;
async function owed(): Promise<Incoming[]> {
  const found: Incoming[] = [];
  for await (const rows of readOwed(store, 1)) found.push(...rows.flatMap(({ open }) => open()));
  return found;
}
const insert = (hash: string, row: Row, deviceId = 1) =>
  store.writer.commit([journalInsert(store, deviceId, hash, row)]);

describe("the journal's rows", () => {
  it("are found by hash, and known as spent once their message is stored", async () => {
    await insert("h", message("hello"));
    expect((await findJournalled(store, 1, "h"))?.open()).toMatchObject({ message: { text: "hello" } });
    await store.writer.commit([spendStatement(1, "h")]);
    expect((await findJournalled(store, 1, "h"))?.open()).toBeNull();
    expect(await findJournalled(store, 2, "h")).toBeNull();
  });

  it("that are unspent come back in the order of their arrival, messages only, of one number only", async () => {
    for (const text of ["b", "a", "c"]) await insert(`hash of ${text}`, message(text));
    await insert("protocol", { stanzaId: "", content: { message: null, plain: "AA==" } });
    await insert("foreign", message("x"), 2);
    await store.writer.commit([spendStatement(1, "hash of a")]);
    expect((await owed()).map(({ text }) => text)).toEqual(["b", "c"]);
  });

  it("go after a day, except messages that nobody has stored", async () => {
    await insert("spent", { stanzaId: "1", content: null });
    await insert("protocol", { stanzaId: "", content: { message: null, plain: "AA==" } });
    await insert("owed", message("keep"));
    now += DAY + 1;
    await insert("young", { stanzaId: "2", content: null });
    await sweepJournal(store);
    const rows = await rawRows(store, "select hash from journal order by hash", []);
    expect(rows.map(({ hash }) => hash)).toEqual(["owed", "young"]);
  });

  it("of history wait until all of it is stored, apart from messages, and two weeks at most", async () => {
    const piece = (text: string): Row => ({
      stanzaId: historyId(text),
      content: { message: null, plain: Buffer.from(text).toString("base64") },
    });
    const histories = async (): Promise<string[]> => {
      const found: string[] = [];
      for await (const { open } of readHistories(store, 1)) found.push(Buffer.from(open()).toString());
      return found;
    };
    for (const text of ["b", "a", "c"]) await insert(text, piece(text));
    await insert("message", message("x"));
    await insert("protocol", { stanzaId: "", content: { message: null, plain: "AA==" } });
    await insert("foreign", piece("x"), 2);
    expect(await histories()).toEqual(["b", "a", "c"]);
    // Megabytes, which are opened by nobody else.
    for await (const rows of readOwed(store, 1))
      expect(rows.map(({ hash }) => hash)).toEqual(["message", "protocol"]);
    await store.writer.commit([spendStatement(1, "a")]);
    now += 13 * DAY;
    await sweepJournal(store);
    expect(await histories()).toEqual(["b", "c"]);
    now += 2 * DAY;
    await sweepJournal(store);
    expect(await histories()).toEqual([]);
    expect((await owed()).map(({ text }) => text)).toEqual(["x"]);
  });

  it("hold no clear text", async () => {
    await insert("h", message("a very secret sentence"));
    const [row] = await rawRows(store, "select content from journal", []);
    expect(Buffer.from(row?.content as ArrayBuffer).toString("latin1")).not.toContain("secret");
  });
});
