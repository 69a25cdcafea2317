/* oxlint-disable no-underscore-dangle -- the names are those of libsignal */
import type { SignalKeyStore } from "@whiskeysockets/baileys";
import { userOf } from "../jids.ts";
import type { SerializedRecord } from "./prune.ts";
import { createLru } from "../../model/lru.ts";

const RETRY_MS = 60_000;

/** Contacts that could not read a message and asked for it again: with them a new session is wanted. */
export interface RetryRequests {
  note(jid: string): void;
  wantsNewSession(jid: string): boolean;
}

/** @param aliasOf the same contact's other user (LID of a number), when it is known */
export function createRetryRequests(aliasOf: (jid: string) => Promise<string | null>): RetryRequests {
  const users = createLru<string, true>(1_000, RETRY_MS);
  return {
    note(jid) {
      users.set(userOf(jid), true);
      void aliasOf(jid)
        .then((alias) => alias && users.set(userOf(alias), true))
        // Without its alias the contact is still known by the id that it asked with.
        .catch(() => undefined);
    },
    wantsNewSession: (jid) => users.has(userOf(jid)),
  };
}

interface Bundle {
  registrationId: number;
  identityKey: Uint8Array;
}

type StoredRecord = SerializedRecord & {
  _sessions: Record<string, { registrationId?: number; indexInfo: { remoteIdentityKey?: string } }>;
};

/**
 * Is there an open session with the device that the bundle describes? Whenever it asks for a contact's device list,
 * Baileys fetches bundles and replaces the sessions, working ones included: each time the contact's next messages still
 * come on the old session, one of its one-time keys is wasted, and replies carry the prekey header again.
 */
export async function keepsOpenSession(
  keys: Pick<SignalKeyStore, "get">,
  address: string,
  bundle: Bundle,
): Promise<boolean> {
  const { [address]: record } = (await keys.get("session", [address])) as unknown as Record<
    string,
    StoredRecord
  >;
  const open = Object.values(record?._sessions ?? {}).find((session) => session.indexInfo.closed === -1);
  return (
    open !== undefined &&
    open.registrationId === bundle.registrationId &&
    open.indexInfo.remoteIdentityKey === Buffer.from(bundle.identityKey).toString("base64")
  );
}
