import { until, type Apart } from "./apart.ts";
import { ANA, BEN, SHOP, type Arena } from "./arena.ts";
import type { CrashPoint, Provoke } from "./points.ts";

/** Rounds between two tries: what is held back goes on after seconds, and the longer the more often it is. */
const EVERY = 12;
let strangers = 0;

/**
 * A reply was encrypted by the commit that stored it, and could not leave or was not taken; the process ends when it is about to
 * be encrypted anew.
 *
 * @param hold what keeps the next message to Ana from being taken; what it returns is done once she has asked
 */
export const heldBack = (
  name: string,
  where: string,
  hold: (world: Apart) => Promise<void | (() => Promise<void>)>,
): CrashPoint => ({
  name,
  failpoint: "before-encrypt-anew",
  where,
  isEveryday: true,
  async run(arena) {
    const { sim } = arena.world;
    const ask = () => sim.sendText(ANA, SHOP, "ask for tea");
    arena.arm("before-encrypt-anew");
    await arena.expectDeath("before-encrypt-anew", async (round) => {
      if (round % EVERY > 0) return;
      // Whoever has been answered writes on an open session; what an earlier try holds back goes first.
      await sim.faults.clear();
      const answers = async () => (await sim.messages(ANA, { from: SHOP })).length;
      const before = await answers();
      await ask();
      await until("Ana is answered", async () => (await answers()) > before);
      await sim.settle(300_000);
      const asked = await hold(arena.world);
      await ask();
      await asked?.();
      await sim.sendText(BEN, SHOP, "ask for milk");
    });
    await sim.faults.clear();
    await arena.revive();
    return arena.settle();
  },
});

/** Somebody new is written to. */
async function newcomer({ world: { sim }, send }: Arena): Promise<string> {
  const number = `4917${String(++strangers).padStart(9, "0")}`;
  await sim.addContact(number);
  send("/send-message", { number, message: "welcome" });
  return number;
}

/** The server has named other devices than were written to; what the missed one is to be given has not left. */
export const missedDevice: CrashPoint = {
  name: "before-missed-devices",
  failpoint: "before-missed-devices",
  where: "a device has missed a message; it is not given it yet",
  async run(arena) {
    const { sim } = arena.world;
    const number = await newcomer(arena);
    await until("the welcome", async () => (await sim.messages(number, { from: SHOP })).length > 0);
    await sim.addDevice(number, { told: false });
    arena.arm("before-missed-devices");
    await arena.expectDeath("before-missed-devices", async () =>
      arena.send("/send-message", { number, message: "your table is ready" }),
    );
    // It was left out, as nobody had told of it: that it was is what this is about.
    await sim.expectViolation("device_list");
    await arena.revive();
    return arena.settle();
  },
};

/** A contact has got a token of ours, and that it has is not stored. */
export const tokenGiven = (conversation: Provoke): CrashPoint => ({
  name: "after-token-given",
  failpoint: "after-token-given",
  where: "a privacy token given; not noted",
  async run(arena, random) {
    arena.arm("after-token-given");
    await arena.expectDeath("after-token-given", async () => void (await newcomer(arena)));
    await arena.revive();
    await conversation(arena, random);
    return arena.settle();
  },
});
