import { beforeEach, describe, expect, it } from "vitest";
import { createHourBook, type HourBook } from "../../../src/audit/hours.ts";
import type { Statement, Store } from "../../../src/store/store.ts";
import { planOf, scansOf, watchStatements } from "../store/query-plan.ts";
import { temporaryStore } from "../store/temporary.ts";

const HOUR = 3_600_000;
const START = Date.parse("2026-11-10T00:17:00Z");

interface Message {
  id: number;
  device: number;
  at: number;
  fromMe: boolean;
  /** Null: it waits for its decision. */
  answered: "bot" | "webhook" | "nobody" | null;
}

let store: Store;
let book: HourBook;
let seen: Statement[];

beforeEach(async () => {
  const watched = watchStatements(await temporaryStore());
  store = watched.store;
  seen = watched.seen;
  await store.writer.commit(
    [1, 2].map((id) => ({
      sql: "INSERT INTO devices (id, account_id, number, state, since, created_at) VALUES (?, 'a', ?, 'connected', 0, 0)",
      args: [id, `49${id}`],
    })),
  );
  book = createHourBook(store);
});

function rowsOf({ id, device, at, fromMe, answered }: Message): Statement[] {
  const message = {
    sql: `INSERT INTO inbox (id, device_id, chat, sender, wa_id, from_me, type, state, timestamp, received_at, body)
      VALUES (?, ?, 'c', 's', ?, ?, 'text', ?, 0, ?, x'00')`,
    args: [id, device, `w${id}`, fromMe ? 1 : 0, answered === null ? "pending" : "done", at],
  };
  if (answered === null) return [message];
  const trail = answered === "webhook" ? [{ by: "webhook", outcome: "passed" }] : [];
  return [
    message,
    {
      sql: `INSERT INTO decisions (inbox_id, device_id, chat, wa_id, "by", trail, at) VALUES (?, ?, 'c', ?, ?, ?, ?)`,
      args: [id, device, `w${id}`, answered === "bot" ? "bot:a" : null, JSON.stringify(trail), at],
    },
  ];
}

async function keep(messages: Message[]): Promise<void> {
  for (let from = 0; from < messages.length; from += 500)
    await store.writer.commit(messages.slice(from, from + 500).flatMap(rowsOf));
}

/** Messages as they come in: a few each hour, of two numbers, some by hand, some unanswered. */
function messages(count: number, firstId = 1, start = START): Message[] {
  const answers = ["bot", "webhook", "nobody"] as const;
  return Array.from({ length: count }, (_, n) => ({
    id: firstId + n,
    device: n % 5 === 0 ? 2 : 1,
    at: start + n * 271_000,
    fromMe: n % 7 === 0,
    answered: answers[n % 3]!,
  }));
}

function countedByHand(all: Message[], device: number, since: number) {
  const own = all.filter((one) => one.device === device && !one.fromMe && one.at >= since);
  return {
    received: own.length,
    answeredOrForwarded: own.filter(({ answered }) => answered === "bot" || answered === "webhook").length,
    pending: own.filter(({ answered }) => answered === null).length,
  };
}

/** Where counting by hand gives something else, for both numbers and many times. */
async function differences(all: Message[]): Promise<object[]> {
  const last = all.at(-1)!.at;
  const times = [0, START, START + 17 * HOUR + 5, last - 3 * HOUR, last - HOUR, last - 1, last, last + 1];
  const found: object[] = [];
  for (const device of [1, 2])
    for (const since of times) {
      const [counted, right] = [await book.countSince(device, since), countedByHand(all, device, since)];
      if (JSON.stringify(counted) !== JSON.stringify(right)) found.push({ device, since, counted, right });
    }
  return found;
}

describe("messages per hour", () => {
  it("are what counting the inbox gives, whenever it is asked from", async () => {
    const all = messages(1_300);
    await keep(all);
    expect(await differences(all)).toEqual([]);

    await book.catchUp();
    expect(await differences(all)).toEqual([]);

    // Counted on, with one that waits in the middle: what is behind it is counted when it is decided.
    const more = messages(700, 2_000, all.at(-1)!.at + 1_000);
    more[300] = { ...more[300]!, answered: null, fromMe: false };
    await keep(more);
    await Promise.all([book.catchUp(), book.catchUp()]);
    expect(await differences([...all, ...more])).toEqual([]);
    await book.catchUp();
    expect(await differences([...all, ...more])).toEqual([]);
  });

  it("make a report cheap: what was counted is not read again", async () => {
    await keep(messages(3_000));
    await book.catchUp();
    seen.length = 0;
    await book.catchUp();
    expect(await book.countSince(1, START)).toMatchObject({ received: expect.any(Number) });
    expect(seen.length).toBeLessThan(40);
  });

  it("make a report cheap on what nobody has counted: what came before its time is not read", async () => {
    const all = messages(3_000);
    await keep(all);
    let rows = 0;
    const pages: Store["pages"] = async function* (...question) {
      for await (const page of store.pages(...question)) {
        rows += page.length;
        yield page;
      }
    };
    const since = all.at(-200)!.at;
    const counted = await createHourBook({ ...store, pages }).countSince(1, since);
    expect(counted).toEqual(countedByHand(all, 1, since));
    expect(rows).toBeLessThan(800);
  });

  it("jump over the ids that a restore leaves out", async () => {
    const all = [...messages(30), ...messages(30, 1_000_000_031, START + 30 * 271_000)];
    await keep(all);
    seen.length = 0;
    expect(await differences(all.slice(0, 60))).toEqual([]);
    expect(seen.length).toBeLessThan(16 * 60);
    seen.length = 0;
    await book.catchUp();
    expect(seen.length).toBeLessThan(10);
    expect(await differences(all)).toEqual([]);
  });

  it("let others have their turn while they are counted", async () => {
    await keep(messages(3_000));
    let turns = 0;
    let counting = true;
    const tick = (): void => {
      turns++;
      if (counting) setImmediate(tick);
    };
    setImmediate(tick);
    await book.catchUp();
    counting = false;
    expect(turns).toBeGreaterThan(10);
  });

  it("are counted once although a commit is made again", async () => {
    const all = messages(100);
    await keep(all);
    const twice: Store = {
      ...store,
      writer: {
        ...store.writer,
        async commit(statements) {
          await store.writer.commit(statements);
          return store.writer.commit(statements);
        },
      },
    };
    await createHourBook(twice).catchUp();
    expect(await differences(all)).toEqual([]);
  });

  it("are read and counted by index", async () => {
    await keep(messages(600));
    seen.length = 0;
    await book.catchUp();
    await book.countSince(1, START + HOUR);
    const made = seen.filter(({ sql }) => !sql.startsWith("insert into meta"));
    for (const statement of made) {
      // The first entry of what waits, and no further.
      const scans = (await scansOf(store, statement)).filter((step) => !step.endsWith("inbox_pending"));
      expect({ sql: statement.sql, scans }).toEqual({ sql: statement.sql, scans: [] });
    }
    // Not by the index of its number, which holds all that it ever got.
    for (const statement of made.filter(({ sql }) => sql.includes("from inbox i ")))
      expect((await planOf(store, statement)).join("; ")).toMatch(
        /SEARCH i USING INTEGER PRIMARY KEY \(rowid>/,
      );
  });
});
