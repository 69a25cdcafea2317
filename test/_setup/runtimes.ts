import { execFile } from "node:child_process";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { madeOnce, root } from "./made-once.ts";

/** What runs JavaScript here; each has a folder in `test/_setup/runtimes/` that names its packages, with their hashes. */
export const RUNTIMES = ["node-20", "node-22", "node-24", "bun"] as const;
export type Runtime = (typeof RUNTIMES)[number];

/** A hundred megabytes each: they come when somebody asks for them, not with every `npm install`. */
const PROGRAM_OF: Record<Runtime, string> = {
  "node-20": `node-linux-${process.arch}/bin/node`,
  "node-22": `node-linux-${process.arch}/bin/node`,
  "node-24": `node-linux-${process.arch}/bin/node`,
  bun: ".bin/bun",
};

/** `PARLEY_TEST_RUNTIME=bun`: gateways of the tests run on it; whoever tests them stays on Node. */
const OF_GATEWAYS = process.env["PARLEY_TEST_RUNTIME"];
export const onBun = OF_GATEWAYS === "bun";

/** @returns what gateways of the tests are started with */
export async function gatewayProgram(): Promise<string> {
  if (!OF_GATEWAYS) return process.execPath;
  const runtime = RUNTIMES.find((name) => name === OF_GATEWAYS);
  if (runtime === undefined)
    throw new Error(`PARLEY_TEST_RUNTIME is one of ${RUNTIMES.join(", ")}, not "${OF_GATEWAYS}".`);
  return runtimeProgram(runtime);
}

/**
 * Fetches a runtime from the npm registry when it is asked for the first time, into `.test/`.
 *
 * @returns its program
 * @throws Error with what npm said when it cannot be fetched
 */
export async function runtimeProgram(runtime: Runtime): Promise<string> {
  const named = `test/_setup/runtimes/${runtime}`;
  const folder = await madeOnce({
    name: `runtime-${runtime}`,
    of: [named],
    make: async (into) => {
      await cp(join(root, named), into, { recursive: true });
      await promisify(execFile)("npm", ["ci", "--no-audit", "--no-fund"], { cwd: into });
    },
  });
  return join(folder, "node_modules", PROGRAM_OF[runtime]);
}
