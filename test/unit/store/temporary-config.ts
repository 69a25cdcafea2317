import { loadConfig, type Config, type Environment } from "../../../src/config.ts";

/** What a node is given besides the address of its database. */
export const NODE_SETTINGS = {
  CLUSTER: "1",
  REDIS_URL: "redis://127.0.0.1:1",
  PARLEY_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
  PARLEY_ADMIN_TOKEN: "operators-token-of-these-tests",
};

/** Settings for tests: a folder, no log, nothing from the environment. */
export function configFor(dataDir: string, env: Environment = {}): Config {
  return loadConfig({ DATA_DIR: dataDir, LOG_LEVEL: "silent", STORE_THREAD: "off", ...env });
}
