import { spawnSync } from "node:child_process";
import { root } from "../processes.ts";
import { untilAged } from "./background.ts";
import type { Cost } from "./gateway.ts";
import { begin, finish, step, type Run } from "./steps.ts";

const DAY_MS = 86_400_000;
const KEPT_DAYS = 30;

/** What is done beside a gateway that does not run, and what time alone does to the data. */
export async function age(run: Run): Promise<Cost[]> {
  const { dataDir, say } = run;
  const started = performance.now();
  rotateKey(dataDir);
  say(
    `the master key is changed, with the gateway ended: ${((performance.now() - started) / 1000).toFixed(1)} s`,
  );
  const what = "first answer with another key, and with less to keep";
  const driving = await begin(run, what, { RETENTION_DAYS: String(KEPT_DAYS) });
  await step(driving, `what is older than ${KEPT_DAYS} days goes in the background`, () =>
    untilAged(dataDir, Date.now() - KEPT_DAYS * DAY_MS),
  );
  await finish(driving);
  return driving.costs;
}

function rotateKey(dataDir: string): void {
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--import", "tsx", "src/cli/main.ts", "rotate-key"],
    { cwd: root, env: { ...process.env, DATA_DIR: dataDir }, encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`rotate-key ended with ${status}: ${stderr}`);
}
