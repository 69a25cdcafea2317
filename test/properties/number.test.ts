import * as fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FOREIGN, NumberRun, OWN } from "./number-run.ts";
import { commandRuns, runs, TIME_LIMIT_MS } from "./runs.ts";

type Step = fc.AsyncCommand<object, NumberRun>;

/** After these nobody connects again before the number's owner asks for it. */
const FINAL = new Set([401, 403, 411, 419, 440]);

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date", "performance"],
  });
});
afterEach(() => void vi.useRealTimers());

function step(name: string, run: (world: NumberRun) => unknown): Step {
  return {
    toString: () => name,
    check: () => true,
    async run(_model, world) {
      await run(world);
      await world.pass(0);
      expect(world.contradictions().join("; ")).toBe("");
    },
  };
}

function close(world: NumberRun, code: number, reason?: string): void {
  const { phone } = world;
  if (phone.live.length === 0) return;
  const isForeign = phone.credentials?.number === FOREIGN;
  // What is done about a foreign number is another matter.
  if (FINAL.has(code) && !isForeign) phone.forbidden = code;
  phone.close(code, reason);
}

const steps = [
  fc.tuple(fc.boolean(), fc.constantFrom("qr" as const, "code" as const)).map(([force, method]) => {
    return step(`link(${method}${force ? ", force" : ""})`, (world) => world.link(force, method));
  }),
  fc.constant(step("QR", ({ phone }) => phone.showQr())),
  fc.constant(step("QR, scan", ({ phone }) => (phone.showQr(), phone.scan(OWN)))),
  fc.constant(step("QR, scan by a foreign number", ({ phone }) => (phone.showQr(), phone.scan(FOREIGN)))),
  fc.constant(step("log in", ({ phone }) => phone.logIn())),
  fc.constant(step("link, QR, scan, log in", linkWholly)),
  fc.constantFrom(...FINAL).map((code) =>
    step(`linked, close(${code}), wait`, async (world) => {
      await linkWholly(world);
      await world.pass(0);
      close(world, code);
      await world.pass(2_000);
    }),
  ),
  fc.constant(
    step("link, QR, scan by a foreign number, kill, log in", async (world) => {
      await world.link(true);
      world.phone.showQr();
      world.phone.scan(FOREIGN);
      await world.restart(false);
      await world.pass(100);
      world.phone.logIn();
    }),
  ),
  fc
    .constantFrom(0, 401, 403, 405, 408, 411, 419, 428, 440, 500, 503, 515)
    .map((code) => step(`close(${code})`, (world) => close(world, code))),
  fc.constant(step("QR codes used up", (world) => close(world, 408, "QR refs attempts ended"))),
  fc.constantFrom("open" as const, "closed" as const, "qr" as const).map((what) => {
    return step(`late ${what}`, ({ phone }) => phone.echo(what));
  }),
  fc.constant(step("the next connection fails", ({ phone }) => void (phone.broken = true))),
  fc.constant(step("logout", (world) => world.logout())),
  fc.boolean().map((clean) => {
    return step(clean ? "restart" : "kill", async (world) => {
      // A restart is the cure that the advice names for 405 and 411.
      if (world.state === "action_required") world.phone.forbidden = null;
      await world.restart(clean);
      await world.pass(100);
    });
  }),
  fc.constantFrom(100, 2_000, 65_000, 700_000).map((ms) => step(`wait(${ms})`, (world) => world.pass(ms))),
];

async function linkWholly(world: NumberRun): Promise<void> {
  await world.link();
  world.phone.showQr();
  await world.pass(0);
  world.phone.scan(OWN);
  await world.pass(1_000);
  world.phone.logIn();
}

/** Whatever has happened: asking for a QR ends with one, or with a number that is connected. */
async function comesBack(world: NumberRun): Promise<void> {
  world.phone.broken = false;
  for (let round = 0; round < 20 && !world.isConnected; round++) {
    // A refused version is tried again by itself, and by nobody's asking.
    if (world.state === "action_required") await world.pass(700_000);
    const answer = await world.link();
    world.phone.logIn();
    await world.pass(1_000);
    if (world.phone.current?.kind !== "registration") continue;
    world.phone.showQr();
    await world.pass(0);
    expect(answer === null || (await world.link())?.state === "qr").toBe(true);
    world.phone.scan(OWN);
    await world.pass(1_000);
    world.phone.logIn();
    await world.pass(0);
  }
  expect(world.contradictions().join("; ")).toBe("");
}

it(
  "a number: never contradictory, never two connections, never back by itself after 401, 403 or 440, always linkable",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands(steps, commandRuns(30)), async (commands) => {
        const world = new NumberRun();
        await world.start();
        try {
          await fc.asyncModelRun(() => ({ model: {}, real: world }), commands);
          await comesBack(world);
          expect(world.state).toBe("connected");
        } finally {
          await world.close();
        }
      }),
      runs(15),
    );
  },
  TIME_LIMIT_MS,
);
