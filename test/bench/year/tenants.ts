import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import type { Simulator } from "../../../src/simulator/index.ts";
import { call, link, type Json } from "../gateway-client.ts";
import type { BenchGateway } from "../processes.ts";
import type { Tenant } from "./data.ts";

/** Requests with a key. */
export const callForKey =
  (gateway: BenchGateway, key: string) =>
  (method: string, path: string, body?: Json): Promise<Json> =>
    call(gateway, method, path, body, key);

/** The operator's token of a data folder. */
export const adminTokenOf = (dataDir: string): string =>
  readFileSync(join(dataDir, "admin-token"), "utf8").trim();

/** An account with a linked number. */
export async function createTenant(
  gateway: BenchGateway,
  sim: Simulator,
  name: string,
  number: string,
): Promise<Tenant> {
  const made = await call(gateway, "POST", "/admin/accounts", { name }, adminTokenOf(gateway.dataDir));
  await link(gateway, sim, made.api_key, number);
  return {
    account: made.account.id,
    key: made.api_key,
    number,
    deviceId: await deviceIdOf(gateway.dataDir, number),
  };
}

/** Read from the file beside the gateway: no answer of the API shows it. */
async function deviceIdOf(dataDir: string, number: string): Promise<number> {
  const client = createClient({ url: `file:${join(dataDir, "parley.db")}` });
  try {
    const { rows } = await client.execute({ sql: "SELECT id FROM devices WHERE number = ?", args: [number] });
    return Number(rows[0]!.id);
  } finally {
    client.close();
  }
}
