import { expect, it } from "vitest";
import { loadConfig } from "../../../src/config.ts";
import { createContactNotes } from "../../../src/directory/contacts/notes.ts";
import { defineQuery, integer } from "../../../src/store/query.ts";
import { silentLog, temporaryStore } from "../store/temporary.ts";

const log = silentLog(loadConfig({ DATA_DIR: "/nowhere", LOG_LEVEL: "silent" }));
const LARGE_BOOK = 1;
const OTHER = 2;

const PEOPLE = defineQuery("SELECT count(*) AS n FROM contacts", { n: integer() });

const person = (index: number) => ({
  person: `${4_915_100_000_000 + index}@s.whatsapp.net`,
  names: { name: `Person ${index}` },
});

it("notes an address book in turns with the people of other numbers", async () => {
  const store = await temporaryStore();
  const numbers = [LARGE_BOOK, OTHER].map((id) => ({
    sql: "INSERT INTO devices (id, account_id, number, state, since, created_at) VALUES (?, 'a', ?, 'connected', 0, 0)",
    args: [id, `3160000000${id}`],
  }));
  await store.writer.commit(numbers);
  const commits: unknown[] = [];
  const writer: typeof store.writer = {
    ...store.writer,
    async commit(statements, options) {
      commits.push((statements[0]!.args as unknown[])[0]);
      return store.writer.commit(statements, options);
    },
  };
  const { read, now, box } = store;
  const notes = createContactNotes({ store: { read, now, box, writer }, log, observe: () => undefined });

  const book = Array.from({ length: 1_000 }, (_, index) => person(index));
  notes.met(LARGE_BOOK, book);
  notes.met(OTHER, [person(0)]);
  await notes.idle();

  // The first two pages were the book's turn before anybody else came.
  expect(commits.indexOf(OTHER)).toBe(2);
  expect(commits).toHaveLength(6);
  expect(await store.readOne(PEOPLE)).toEqual({ n: 1_001 });
});
