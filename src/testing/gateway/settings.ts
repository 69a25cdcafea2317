import { loadConfig, type Config } from "../../config.ts";
import { StartError } from "../../model/errors/errors.ts";
import type { TestChatOptions } from "../options.ts";

/** Every option, and the setting that it stands for; null: none. */
const SETTINGS: Record<keyof Required<TestChatOptions>, string | null> = {
  config: null,
  webhook: null,
  number: null,
  contact: null,
  locales: null,
  now: null,
  allowErrors: null,
  patienceMs: null,
  botTimeoutMs: "BOT_TIMEOUT_MS",
  takeoverMinutes: "TAKEOVER_MINUTES",
  loopGuardPerMinute: "LOOP_GUARD_PER_MINUTE",
};
const START = Date.UTC(2026, 0, 5, 10);

/** @throws {TypeError} that names an option which there is not */
export function refuseUnknown(options: TestChatOptions): void {
  const unknown = Object.keys(options).filter((name) => !Object.hasOwn(SETTINGS, name));
  if (unknown.length > 0)
    throw new TypeError(
      `createTestChat has no option ${unknown.join(", ")}. There are: ${Object.keys(SETTINGS).join(", ")}.`,
    );
}

/** When a test begins, Unix milliseconds. @throws {TypeError} when it is no time */
export function readStart(now: TestChatOptions["now"]): number {
  const start = new Date(now ?? START).getTime();
  if (!Number.isFinite(start)) throw new TypeError(`now: ${JSON.stringify(now)} is no time.`);
  return start;
}

/**
 * The settings of a test's gateway. Sends are not paced: a test waits for nothing that it has not asked for.
 *
 * @throws {TypeError} that names the option which cannot be used
 */
export function settingsOf(folder: string, options: TestChatOptions): Config {
  const { botTimeoutMs = 30_000, takeoverMinutes = 30, loopGuardPerMinute = 0 } = options;
  const given = { botTimeoutMs, takeoverMinutes, loopGuardPerMinute };
  const own = Object.entries(given).map(([name, value]) => [
    SETTINGS[name as keyof typeof given],
    `${value}`,
  ]);
  try {
    return loadConfig({
      DATA_DIR: folder,
      LOG_LEVEL: "warn",
      STORE_THREAD: "off",
      PACE_PER_MINUTE: "0",
      ALLOW_PRIVATE_NETWORK: "1",
      ...(Object.fromEntries(own) as Record<string, string>),
    });
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    const option = Object.keys(given).find((name) =>
      error.message.includes(SETTINGS[name as keyof typeof given]!),
    );
    if (option === undefined) throw error;
    const text = error.message.replaceAll(SETTINGS[option as keyof typeof given]!, option);
    throw new TypeError(text, { cause: error });
  }
}
