/**
 * `npm run test:bun`: tests against gateways that run on Bun, which npm fetches once; the tests themselves stay on Node.
 * All of `test/e2e`, the programs that use the client, and the short forms of `test/crash`, then the ratchet against libsignal, computed by Bun itself.
 * `npm run test:bun -- test/security` runs other files of the project `gateway` instead.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { root } from "../_setup/made-once.ts";
import { runtimeProgram } from "../_setup/runtimes.ts";

/**
 * What says nothing of Bun: `year` measures what Node's collector and `/proc` tell of Node; traces come from an SDK that only
 * Node preloads by NODE_OPTIONS.
 */
const WITHOUT = ["test/e2e/year.test.ts", "test/e2e/tracing.test.ts"];
const FILES = ["test/gateway", "test/e2e", "test/client", "test/crash"];
const STEPS = "20000";

async function run(program: string, args: string[], env: Record<string, string> = {}): Promise<boolean> {
  const child = spawn(program, args, { cwd: root, stdio: "inherit", env: { ...process.env, ...env } });
  const [code] = (await once(child, "close")) as [number | null];
  return code === 0;
}

const bun = await runtimeProgram("bun");
const asked = process.argv.slice(2);
const files = asked.length > 0 ? asked : [...FILES, ...WITHOUT.map((file) => `--exclude=${file}`)];
const vitest = ["node_modules/vitest/vitest.mjs", "run", "--project", "gateway", ...files];
const tested = await run(process.execPath, vitest, { PARLEY_TEST_RUNTIME: "bun" });
const ratchet =
  asked.length > 0 || (await run(bun, ["run", "test/crash/main.ts", "--ratchet", "--steps", STEPS]));
process.exit(tested && ratchet ? 0 : 1);
