import type { Caller } from "./caller.ts";

/** Under which what the operator sends for an account is known, where a key has its id. */
export const operatorKeyId = (accountId: string): string => `operator:${accountId}`;

/** The operator may do in an account whatever the account may. */
export const operatorIn = (account: Caller["account"]): Caller => ({
  permissions: ["*"],
  devices: null,
  recipients: null,
  accountId: account.id,
  keyId: operatorKeyId(account.id),
  account,
});
