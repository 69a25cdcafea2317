import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Simulator } from "../../src/simulator/types.ts";
import type { BenchGateway } from "./processes.ts";
import { scanning } from "../_setup/scanning.ts";

export type Json = Record<string, any>;

export async function call(
  gateway: Pick<BenchGateway, "url">,
  method: string,
  path: string,
  body?: Json,
  token?: string,
): Promise<Json> {
  const response = await fetch(gateway.url + path, {
    method,
    headers: { "content-type": "application/json", ...(token ? { authorization: `Bearer ${token}` } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const answer = (await response.json()) as Json;
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

export async function createAccount(gateway: BenchGateway): Promise<string> {
  const token =
    process.env.PARLEY_ADMIN_TOKEN ?? readFileSync(join(gateway.dataDir, "admin-token"), "utf8").trim();
  return (await call(gateway, "POST", "/admin/accounts", { name: "bench" }, token)).api_key;
}

/** Links a number as a user does: asks for the QR, lets the owner's phone scan its text, waits until it is connected. */
export async function link(
  gateway: Pick<BenchGateway, "url">,
  sim: Simulator,
  key: string,
  number: string,
): Promise<void> {
  const owner = await sim.addNumber(number, { name: "Bench" });
  const isLinked = scanning(owner);
  for (let i = 0; i < 2000; i++) {
    if (await isLinked(await call(gateway, "POST", "/generate-qr", { device: number }, key))) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${number} was not linked`);
}
