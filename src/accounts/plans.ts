import { accounts } from "../../drizzle/schema.ts";
import type { Config, Plan, PlanName } from "../config.ts";
import { counted } from "../model/errors/error-sentences.ts";
import { GatewayError } from "../model/errors/errors.ts";
import { defineQuery, integer } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import type { SendCounts } from "./send-counts.ts";

type Plans = Pick<Config, "plans">;

/** What a plan allows and what is used of it; sends count from midnight UTC. */
export interface Usage {
  limits: Plan;
  used: { devices: number; keys: number; sends_per_day: number };
}

const PLAN_OF = defineQuery("SELECT plan FROM accounts WHERE id = ?", { plan: accounts.plan });
const USAGE = defineQuery(
  `SELECT plan, (SELECT count(*) FROM devices WHERE account_id = a.id) AS devices,
  (SELECT count(*) FROM api_keys WHERE account_id = a.id) AS keys FROM accounts a WHERE id = ?`,
  { plan: accounts.plan, devices: integer(), keys: integer() },
);

/** Limits of a plan. An account whose plan is no longer configured has those of `basic`. */
export function limitsOf(config: Plans, plan: string): Plan {
  return config.plans[plan as PlanName] ?? config.plans.basic;
}

/** What the account has, beside what it may have. @throws NOT_FOUND */
export async function readUsage(
  store: Store,
  config: Plans,
  counts: SendCounts,
  accountId: string,
): Promise<Usage> {
  const row = await store.readOne(USAGE, [accountId]);
  if (row === null) throw noAccount();
  const { plan, devices, keys } = row;
  const used = { devices, keys, sends_per_day: await counts.ofToday(accountId) };
  return { limits: limitsOf(config, plan), used };
}

/** Sends that the account may make in a day of UTC; null when it has no such limit, and when there is no such account. */
export async function dailyLimit(
  store: Pick<Store, "readOne">,
  config: Plans,
  accountId: string,
): Promise<number | null> {
  const row = await store.readOne(PLAN_OF, [accountId]);
  return row && limitsOf(config, row.plan).sends_per_day;
}

/**
 * How many numbers or keys an account may have; null is no limit.
 *
 * @throws NOT_FOUND when there is no such account
 */
export async function limitOf(
  store: Store,
  config: Plans,
  accountId: string,
  what: "devices" | "keys",
): Promise<number | null> {
  const row = await store.readOne(PLAN_OF, [accountId]);
  if (row === null) throw noAccount();
  return limitsOf(config, row.plan)[what];
}

/** The refusal when an account has as many numbers or keys as its plan allows; `limit` goes into the answer. */
export function planLimit(what: "devices" | "keys", limit: number): GatewayError {
  const allowed = counted(limit, what === "keys" ? "API key" : "number");
  return new GatewayError("PLAN_LIMIT", `The plan of this account allows ${allowed}.`, {
    extra: { limit },
  });
}

function noAccount(): GatewayError {
  return new GatewayError("NOT_FOUND", "The account does not exist.");
}
