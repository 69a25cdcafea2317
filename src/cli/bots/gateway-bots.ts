import type { GatewayClient } from "../gateway-client.ts";
import { findOperator } from "../operator.ts";
import { paint, say } from "../plainly.ts";

/** A bot as the gateway lists it. */
export interface Bot {
  id: string;
  priority: number;
  enable: string;
  routes: { kind: string; pattern: string | null }[];
  error?: string;
  kept?: boolean;
  warnings?: string[];
  needs?: string[];
}

/** Asks as an account, with a key that may do nothing but bots. */
export async function asBots<T>(
  account: string | undefined,
  work: (gateway: GatewayClient) => Promise<T>,
): Promise<T> {
  const operator = await findOperator();
  return operator.withKey(await operator.account(account), ["bots"], work);
}

/** What a bot answers, or why it does not. */
export function answersOf({ routes, error, kept }: Bot): string {
  if (error !== undefined && !kept) return `broken: ${error}`;
  const answers = routes.map(({ pattern, kind }) => pattern ?? kind).join(", ");
  return kept ? `${answers} (last good version; the file is broken: ${error})` : answers;
}

/** One line for each bot that could not be loaded, and for each warning. @returns whether a bot could not be loaded */
export function sayBroken(bots: readonly Bot[]): boolean {
  const broken = bots.filter(({ error }) => error !== undefined);
  for (const { id, error, kept } of broken)
    say(`${paint.red("✗")} ${id}: ${error}${kept ? " Its last good version stays on." : ""}`);
  sayWarnings(bots);
  return broken.length > 0;
}

/** One line for each thing that the author of a bot may not have meant. */
export function sayWarnings(bots: readonly Bot[]): void {
  for (const { id, warnings = [] } of bots)
    for (const warning of warnings) say(`${paint.yellow("!")} ${id}: ${warning}`);
}
