import { expect, it } from "vitest";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../../src/model/time.ts";
import { StorageUnavailable } from "../../../src/store/errors.ts";
import type { Store } from "../../../src/store/store.ts";
import { rawRows } from "../store/rows.ts";
import { temporaryFolder } from "../store/temporary.ts";
import { ACCOUNT, DEVICE, hang, jid, manualClock, scriptedLine, startRun, type Run } from "./harness.ts";

const ENV = { SEND_WAIT_MS: "0", PACE_PER_MINUTE: "0" };

/** A text to one number at a time. @returns its id */
async function schedule(run: Run, number: number, text: string, sendAt?: number, notAfter?: number) {
  const [result] = await run.outbox.submit({
    deviceId: DEVICE,
    destinations: [{ number: String(number), jid: jid(number) }],
    draft: {
      kind: "text",
      text,
      ...(sendAt !== undefined && { sendAt }),
      ...(notAfter !== undefined && { notAfter }),
    },
  });
  return result!.id!;
}

const stateOf = async (run: Run, id: string): Promise<unknown> =>
  (await rawRows(run.store, "SELECT state FROM outbox WHERE wa_id = ?", [id]))[0]!["state"];

it("leaves in the order of its times, of one chat in the order in which it was asked for, however many are due", async () => {
  const clock = manualClock();
  const run = await startRun({ clock, env: ENV });
  const line = scriptedLine();
  await run.connect(line);
  const nine = clock.now() + MINUTE_MS;
  for (let at = 0; at < 450; at++)
    await schedule(run, 4915100000 + (at % 50), `${Math.floor(at / 50)}`, nine);
  const now = await schedule(run, 4915100000, "now");
  await clock.advance(10);
  expect(line.texts()).toEqual(["now"]);
  expect(await stateOf(run, now)).toBe("sent");

  await clock.advance(MINUTE_MS + 2 * SECOND_MS);
  expect(line.sent).toHaveLength(451);
  for (const chat of [4915100000, 4915100049])
    expect(line.texts(jid(chat)).filter((text) => text !== "now")).toEqual(
      Array.from({ length: 9 }, (_, n) => `${n}`),
    );
  await clock.advance(MINUTE_MS);
  expect(line.sent).toHaveLength(451);
});

it("waits over the end of the gateway, a month long, and leaves once", async () => {
  const clock = manualClock();
  const folder = temporaryFolder();
  const first = await startRun({ clock, folder, env: ENV });
  const id = await schedule(first, 4915100000, "Happy birthday", clock.now() + MINUTE_MS);
  await first.close();

  const lines = [scriptedLine(), scriptedLine()];
  for (const [index, line] of lines.entries()) {
    const later = manualClock(clock.now() + (30 + index) * DAY_MS);
    const run = await startRun({ clock: later, folder, env: ENV });
    await run.connect(line);
    await later.advance(2 * SECOND_MS);
    const { history } = (await run.outbox.find(ACCOUNT, id))!;
    expect(history.map(({ state }) => state)).toEqual(["scheduled", "queued", "sent"]);
    await run.close();
  }
  expect(lines.map(({ sent }) => sent.length)).toEqual([1, 0]);
});

it.each(["away", "off", "off since"])(
  "leaves in the order of the times, in whichever order it was asked for, when the number is %s",
  async (how) => {
    const folder = temporaryFolder();
    let clock = manualClock();
    let run = await startRun({ clock, folder, env: ENV });
    const restart = async (): Promise<void> => {
      await run.close();
      clock = manualClock(clock.now());
      run = await startRun({ clock, folder, env: ENV });
    };
    const start = clock.now();
    for (const minutes of [3, 1, 2, 1])
      await schedule(run, 4915100000, `after ${minutes}`, start + minutes * MINUTE_MS);
    if (how === "off since") {
      await run.close();
      clock = manualClock(start + 30 * DAY_MS);
      run = await startRun({ clock, folder, env: ENV });
    } else {
      await clock.advance(2.5 * MINUTE_MS);
      await schedule(run, 4915100000, "at once");
      await clock.advance(MINUTE_MS);
    }
    if (how === "off") await restart();
    const line = scriptedLine();
    await run.connect(line);
    await clock.advance(2 * SECOND_MS);
    const others = how === "off since" ? [] : ["at once"];
    expect(line.texts()).toEqual(["after 1", "after 1", "after 2", ...others, "after 3"]);
  },
);

