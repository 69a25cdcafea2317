import { describe, expect, it } from "vitest";
import type { BotDefinition } from "../../../src/bot/types.ts";
import { DAY_MS } from "../../../src/model/time.ts";
import { createSilentSessions } from "../../../src/bot/sessions/silent-sessions.ts";
import type { Statement } from "../../../src/model/statement.ts";
import { jid, rest, until } from "../outbox/harness.ts";
import { echo, text } from "../pipeline/harness.ts";
import { scansOf, watchStatements } from "../store/query-plan.ts";
import { begunFolder } from "../store/temporary.ts";
import { startPath, type PathRun } from "./harness.ts";
import { rawRows } from "../store/rows.ts";

const UNDECIDED = "SELECT count(*) AS n FROM inbox WHERE state = 'pending'";
const now = (run: PathRun): { timestamp: number } => ({ timestamp: Math.floor(run.clock.now() / 1000) });

describe("a number", () => {
  it("that is not open has its messages stored, and answered once it is; others go on", async () => {
    const run = await startPath({ answerers: [echo()] });
    await run.path.open(2);

    await run.receive(1, text(4915001, "one", now(run)));
    await run.receive(2, text(4915002, "two", now(run)));
    await until(() => expect(run.line.texts()).toEqual(["re: two"]));
    expect(await run.count(UNDECIDED)).toBe(1);

    await run.path.open(1);
    await until(() => expect(run.line.texts()).toEqual(["re: two", "re: one"]));
  });

  it("that is closed is begun nothing of, and goes on where it was when it is opened again", async () => {
    const run = await startPath({ answerers: [echo()] });
    await run.path.open(1);
    await run.receive(1, text(4915001, "one", now(run)));
    await until(() => expect(run.line.texts()).toEqual(["re: one"]));

    await run.path.close(1);
    await run.receive(1, text(4915001, "two", now(run)));
    await rest();
    expect(await run.count(UNDECIDED)).toBe(1);

    await run.path.open(1);
    await until(() => expect(run.line.texts()).toEqual(["re: one", "re: two"]));
  });

  it("has its timers run while it is open, and those of another process are left alone", async () => {
    const folder = await begunFolder();
    const later: BotDefinition = {
      routes(b) {
        b.timer("ready", (ctx) => ctx.reply(`ready ${ctx.chat.id}`));
        b.keyword("go", (ctx) => ctx.after("1h", "ready"));
      },
    };
    const first = await startPath({ folder, bots: { later } });
    for (const deviceId of [1, 2]) {
      await first.path.open(deviceId);
      await first.receive(deviceId, text(4915000 + deviceId, "go", now(first)));
    }
    await until(async () => expect(await first.count("SELECT count(*) AS n FROM bot_timers")).toBe(2));
    await first.end();

    const run = await startPath({ folder, clock: first.clock, bots: { later } });
    await run.path.open(2);
    run.path.start();
    await until(async () => {
      await run.clock.advance(10 * 60_000);
      expect(run.line.texts()).toEqual([`ready ${jid(4915002)}`]);
    });
    expect(await run.count("SELECT count(*) AS n FROM bot_timers")).toBe(1);

    await run.path.open(1);
    await until(async () => {
      await run.clock.advance(1_000);
      expect(run.line.texts()).toContain(`ready ${jid(4915001)}`);
    });
  });
});

describe("what a chat remembers", () => {
  it("is written at most once a minute while nothing else changes", async () => {
    const units: string[] = [];
    const run = await startPath({
      answerers: [echo()],
      wrap: (store) => ({
        ...store,
        writer: {
          ...store.writer,
          commit(statements) {
            units.push(...statements.map(({ sql }) => sql).filter((sql) => sql.includes("chat_state (")));
            return store.writer.commit(statements);
          },
        },
      }),
    });
    await run.path.open(1);
    for (let second = 0; second < 130; second += 10) {
      await run.receive(1, text(4915001, `at ${second}`, now(run)));
      await until(async () => expect(await run.count(UNDECIDED)).toBe(0));
      await run.clock.advance(10_000);
    }

    expect(units.filter((sql) => sql.startsWith("INSERT INTO chat_state"))).toHaveLength(3);
  });
});

describe("statements of the way of a message", () => {
  it("read no growing table from end to end: a start, a message, a timer", async () => {
    let seen: Statement[] = [];
    const run = await startPath({
      answerers: [echo()],
      wrap(store) {
        const watched = watchStatements(store);
        seen = watched.seen;
        return watched.store;
      },
    });
    await run.path.open(1);
    run.path.start();
    await run.receive(1, text(4915001, "hello", now(run)));
    await until(() => expect(run.line.texts()).toEqual(["re: hello"]));
    await run.clock.advance(31_000);

    const ours = seen.filter(({ sql }) => /inbox|decisions|bot_|chat_state/.test(sql));
    expect(ours.length).toBeGreaterThan(10);
    for (const statement of ours) {
      // A step lives as long as its message waits: `bot_steps` never holds more.
      const scans = await scansOf(run.store, statement);
      const growing = scans.filter((step) => !/bot_steps|bot_bindings/.test(step));
      expect({ sql: statement.sql, scans: growing }).toEqual({ sql: statement.sql, scans: [] });
    }
  });
});

describe("sessions without an end", () => {
  it("end with a chat in which nobody has written for a year, and no sooner", async () => {
    const run = await startPath();
    const { store, clock, path } = run;
    const year = 365 * DAY_MS;
    const save = (chat: string) =>
      path.state.saveSession(
        1,
        "shop",
        { key: chat, alias: null },
        {
          version: 1,
          value: { n: 1 },
          locale: null,
          expiresAt: null,
        },
      );
    const wrote = (chat: string, at: number) => ({
      sql: "INSERT INTO chat_state (device_id, chat, last_incoming_at) VALUES (1, ?, ?)",
      args: [chat, at],
    });
    await store.writer.commit([
      ...["silent", "spoken", "group@g.us|silent", "group@g.us|spoken"].flatMap(save),
      wrote("spoken", clock.now() + 2 * DAY_MS),
      wrote("silent", clock.now()),
    ]);
    await clock.advance(year + DAY_MS);
    await store.writer.commit(save("fresh"));

    const silent = createSilentSessions(store);
    await silent.step(clock.now());

    const left = await rawRows(store, "SELECT scope FROM bot_sessions ORDER BY scope", []);
    expect(left.map(({ scope }) => scope)).toEqual(["fresh", "spoken"]);
    // And round again from the beginning.
    await silent.step(clock.now());
    await silent.step(clock.now() + year);
    expect(await run.count("SELECT count(*) AS n FROM bot_sessions")).toBe(0);
  });
});
