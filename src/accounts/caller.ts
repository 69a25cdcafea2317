import type { AccountRecord } from "./account-record.ts";

/** What a key may do. `null` is without limit. */
export interface Grants {
  permissions: string[];
  /** Numbers, digits. */
  devices: string[] | null;
  /** Destinations as `results[].number` shows them, or patterns ending in `*`. */
  recipients: string[] | null;
}

/** Who asks, as one API key says. */
export interface Caller extends Grants {
  accountId: string;
  keyId: string;
  /** What the key is called, for the log of changes; of a link and the operator there is none. */
  keyName?: string;
  account: AccountRecord;
  /** By a link for one number: of that it may also see how it is. */
  byLink?: true;
}

/** What a key may be allowed, each a group of endpoints; `*` is all of them. */
export const PERMISSIONS = [
  "messages",
  "media",
  "polls",
  "lid",
  "groups",
  "groups_admin",
  "qr",
  "devices",
  "webhooks",
  "channels",
  "keys",
  "bots",
  "*",
] as const;
/** One of the permissions that a key may hold. */
export type Permission = (typeof PERMISSIONS)[number];
