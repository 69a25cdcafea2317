import { startSimulatorProcess } from "../bench/processes.ts";
import type { NumberOptions, Simulator } from "../../src/simulator/types.ts";
import { testBuild } from "../_setup/build.ts";
import { startGateway, type Gateway } from "../_setup/gateway.ts";
import { programIn, testPrograms } from "../_setup/programs.ts";
import type { Answer } from "../_setup/client.ts";
import { scanning } from "../_setup/scanning.ts";

/** A gateway and a simulator, each in a process of its own: neither dies, slows down or grows with the other. */
export interface Apart {
  sim: Simulator;
  gateway: Gateway;
  /** API key of the account that has the numbers. */
  key: string;
  /** Links a number as a user does. */
  link(number: string, options?: NumberOptions): Promise<void>;
  /** The number is online at the simulator and at the gateway. */
  online(number: string, timeoutMs?: number): Promise<void>;
  /** Ends both. */
  close(): Promise<void>;
}

export interface ApartOptions {
  seed?: string;
  env?: Record<string, string>;
  /** `index.mjs` of a build. Default: the test build of the present sources. */
  entry?: string;
}

/** A machine that has much else to do is slow and loses nothing: what takes long is told apart, see `slowestStartMs`. */
export const PATIENCE_MS = 300_000;

/** Settings under which a slow machine does not look like a customer's server that refuses, nor a drill like a loop. */
export const PATIENT = {
  WEBHOOK_TIMEOUT_MS: String(PATIENCE_MS),
  LOOP_GUARD_PER_MINUTE: "0",
  PACE_PER_MINUTE: "0",
};

/** Can be used in a test and in a program. */
export async function startApart({ seed = "crash", env, entry }: ApartOptions = {}): Promise<Apart> {
  const { sim, ready } = await startSimulatorProcess(seed, [
    programIn(await testPrograms(), "src/simulator/main.ts"),
  ]);
  const gateway = await startGateway({
    entry: entry ?? (await testBuild()),
    readyWithinMs: PATIENCE_MS,
    env: {
      WHATSAPP_WS_URL: ready.wsUrl,
      WHATSAPP_NOISE_ROOT: ready.noiseRoot,
      WHATSAPP_CA_FILE: ready.caFile,
      ALLOW_PRIVATE_NETWORK: "1",
      PLAN_PRO: '{"devices":null,"keys":null,"sends_per_day":null}',
      API_RATE_PER_MINUTE: "0",
      LOG_LEVEL: "warn",
      ...env,
    },
  });
  const { key } = await gateway.createAccount("Crash");
  return {
    sim,
    gateway,
    key,
    async link(number, options) {
      const owner = await sim.addNumber(number, options);
      const isLinked = scanning(owner);
      await until(`${number} is linked`, async () =>
        isLinked((await gateway.post("/generate-qr", { device: number }, { key })).body),
      );
    },
    async online(number, timeoutMs) {
      await until(
        `${number} is online`,
        async () => {
          const { body } = await gateway.get(`/devices/${number}`, { key });
          return body["data"].state === "connected" && (await sim.online(number));
        },
        timeoutMs,
      );
    },
    async close() {
      await gateway.dispose();
      await sim.stop();
    },
  };
}

/** @throws when the answer is no success */
export function ok(answer: Answer): Answer {
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
  return answer;
}

/** Waits for a condition. @throws naming it, when it does not come true in time */
export async function until(
  what: string,
  condition: () => Promise<boolean> | boolean,
  timeoutMs = PATIENCE_MS,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  let cause: unknown;
  for (;;) {
    try {
      if (await condition()) return;
    } catch (error) {
      cause = error;
    }
    if (Date.now() > deadline) throw new Error(`Not within ${timeoutMs / 1000} s: ${what}`, { cause });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
