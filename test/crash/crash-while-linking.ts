import type { FailpointName } from "../../src/model/failpoint.ts";
import { ok, until } from "./apart.ts";
import { ANA, BEN, repliesDue, type Arena } from "./arena.ts";
import type { CrashPoint } from "./points.ts";

let linked = 0;

/**
 * A new number is being linked when the process ends. Afterwards it either comes online by itself, or its owner scans
 * once more, after removing what the phone shows; then people write to it, who all take new pre-keys.
 *
 * @param passes how often at most the place is come to before that
 */
export function crashWhileLinking(failpoint: FailpointName, where: string, passes = 1): CrashPoint {
  return {
    name: failpoint,
    failpoint,
    where,
    async run(arena, random) {
      const number = `3162${String(++linked).padStart(7, "0")}`;
      const { sim, gateway, key } = arena.world;
      await sim.addNumber(number);
      const qr = await firstQr(arena, number);
      arena.arm(failpoint, 1 + Math.floor(random() * passes));
      // The phone's part may end with the connection.
      const scanned = sim.scan(number, qr).catch(() => undefined);
      await arena.expectDeath(failpoint, async () => undefined);
      await scanned;
      await arena.revive();

      await comeOnline(arena, number);
      await sim.sendText(ANA, number, "hello");
      await sim.sendText(BEN, number, "order");
      const message = { sender: number, number: ANA, message: "we are back" };
      const sent = ok(await gateway.post("/send-message", message, { key }));
      const verdict = await arena.settle({
        numbers: [number],
        replies: repliesDue,
        sends: 1,
        accepted: [sent.body["id"]],
        channels: [],
      });
      ok(await gateway.delete(`/devices/${number}`, { key }));
      return verdict;
    },
  };
}

async function firstQr({ world: { gateway, key } }: Arena, number: string): Promise<string> {
  let qr = "";
  await until(`a QR for ${number}`, async () => {
    const { body } = await gateway.post("/generate-qr", { device: number }, { key });
    qr = body["qr"] ?? "";
    return qr !== "";
  });
  return qr;
}

async function comeOnline({ world }: Arena, number: string): Promise<void> {
  const { sim, gateway, key } = world;
  let scanned = "";
  await until(`${number} is online`, async () => {
    const { body } = await gateway.post("/generate-qr", { device: number }, { key });
    if (body["state"] === "qr" && body["qr"] !== scanned) {
      scanned = body["qr"];
      for (const { device } of await sim.companions(number)) await sim.logoutCompanion(number, device);
      await sim.scan(number, scanned);
    }
    return body["state"] === "connected";
  });
  await world.online(number);
}
