import { expect, it } from "vitest";
import type { SimulatorOptions } from "../../src/simulator/index.ts";
import { Client, link, simulate, until } from "./_setup.ts";

const NUMBER = "31600000001";
const CONTACT = "31611111111";

/** The service's time, which only the test moves. */
function movableTime() {
  let now = Date.now();
  let timers: { at: number; run: () => void }[] = [];
  const time: NonNullable<SimulatorOptions["time"]> = {
    now: () => now,
    after(ms, run) {
      const timer = { at: now + ms, run };
      timers.push(timer);
      return () => void (timers = timers.filter((other) => other !== timer));
    },
  };
  const move = (ms: number): void => {
    now += ms;
    const due = timers.filter(({ at }) => at <= now);
    timers = timers.filter((timer) => !due.includes(timer));
    for (const { run } of due) run();
  };
  return { time, move };
}

it("ends a QR text's life, and then the connection, when its time moves", async () => {
  const { time, move } = movableTime();
  const sim = await simulate({ time, qrRefs: 1, qrFirstMs: 60_000 });
  await sim.addNumber(NUMBER);
  const client = new Client(sim);
  const qr = await until("QR", () => client.qrs.at(-1));

  move(60_001);
  await expect(sim.scan(NUMBER, qr)).rejects.toThrow("404");
  expect(client.closeCodes).toEqual([]);
  move(10_000);
  await client.untilClosed();

  expect(client.closeCodes).toHaveLength(1);
});

it("holds acks back for as long as its time stands still", async () => {
  const { time, move } = movableTime();
  const sim = await simulate({ time });
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  const client = await link(sim, NUMBER);
  await sim.faults.delayAcks({ number: NUMBER, ms: 3_600_000 });

  const saying = client.say(contact.jid, "hello");
  await contact.waitForMessage({ text: "hello" });
  const early = await sim.countStanzas({ number: NUMBER, device: 1, tag: "ack", direction: "out" });
  move(3_600_000);
  const { ack, id } = await saying;

  expect(ack?.attrs.id).toBe(id);
  const late = await sim.countStanzas({ number: NUMBER, device: 1, tag: "ack", direction: "out" });
  expect(late - early).toBeGreaterThan(0);
});
