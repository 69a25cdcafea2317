import { timeWithClock } from "../../../src/model/time.ts";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Config, Environment } from "../../../src/config.ts";
import { createLogger, type Logger } from "../../../src/log.ts";
import { openStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { createFolder } from "../../../src/testing/gateway/folder.ts";
import { configFor } from "./temporary-config.ts";

export { configFor } from "./temporary-config.ts";

/** A store that a test has left open may still write into it: others have their turn meanwhile. */
function endsWithTest(folder: string): void {
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));
}

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-test-"));
  endsWithTest(folder);
  return folder;
}

/** The same with what a first start leaves in it, copied: to make the tables takes longer than most tests. */
export async function begunFolder(): Promise<string> {
  const config = configFor(tmpdir());
  const folder = await createFolder(silentLog(config));
  endsWithTest(folder);
  return folder;
}

export function silentLog(config: Config): Logger {
  return createLogger(config, { write: () => undefined });
}

/** A real store in a folder of its own, closed and removed after the test. */
export async function temporaryStore(env: Environment = {}, now?: () => number): Promise<Store> {
  const config = configFor(await begunFolder(), env);
  const store = await openStore(config, silentLog(config), now && timeWithClock(now));
  onTestFinished(() => store.close());
  return store;
}
