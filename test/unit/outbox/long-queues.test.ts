import { describe, expect, it } from "vitest";
import { StorageUnavailable } from "../../../src/store/errors.ts";
import type { Store } from "../../../src/store/store.ts";
import { systemTime } from "../../../src/model/time.ts";
import type { QueuedMessage } from "../../../src/outbox/sending/chats.ts";
import { createPace } from "../../../src/outbox/sending/holdups/pace.ts";
import { createSender } from "../../../src/outbox/sending/sender.ts";
import { configFor, silentLog, temporaryFolder } from "../store/temporary.ts";
import {
  ACCOUNT,
  DEVICE,
  hang,
  jid,
  manualClock,
  reply,
  replyRows,
  scriptedLine,
  startRun,
  until,
  type Run,
} from "./harness.ts";
import { rawRows } from "../store/rows.ts";

const ROWS = 4_000;

/** Rows that an earlier run has left, one chat for every eight of them. */
async function queue(store: Store, count = ROWS): Promise<void> {
  const insert = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
INSERT INTO outbox (device_id, wa_id, chat, jid, number, kind, origin, is_reply, body, created_at)
SELECT ?, 'W' || i, (4915000000 + i / 8) || '@s.whatsapp.net', (4915000000 + i / 8) || '@s.whatsapp.net', '1', 'text',
'api', 0, x'00', ? FROM n`;
  await store.writer.commit([{ sql: insert, args: [count, DEVICE, store.now()] }]);
}

/** How often the event loop went round while something was done. */
async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let done = false;
  const count = (): void => void (done || (turns++, setImmediate(count)));
  setImmediate(count);
  await work();
  done = true;
  return turns;
}

const states = async ({ store }: Run): Promise<Record<string, number>> => {
  const rows = await rawRows(store, "SELECT state, count(*) AS n FROM outbox GROUP BY state", []);
  return Object.fromEntries(rows.map(({ state, n }) => [String(state), Number(n)]));
};

describe("a queue of thousands", () => {
  it("is read in pages, and the rest of the gateway goes on in between", async () => {
    const run = await startRun();
    await queue(run.store);

    const first = await turnsOf(() => run.outbox.wake(DEVICE));
    const again = await turnsOf(() => run.outbox.wake(DEVICE));

    // At most 200 rows in one turn of the event loop; what is known already is looked at by its id only.
    expect(first).toBeGreaterThan(ROWS / 200);
    expect(again).toBeGreaterThanOrEqual(ROWS / 1_000);
    expect(again).toBeLessThan(first);
  });

  it("is looked at for what has expired a part at a time", async () => {
    const looks = { now: 0, most: 0 };
    const run = await startRun({
      wrap: (store) => ({
        ...store,
        clock: {
          ...store.clock,
          isTrusted() {
            looks.most = Math.max(looks.most, ++looks.now);
            return store.clock.isTrusted();
          },
        },
      }),
    });
    await queue(run.store);

    let done = false;
    const count = (): void => {
      looks.now = 0;
      if (!done) setImmediate(count);
    };
    count();
    await run.outbox.wake(DEVICE);
    done = true;

    expect(looks.most).toBeGreaterThan(0);
    expect(looks.most).toBeLessThanOrEqual(1_000);
  });

  it("is not gone through when somebody asks why nothing leaves", () => {
    let looks = 0;
    const waits = {
      get() {
        looks++;
        return null;
      },
    };
    const waiting = Array.from({ length: ROWS }, (_, id) =>
      Object.defineProperty({ id, waId: `W${id}`, chat: `c${id}` } as QueuedMessage, "waitsForMedia", waits),
    );
    const sender = createSender({
      connection: () => null,
      pace: createPace(0, 0),
      backoff: { waitMs: () => 0, isProbing: () => false },
      warmUp: { asks: () => false, waitMs: async () => 0 },
      time: systemTime,
      log: silentLog(configFor(temporaryFolder())),
      compose: async () => null,
      handleOutcome: async () => "done",
    });
    sender.add(waiting);

    expect(sender.mediaWaits()).toEqual([]);
    expect(looks).toBe(0);
  });

  it("is not overtaken by what is stored while it is being read", async () => {
    const run = await startRun();
    const early = replyRows(run, 1, jid(4915001), ["early"]);
    await queue(run.store);
    await run.store.writer.commit(early.statements);
    const line = scriptedLine((message) => (message.jid === jid(4915001) ? { kind: "sent" } : hang()));

    const connected = run.connect(line);
    await reply(run, 2, jid(4915001), ["late"]);
    await connected;

    await until(() => expect(line.texts(jid(4915001))).toEqual(["early", "late"]));
  });

  it("is looked for again when it could not be read", async () => {
    const clock = manualClock();
    let away = false;
    const run = await startRun({
      clock,
      wrap: (store) => ({
        ...store,
        read: (...question) =>
          away ? Promise.reject(new StorageUnavailable("away")) : store.read(...question),
      }),
    });
    await run.path.open(DEVICE);
    away = true;
    await queue(run.store, 10);
    const line = scriptedLine();
    await reply(run, 2, jid(4915001), ["an answer"]);
    await run.connect(line);
    expect(line.sent).toEqual([]);
    away = false;

    await clock.advance(5_000);

    expect(line.texts()).toContain("an answer");
  });

  it("fails in steps when the number is unlinked, and a crash in between leaves the rest for the next start", async () => {
    const folder = temporaryFolder();
    let commits = 0;
    const crashing = (store: Store): Store => ({
      ...store,
      writer: {
        ...store.writer,
        commit: (statements) =>
          ++commits > 5 ? Promise.reject(new StorageUnavailable("killed")) : store.writer.commit(statements),
      },
    });
    const before = await startRun({ folder, wrap: crashing, opens: false });
    await queue(before.store);
    await before.outbox.start();
    await before.outbox.open(DEVICE);
    commits = 0;

    await before.outbox.abandon(DEVICE);
    expect(await states(before)).toEqual({ failed: 1_000, queued: ROWS - 1_000 });
    await before.store.writer.drain();
    await before.close();
    const after = await startRun({ folder, opens: false });
    await after.store.writer.commit([{ sql: "UPDATE devices SET state = 'logged_out'", args: [] }]);
    await after.outbox.start();
    await after.outbox.open(DEVICE);

    expect(await states(after)).toEqual({ failed: ROWS });
    expect(await after.outbox.find(ACCOUNT, "W17")).toMatchObject({
      state: "failed",
      error: { code: "SENDER_NOT_CONNECTED" },
      history: [{ state: "queued" }, { state: "failed" }],
    });
  });

  it("expires as soon as it is read, where an earlier run has left it for too long", async () => {
    const run = await startRun({ opens: false });
    await queue(run.store, 300);
    await run.store.writer.commit([{ sql: "UPDATE outbox SET created_at = 0", args: [] }]);

    await run.outbox.start();
    await run.outbox.open(DEVICE);

    await until(async () => expect(await states(run)).toEqual({ expired: 300 }));
  });

  it("goes on behind a message that cannot be read any more", async () => {
    const run = await startRun();
    await queue(run.store, 1);
    await run.store.writer.commit([
      { sql: "UPDATE outbox SET chat = ?, jid = ?", args: [jid(4915001), jid(4915001)] },
    ]);
    await reply(run, 1, jid(4915001), ["behind it"]);
    const line = scriptedLine();

    await run.connect(line);

    await until(() => expect(line.texts()).toEqual(["behind it"]));
    expect(await states(run)).toMatchObject({ failed: 1 });
  });

  it("does not fail what is queued after the number was linked again", async () => {
    const run = await startRun();
    await queue(run.store, 600);
    await run.outbox.start();
    await run.outbox.open(DEVICE);

    const abandoned = run.outbox.abandon(DEVICE);
    const line = scriptedLine();
    const connected = run.connect(line);
    await until(async () => expect((await states(run)).failed ?? 0).toBeGreaterThan(0));
    await reply(run, 1, jid(4915001), ["new"]);
    await Promise.all([abandoned, connected]);

    await until(() => expect(line.texts()).toEqual(["new"]));
    await until(async () => expect(await states(run)).toEqual({ failed: 600, sent: 1 }));
  });
});
