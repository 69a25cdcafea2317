import { loadConfig, type Config, type Environment } from "../../../src/config.ts";

/** Settings for tests: a folder, no log, nothing from the environment. */
export function configFor(dataDir: string, env: Environment = {}): Config {
  return loadConfig({ DATA_DIR: dataDir, LOG_LEVEL: "silent", STORE_THREAD: "off", ...env });
}
