import type { AccountRecord } from "../../accounts/account-record.ts";
import type { App } from "../services.ts";
import { notFound } from "../answers/unmatched.ts";

/** @throws NOT_FOUND */
export async function requireAccount(app: App, id: string | undefined): Promise<AccountRecord> {
  const account = id === undefined ? null : await app.accounts.get(id);
  if (account === null) throw notFound();
  return account;
}

/** Names of accounts, by their ids; those that are gone are missing. */
export async function accountNames(app: App, ids: readonly string[]): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for (const id of new Set(ids)) {
    const account = await app.accounts.get(id);
    if (account !== null) names.set(id, account.name);
  }
  return names;
}
