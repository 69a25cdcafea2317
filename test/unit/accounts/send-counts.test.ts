import { expect, it } from "vitest";
import { createSendCounts } from "../../../src/accounts/send-counts.ts";
import type { Store } from "../../../src/store/store.ts";
import { temporaryStore } from "../store/temporary.ts";

const MIDNIGHT = Date.UTC(2026, 10, 21);
const MINUTE = 60_000;
const ACCOUNT = "a1";
let rows = 0;

const send = (at: number, origin = "api") => ({
  sql: `INSERT INTO outbox (device_id, wa_id, chat, jid, number, kind, origin, is_reply, body, created_at)
VALUES (1, ?, 'c', 'j', '1', 'text', ?, 0, x'00', ?)`,
  args: [`W${++rows}`, origin, at],
});

async function setUp() {
  const clock = { now: MIDNIGHT };
  const store = await temporaryStore({}, () => clock.now);
  const ranges: [from: number, to: number][] = [];
  const watched: Pick<Store, "readOne" | "now"> = {
    now: store.now,
    readOne: (query, args) => {
      ranges.push([Number(args![1]), Number(args![2])]);
      return store.readOne(query, args);
    },
  };
  await store.writer.commit([
    {
      sql: "INSERT INTO devices (id, account_id, number, state, since, created_at) VALUES (1, ?, '1', 'connected', 0, 0)",
      args: [ACCOUNT],
    },
  ]);
  return { clock, store, ranges, counts: createSendCounts(watched) };
}

it("a day's sends are counted in slices, each once, and none twice or not at all", async () => {
  const { clock, store, ranges, counts } = await setUp();
  const times = Array.from({ length: 500 }, (_, n) => MIDNIGHT + n * 2.5 * MINUTE);
  // On both sides of the ends of slices, and of the day.
  const edges = [0, 10 * MINUTE - 1, 10 * MINUTE, 20 * MINUTE].map((ms) => MIDNIGHT + ms);
  await store.writer.commit([
    ...[...times, ...edges].map((at) => send(at)),
    send(MIDNIGHT - 1),
    send(MIDNIGHT + MINUTE, "bot:menu"),
  ]);
  clock.now = MIDNIGHT + 23 * 60 * MINUTE;

  expect(await counts.ofToday(ACCOUNT)).toBe(504);
  for (const [from, to] of ranges.slice(0, -1)) expect(to - from).toBe(10 * MINUTE);
  ranges.length = 0;
  await store.writer.commit([send(clock.now), send(clock.now - 30_000)]);

  expect(await counts.ofToday(ACCOUNT)).toBe(506);
  expect(ranges).toHaveLength(1);
  expect(clock.now - ranges[0]![0]).toBeLessThanOrEqual(11 * MINUTE);
  clock.now = MIDNIGHT + 24 * 60 * MINUTE;
  expect(await counts.ofToday(ACCOUNT)).toBe(0);
});

it("a clock that was set back has them counted anew", async () => {
  const { clock, store, counts } = await setUp();
  clock.now = MIDNIGHT + 60 * MINUTE;
  await store.writer.commit([send(MIDNIGHT + 5 * MINUTE), send(MIDNIGHT + 55 * MINUTE)]);
  expect(await counts.ofToday(ACCOUNT)).toBe(2);
  clock.now = MIDNIGHT + 10 * MINUTE;
  await store.writer.commit([send(clock.now)]);
  expect(await counts.ofToday(ACCOUNT)).toBe(3);
});
