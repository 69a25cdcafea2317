import { expect } from "vitest";
import { startSimulator } from "../../src/simulator/index.ts";
import type { NumberOptions, Simulator, SimulatorOptions } from "../../src/simulator/types.ts";
import { freePort } from "./free-port.ts";
import { certificatesOfTests, giveBack, takeIdle } from "./gateways-again.ts";
import { startGateway, type Gateway } from "./gateway.ts";
import { scanning } from "./scanning.ts";

/** A gateway, an offline WhatsApp, and an account with a key: what a test from the outside needs. */
export interface World {
  sim: Simulator;
  gateway: Gateway;
  account: string;
  key: string;
  /** Links a number as a user does: asks for the QR over HTTP, the owner's phone scans it, waits until connected. */
  link(number: string, options?: NumberOptions & { key?: string }): Promise<void>;
  /** The number is online at the simulator, and the gateway itself takes it for connected: it hears of it a little later. */
  online(number: string, timeoutMs?: number): Promise<void>;
  bindBots(number: string, ...ids: string[]): Promise<void>;
}

export interface WorldOptions {
  /** Default: a folder of the gateway's own, removed at the end. */
  dataDir?: string;
  env?: Record<string, string>;
  simulator?: SimulatorOptions;
  /**
   * The gateway may have served earlier tests of the file: a start costs more than most tests. The simulator and the account
   * are new, and what earlier tests had is erased. Not for tests that count what the gateway has or has written.
   */
  again?: boolean;
}

interface Started {
  sim: Simulator;
  gateway?: Gateway;
  /** Under which settings the gateway may be used again. */
  again?: string;
}
const open = new Set<Started>();
const kept = new WeakMap<World, Started>();

/** Ends what a test started, see `gateway-hooks.ts`. A test whose client did something that WhatsApp would refuse has failed. */
export async function endWorlds(): Promise<void> {
  const worlds = [...open];
  open.clear();
  for (const started of worlds) await close(started);
}

async function close({ sim, gateway, again }: Started): Promise<void> {
  if (gateway && again !== undefined) await giveBack(again, gateway, sim);
  else await gateway?.dispose();
  const found = await sim.violations();
  await sim.stop();
  // oxlint-disable-next-line vitest/no-standalone-expect -- this is the promise of every test here
  expect(found).toEqual([]);
}

/** A world that ends with the test that opened it. */
export async function openWorld(options: WorldOptions = {}): Promise<World> {
  return startWorld(options, open);
}

/** A world for several tests, made in `beforeAll`; {@link closeWorld} ends it in `afterAll`. */
export async function keepWorld(options: WorldOptions = {}): Promise<World> {
  const started = new Set<Started>();
  const world = await startWorld(options, started);
  kept.set(world, [...started][0]!);
  return world;
}

export async function closeWorld(world: World): Promise<void> {
  await close(kept.get(world)!);
}

async function startWorld(options: WorldOptions, worlds: Set<Started>): Promise<World> {
  const again = options.again ? JSON.stringify(options.env ?? {}) : undefined;
  const idle = again === undefined ? null : takeIdle(again);
  const { certificates, caFile } = certificatesOfTests();
  // Its own for as long as the gateway lives, which looks for it there also between two tests.
  const port = idle ? Number(new URL(idle.wsUrl).port) : await freePort();
  const sim = await startSimulator({ certificates, port, ...options.simulator });
  const started: Started = { sim, ...(again !== undefined && { again }) };
  worlds.add(started);
  const gateway =
    idle?.gateway ??
    (await startGateway({
      ...(options.dataDir !== undefined && { dataDir: options.dataDir }),
      env: {
        WHATSAPP_WS_URL: sim.wsUrl,
        WHATSAPP_NOISE_ROOT: sim.noiseRoot,
        WHATSAPP_CA_FILE: caFile,
        ALLOW_PRIVATE_NETWORK: "1",
        ...options.env,
      },
    }));
  started.gateway = gateway;
  const { id: account, key } = await gateway.createAccount();

  return {
    sim,
    gateway,
    account,
    key,
    async link(number, { key: ownKey = key, ...numberOptions } = {}) {
      const owner = await sim.addNumber(number, numberOptions);
      const isLinked = scanning(owner);
      await until(async () =>
        isLinked((await gateway.post("/generate-qr", { device: number }, { key: ownKey })).body),
      );
    },
    async online(number, timeoutMs) {
      await sim.waitOnline(number, timeoutMs);
      await until(async () => {
        const { body } = await gateway.get(`/devices/${number}`, { key });
        return body.data.state === "connected";
      }, timeoutMs);
    },
    async bindBots(number, ...ids) {
      const bots = ids.map((id) => ({ id, enabled: true }));
      const answer = await gateway.put(`/devices/${number}/bots`, { bots }, { key });
      expect(answer.status).toBe(200);
    },
  };
}

/** A condition is looked at this often, and less often once it has taken long: most of them ask the gateway. */
const LOOK_EVERY_MS = 25;
const SELDOM_AFTER_MS = 3_000;
const SELDOM_EVERY_MS = 200;

/** Waits for a condition; fails with its last error, or by the time given. */
export async function until(condition: () => Promise<boolean> | boolean, timeoutMs = 60_000): Promise<void> {
  const seldomFrom = Date.now() + SELDOM_AFTER_MS;
  const deadline = Date.now() + timeoutMs;
  let last: unknown = new Error("the condition stayed false");
  while (Date.now() < deadline) {
    try {
      if (await condition()) return;
    } catch (error) {
      last = error;
    }
    const pause = Date.now() < seldomFrom ? LOOK_EVERY_MS : SELDOM_EVERY_MS;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  throw new Error(`Not within ${timeoutMs} ms`, { cause: last });
}
