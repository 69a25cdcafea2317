import { expect, it } from "vitest";
import { DAY_MS, HOUR_MS, SECOND_MS } from "../../../src/model/time.ts";
import { rawRows } from "../store/rows.ts";
import { temporaryFolder } from "../store/temporary.ts";
import { DEVICE, jid, manualClock, scriptedLine, startRun, type ManualClock, type Run } from "./harness.ts";

const ENV = { SEND_WAIT_MS: "0", PACE_PER_MINUTE: "0", WARM_UP: "on" };
const FIRST = 4915100000;

async function linkAt(run: Run, at: number | null): Promise<void> {
  await run.store.writer.commit([
    { sql: "UPDATE devices SET linked_at = ? WHERE id = ?", args: [at, DEVICE] },
  ]);
}

/** Somebody has written to the number. */
const meet = (run: Run, number: number, at: number) =>
  run.store.writer.commit([
    {
      sql: "INSERT INTO chat_state (device_id, chat, last_incoming_at) VALUES (?, ?, ?)",
      args: [DEVICE, jid(number), at],
    },
  ]);

async function send(run: Run, numbers: number[], text = "Hello"): Promise<void> {
  for (const number of numbers)
    await run.outbox.submit({
      deviceId: DEVICE,
      destinations: [{ number: String(number), jid: jid(number) }],
      draft: { kind: "text", text },
    });
}

const strangers = (count: number, from = 0): number[] =>
  Array.from({ length: count }, (_, index) => FIRST + from + index);

async function openRun(
  clock: ManualClock,
  options: { folder?: string; env?: Record<string, string>; linkedAt?: number | null } = {},
) {
  const { linkedAt = clock.now(), folder, env = ENV } = options;
  const run = await startRun({ clock, env, ...(folder !== undefined && { folder }) });
  await linkAt(run, linkedAt);
  const line = scriptedLine();
  await run.connect(line);
  await clock.advance(0);
  return { run, line };
}

it("lets 20 strangers hear from the number on its first day, 20 more each day, and all of them from the eleventh on", async () => {
  const clock = manualClock();
  const { run, line } = await openRun(clock);
  await send(run, strangers(300));
  await clock.advance(SECOND_MS);
  expect(line.sent).toHaveLength(20);
  expect(run.path.holdups(DEVICE).warmUp).toEqual({
    day: 1,
    limit: 20,
    used: 20,
    resetsAt: clock.now() - SECOND_MS + DAY_MS,
  });
  await clock.advance(23 * HOUR_MS);
  expect(line.sent).toHaveLength(20);
  await clock.advance(HOUR_MS);
  expect(line.sent).toHaveLength(60);
  await clock.advance(DAY_MS);
  expect(line.sent.map(({ jid: to }) => to)).toEqual(strangers(120).map(jid));

  const { run: older, line: free } = await openRun(manualClock(), {
    linkedAt: manualClock().now() - 10 * DAY_MS,
  });
  await send(older, strangers(300));
  await expect.poll(() => free.sent.length).toBe(300);
  expect(older.path.holdups(DEVICE).warmUp).toBeNull();
});

it("holds back nobody who is known, no group, no reply and no other number without the setting", async () => {
  const clock = manualClock();
  const { run, line } = await openRun(clock);
  const known = strangers(5, 1_000);
  for (const number of known) await meet(run, number, clock.now() - 30 * DAY_MS);
  await send(run, strangers(25));
  await clock.advance(SECOND_MS);
  await send(run, [...known, FIRST], "Again");
  const group = "120363000000000001@g.us";
  await run.outbox.submit({
    deviceId: DEVICE,
    destinations: [{ number: group, jid: group }],
    draft: { kind: "text", text: "To all" },
  });
  await clock.advance(SECOND_MS);
  const later = line.sent.slice(20).map(({ jid: to }) => to);
  expect(later.toSorted()).toEqual([...known.map(jid), jid(FIRST), group].toSorted());

  const { run: without, line: open } = await openRun(manualClock(), {
    env: { ...ENV, WARM_UP: "off" },
  });
  await send(without, strangers(25));
  await expect.poll(() => open.sent.length).toBe(25);
});

it("lets what is held leave when the person writes first, before what is sent then", async () => {
  const clock = manualClock();
  const { run, line } = await openRun(clock);
  await send(run, strangers(21));
  await clock.advance(SECOND_MS);
  const last = FIRST + 20;
  await meet(run, last, clock.now());
  await send(run, [last], "An answer");
  await clock.advance(SECOND_MS);
  expect(line.texts(jid(last))).toEqual(["Hello", "An answer"]);
});

it("takes nothing of the pace for those that are held, and remembers over a restart what was used", async () => {
  const clock = manualClock();
  const folder = temporaryFolder();
  const env = { ...ENV, PACE_PER_MINUTE: "1" };
  const linkedAt = clock.now();
  const first = await openRun(clock, { folder, env });
  await send(first.run, strangers(12));
  await clock.advance(SECOND_MS);
  expect(first.line.sent).toHaveLength(12);
  await first.run.close();

  // An hour: the pace has given its tokens back.
  const later = manualClock(clock.now() + HOUR_MS);
  const second = await openRun(later, { folder, env, linkedAt });
  await send(second.run, strangers(50, 100));
  await later.advance(SECOND_MS);
  expect(second.line.sent).toHaveLength(8);
  await meet(second.run, FIRST + 500, later.now() - 2 * DAY_MS);
  await send(second.run, [FIRST + 500]);
  await later.advance(SECOND_MS);
  expect(second.line.sent.at(-1)!.jid).toBe(jid(FIRST + 500));
  const used = "SELECT sum(used) AS used FROM allowance_uses WHERE kind = 'first_contacts'";
  expect(await rawRows(second.run.store, used)).toMatchObject([{ used: 20 }]);
});

it("begins anew when the number is linked anew", async () => {
  const clock = manualClock();
  const { run, line } = await openRun(clock, { linkedAt: clock.now() - 20 * DAY_MS });
  await send(run, strangers(30));
  await clock.advance(SECOND_MS);
  expect(line.sent).toHaveLength(30);
  await linkAt(run, clock.now());
  await send(run, strangers(30, 100));
  await clock.advance(SECOND_MS);
  expect(line.sent).toHaveLength(50);
});
