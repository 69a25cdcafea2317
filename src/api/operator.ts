import type { AccountRecord } from "../accounts/account-record.ts";
import type { App } from "./services.ts";
import { notFound } from "./unmatched.ts";

/** @throws NOT_FOUND */
export async function requireAccount(app: App, id: string | undefined): Promise<AccountRecord> {
  const account = id === undefined ? null : await app.accounts.get(id);
  if (account === null) throw notFound();
  return account;
}
