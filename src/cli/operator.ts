import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig, type Config } from "../config.ts";
import { ADMIN_TOKEN_FILE } from "../store/sealed/secrets.ts";
import { createGatewayClient, GatewayAway, GatewayRefusal, type GatewayClient } from "./gateway-client.ts";

/** An account as the API shows it. */
export interface Account {
  id: string;
  name: string;
  plan: string;
  enabled: boolean;
  created_at: string;
}

/** The gateway as whoever runs it may use it. */
export interface Operator {
  config: Config;
  /** Asks with the operator's token. */
  gateway: GatewayClient;
  accounts(): Promise<Account[]>;
  /** `POST /admin/accounts`: the key is shown this once. */
  createAccount(name: string, plan?: string): Promise<{ account: Account; api_key: string }>;
  /**
   * The account that a command means.
   *
   * @param named id or name; absent: the only one, or the one called `default`
   * @throws Error that lists the accounts when it is not clear
   */
  account(named?: string): Promise<Account>;
  /** Runs `work` with a key of the account that exists for as long as it takes, at most an hour. */
  withKey<T>(
    account: Account,
    permissions: string[],
    work: (gateway: GatewayClient) => Promise<T>,
  ): Promise<T>;
}

const KEY_NAME = "parley command line";

/**
 * Finds the running gateway (`HOST` and `PORT`, then `PUBLIC_URL`) and the operator's token (`PARLEY_ADMIN_TOKEN`, or the one
 * that the gateway made in `DATA_DIR`).
 *
 * @throws Error that says how to start the gateway when none answers
 */
export async function findOperator(env: NodeJS.ProcessEnv = process.env): Promise<Operator> {
  const config = loadConfig(env);
  const baseUrl = await findBaseUrl(config);
  const gateway = createGatewayClient(baseUrl, adminToken(config));
  return createOperator(config, gateway);
}

/** Where the gateway listens, seen from this machine, and where everybody else sees it. */
export function addressesOf(config: Config): string[] {
  const host = ["0.0.0.0", "::"].includes(config.host) ? "127.0.0.1" : config.host;
  const local = `http://${host.includes(":") ? `[${host}]` : host}:${config.port}`;
  return [...new Set([local, config.publicUrl])];
}

async function findBaseUrl(config: Config): Promise<string> {
  const addresses = addressesOf(config);
  for (const address of addresses) {
    const live = await createGatewayClient(address, undefined, 3_000)
      .get<{ status?: boolean }>("/health/live")
      .catch(() => null);
    if (live?.status === true) return address;
  }
  throw new Error(
    `No Parley gateway answers at ${addresses.join(" or ")}. Start it with: npm start\n` +
      "If the gateway listens elsewhere, set HOST and PORT (or PUBLIC_URL) as for the gateway.",
  );
}

function adminToken(config: Config): string {
  if (config.adminToken) return config.adminToken;
  const file = join(config.dataDir, ADMIN_TOKEN_FILE);
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    throw new Error(
      `The operator's token was not found in ${file}. Set DATA_DIR as for the gateway, or set PARLEY_ADMIN_TOKEN.`,
    );
  }
}

function createOperator(config: Config, gateway: GatewayClient): Operator {
  const accounts = () => gateway.all<Account>("/admin/accounts");
  return {
    config,
    gateway,
    accounts,
    createAccount: (name, plan) => gateway.post("/admin/accounts", { name, ...(plan ? { plan } : {}) }),
    account: async (named) => chooseAccount(await accounts(), named),
    async withKey(account, permissions, work) {
      const keys = `/admin/accounts/${account.id}/api-keys`;
      await removeForgottenKeys(gateway, keys);
      const expires = new Date(Date.now() + 3_600_000).toISOString();
      const made = await gateway.post<{ data: { id: string }; api_key: string }>(keys, {
        name: KEY_NAME,
        permissions,
        expires_at: expires,
      });
      try {
        return await work(gateway.as(made.api_key));
      } finally {
        await gateway.delete(`${keys}/${made.data.id}`).catch(ignoreAbsence);
      }
    },
  };
}

function chooseAccount(accounts: Account[], named?: string): Account {
  const found = named
    ? accounts.filter((account) => account.id === named || account.name === named)
    : accounts.length === 1
      ? accounts
      : accounts.filter((account) => account.name === "default");
  if (found.length === 1 && found[0]) return found[0];
  if (accounts.length === 0)
    throw new Error("No accounts yet. Create one with: npm run parley -- accounts create <name>");
  const list = accounts.map((account) => `  ${account.id}  ${account.name}`).join("\n");
  throw new Error(
    `${named ? `${found.length || "No"} account${found.length ? "s are" : " is"} called “${named}”.` : "There are several accounts."} Say which with --account:\n${list}`,
  );
}

/** Keys of commands that were killed: they have expired, but would stay in the account's list. */
async function removeForgottenKeys(gateway: GatewayClient, keys: string): Promise<void> {
  for (const key of await gateway.all<{ id: string; name: string; expires_at: string | null }>(keys)) {
    const expired = key.expires_at !== null && Date.parse(key.expires_at) < Date.now();
    if (key.name === KEY_NAME && expired) await gateway.delete(`${keys}/${key.id}`).catch(ignoreAbsence);
  }
}

function ignoreAbsence(error: unknown): void {
  if (error instanceof GatewayAway || error instanceof GatewayRefusal) return;
  throw error;
}
