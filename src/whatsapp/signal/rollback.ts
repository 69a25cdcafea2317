import { randomInt } from "node:crypto";
import { waCreds, waKeys } from "../../../drizzle/schema.ts";
import { defineQuery } from "../../store/query.ts";
import type { Statement, Store } from "../../store/store.ts";

/** Far beyond what any number hands out between two backups. */
const PRE_KEYS_SKIPPED = 100_000;
/** Ids have 24 bits; what is handed out next has room. */
const LAST_FIRST_PRE_KEY = 0xff_ff_ff - PRE_KEYS_SKIPPED;

const CREDS = defineQuery("SELECT device_id, value FROM wa_creds", {
  deviceId: waCreds.deviceId,
  value: waCreds.value,
});
const SENDER_KEYS = defineQuery("SELECT id FROM wa_keys WHERE device_id = ? AND type = 'sender-key'", {
  id: waKeys.id,
});

/** What of the credentials counts here; the rest stays as it is. */
interface StoredCreds {
  me?: { id?: string; lid?: string };
  nextPreKeyId: number;
  firstUnuploadedPreKeyId: number;
}

/** What `forgetRatchets` wants written. */
export interface ForgottenRatchets {
  statements: Statement[];
  /** Numbers that have credentials. */
  linked: number;
}

/**
 * What must be forgotten of the keys when a database of an earlier time takes the place of a later one. Numbers stay linked:
 * credentials, identities, LIDs, app state and privacy tokens are as true as before. Not so:
 *
 * - Sessions: the other side has moved on. It is asked for a new one by a retry receipt, and sends the message again.
 * - Our own sender keys: what they would give next was used before, and phones refuse it as a repetition. Who has got the
 *   key (`sender-key-memory`) is forgotten with them. The keys of others only ever move forwards: they still read.
 * - Device lists: a phone may have been added since.
 * - Ids of pre-keys that were handed out since: given to other keys, they would decrypt to nothing. New ones begin
 *   somewhere far beyond, and Baileys uploads them at the next login because it misses the last one.
 */
export async function forgetRatchets({
  read,
  box,
  now,
}: Pick<Store, "read" | "box" | "now">): Promise<ForgottenRatchets> {
  const statements: Statement[] = [
    {
      sql: "DELETE FROM wa_keys WHERE type IN ('session', 'sender-key-memory', 'device-list')",
      args: [],
    },
  ];
  const devices = await read(CREDS);
  for (const { deviceId, value } of devices) {
    const context = `wa_creds:${deviceId}`;
    const creds = box.openJson<StoredCreds>(value, context);
    const keys = await read(SENDER_KEYS, [deviceId]);
    for (const { id } of keys.filter((key) => isOwn(key.id, creds)))
      statements.push({
        sql: "DELETE FROM wa_keys WHERE device_id = ? AND type = 'sender-key' AND id = ?",
        args: [deviceId, id],
      });
    statements.push({
      sql: "UPDATE wa_creds SET value = ?, updated_at = ? WHERE device_id = ?",
      args: [box.sealJson(withFreshPreKeys(creds), context), now(), deviceId],
    });
  }
  return { statements, linked: devices.length };
}

function withFreshPreKeys(creds: StoredCreds): StoredCreds {
  const beyond = creds.nextPreKeyId + PRE_KEYS_SKIPPED;
  // Anywhere: one backup may be restored twice, and what was handed out in between is known to WhatsApp.
  const from = beyond < LAST_FIRST_PRE_KEY ? beyond : PRE_KEYS_SKIPPED;
  const next = randomInt(from, LAST_FIRST_PRE_KEY);
  return { ...creds, nextPreKeyId: next, firstUnuploadedPreKeyId: next };
}

/** @param id `<group>::<user>::<device>`, where the user of a LID ends in the number of its domain (`_1`) */
function isOwn(id: string, { me }: StoredCreds): boolean {
  const [, user = "", device = ""] = id.split("::");
  return [me?.id, me?.lid].some((jid) => {
    const [own = "", ownDevice = "0"] = (jid ?? "").replace(/@.*/s, "").split(":");
    return own !== "" && user.replace(/_\d+$/, "") === own && device === ownDevice;
  });
}
