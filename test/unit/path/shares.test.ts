import { describe, expect, it } from "vitest";
import type { BotDefinition } from "../../../src/bot/types.ts";
import { createReadings } from "../../../src/path/reading.ts";
import type { OwnReading } from "../../../src/whatsapp/port.ts";
import { text } from "../pipeline/harness.ts";
import { until } from "../outbox/harness.ts";
import { silentLog } from "../store/temporary.ts";
import { loadConfig } from "../../../src/config.ts";
import { NO_INTAKE } from "../../../src/store/write/intake.ts";
import { startPath } from "./harness.ts";

const TIMERS = 1_000;

const reminding: BotDefinition = {
  routes(b) {
    b.timer("due", () => undefined);
    b.command("set", (ctx) => {
      for (let id = 0; id < Number(ctx.match.args[0]); id++) ctx.after("5m", "due", id, { id: String(id) });
    });
  },
};

describe("timers of bots", () => {
  it(`of a number with ${TIMERS} that are due delay those of another number by a few of them alone`, async () => {
    const run = await startPath({ bots: { reminding } });
    const now = { timestamp: Math.floor(run.clock.now() / 1000) };
    for (const deviceId of [1, 2]) await run.path.open(deviceId);
    await run.receive(1, text(4915001, `/set ${TIMERS}`, now));
    await run.receive(2, text(4915002, "/set 1", now));
    const timers = (deviceId: number) =>
      run.count(`SELECT count(*) AS n FROM bot_timers WHERE device_id = ${deviceId}`);
    await until(async () => {
      expect(await timers(1)).toBe(TIMERS);
      expect(await timers(2)).toBe(1);
    });

    run.path.start();
    const fired = "SELECT count(*) AS n FROM inbox WHERE wa_id LIKE 'timer:%'";
    await until(async () => {
      await run.clock.advance(60_000);
      expect(await run.count(fired)).toBe(TIMERS + 1);
    });
    const before = `${fired} AND id < (SELECT id FROM inbox WHERE wa_id LIKE 'timer:%' AND device_id = 2)`;
    expect(await run.count(before)).toBeLessThan(TIMERS / 10);
  });
});

describe("what owners read on their phones", () => {
  const reading = (id: string): OwnReading => ({ jid: "4915001@s.whatsapp.net", waIds: [id], at: 0 });

  it("is told in its order for each number, and a number that waits holds up no other", async () => {
    const run = await startPath();
    const told: string[] = [];
    let go!: () => void;
    const gate = new Promise<void>((resolve) => (go = resolve));
    const readingsOf = (deviceId: number) =>
      createReadings({
        deviceId,
        store: run.store,
        log: silentLog(loadConfig({ LOG_LEVEL: "silent" })),
        async canonicalChat(_deviceId, jid) {
          if (deviceId === 1) await gate;
          return jid;
        },
        notices: { read: async () => NO_INTAKE },
        observe: ({ waId }) => void told.push(`${deviceId} ${waId}`),
      });
    const [one, two] = [readingsOf(1), readingsOf(2)];
    const slow = [one.read(reading("A")), one.read(reading("B"))];
    await two.read(reading("C"));
    expect(told).toEqual(["2 C"]);
    go();
    await Promise.all(slow);
    expect(told).toEqual(["2 C", "1 A", "1 B"]);
  });
});