it("has a key in the queue that no later message gets, though its row is deleted", async () => {
  const clock = manualClock();
  const run = await startRun({ clock, env: ENV });
  const id = await schedule(run, 4915100000, "Later", clock.now() + MINUTE_MS);
  const keyOf = async (waId: string): Promise<number> =>
    Number((await rawRows(run.store, "SELECT id FROM outbox WHERE wa_id = ?", [waId]))[0]!["id"]);
  const asked = await keyOf(id);
  await clock.advance(MINUTE_MS + 2 * SECOND_MS);
  const queued = await keyOf(id);
  expect(queued).toBeGreaterThan(asked);
  await run.store.writer.commit([{ sql: "DELETE FROM outbox", args: [] }]);
  expect(await keyOf(await schedule(run, 4915100000, "Next"))).toBeGreaterThan(queued);
});

it("is not sent by a clock that is doubted", async () => {
  const clock = manualClock();
  let trusted = false;
  const wrap = (store: Store): Store => ({ ...store, clock: { ...store.clock, isTrusted: () => trusted } });
  const run = await startRun({ clock, wrap, env: ENV });
  const line = scriptedLine();
  await run.connect(line);
  await schedule(run, 4915100000, "Later", clock.now() + MINUTE_MS);
  await clock.advance(2 * MINUTE_MS);
  expect(line.sent).toEqual([]);
  trusted = true;
  await clock.advance(2 * SECOND_MS);
  expect(line.texts()).toEqual(["Later"]);
});

it("expires when its time is over, whether the number is there or not, but not once it is on its way", async () => {
  const clock = manualClock();
  const run = await startRun({ clock, env: ENV });
  const away = await schedule(run, 4915100000, "Away", undefined, clock.now() + MINUTE_MS);
  await clock.advance(MINUTE_MS + 2 * SECOND_MS);
  expect(await stateOf(run, away)).toBe("expired");

  const line = scriptedLine(hang);
  await run.connect(line);
  const leaving = await schedule(run, 4915100001, "Leaving", undefined, clock.now() + MINUTE_MS);
  const behind = await schedule(run, 4915100001, "Behind", undefined, clock.now() + MINUTE_MS);
  await clock.advance(MINUTE_MS + 2 * SECOND_MS);
  expect(line.texts()).toEqual(["Leaving"]);
  expect([await stateOf(run, leaving), await stateOf(run, behind)]).toEqual(["queued", "expired"]);
});

it("leaves although nobody heard that it was queued", async () => {
  const clock = manualClock();
  let deaf = false;
  const wrap = (store: Store): Store => ({
    ...store,
    writer: {
      ...store.writer,
      async commit(statements, options) {
        const results = await store.writer.commit(statements, options);
        if (!deaf || !statements.some(({ sql }) => sql.includes("scheduled_at"))) return results;
        deaf = false;
        throw new StorageUnavailable("The answer was lost.");
      },
    },
  });
  const run = await startRun({ clock, wrap, env: ENV });
  const line = scriptedLine();
  await run.connect(line);
  await schedule(run, 4915100000, "Later", clock.now() + MINUTE_MS);
  deaf = true;
  await clock.advance(MINUTE_MS + 5 * SECOND_MS);
  expect(line.texts()).toEqual(["Later"]);
  expect(deaf).toBe(false);
});

it("fails at its time when the number was logged out meanwhile", async () => {
  const clock = manualClock();
  const run = await startRun({ clock, env: ENV });
  const id = await schedule(run, 4915100000, "Later", clock.now() + MINUTE_MS);
  await run.store.writer.commit([{ sql: "UPDATE devices SET state = 'logged_out'", args: [] }]);
  await clock.advance(MINUTE_MS + 2 * SECOND_MS);
  expect(await stateOf(run, id)).toBe("failed");
});

it("is changed in its place, and cancelled, unless it may have left", async () => {
  const clock = manualClock();
  const run = await startRun({ clock, env: ENV });
  const [wrong, never] = [await schedule(run, 4915100000, "Wrng"), await schedule(run, 4915100000, "Never")];
  await schedule(run, 4915100000, "Last");
  const changed = run.outbox.rewrite(DEVICE, wrong, "Right");
  const line = scriptedLine();
  await run.connect(line);
  expect(await changed).toBe(true);
  expect(await run.outbox.cancel(DEVICE, never)).toBe(true);
  await clock.advance(10);
  expect(line.texts()).toEqual(["Right", "Last"]);
  expect(await run.outbox.rewrite(DEVICE, wrong, "Too late")).toBe(false);

  const tried = scriptedLine(() => ({ kind: "unknown", reason: "no answer" }));
  await run.connect(tried);
  const uncertain = await schedule(run, 4915100000, "Tried");
  await clock.advance(10);
  expect(tried.texts()).toEqual(["Tried"]);
  expect(await run.outbox.rewrite(DEVICE, uncertain, "Other")).toBe(false);
  expect(await run.outbox.cancel(DEVICE, uncertain)).toBe(false);
});
