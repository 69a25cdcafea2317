import { DAY_MS } from "../model/time.ts";
import type { Statement, Store } from "./store.ts";

const PREFIX = "erased_contact:";
/** Receipts for what was sent before may come for so long. */
const REMEMBERED_MS = 30 * DAY_MS;

/** Under which `meta` remembers that this contact was erased: a hash, because its address is to be forgotten. */
export const erasedContactKey = (
  { hmac }: Pick<Store["box"], "hmac">,
  deviceId: number,
  address: string,
): string => PREFIX + hmac("erased-contact", `${deviceId}:${address}`).toString("base64url").slice(0, 32);

/** For the commit before a contact's rows go: what was sent to it is not taken for sent by somebody else afterwards. */
export function noteErasedContact(
  { box, now }: Pick<Store, "box" | "now">,
  deviceId: number,
  addresses: readonly string[],
): Statement[] {
  return [
    {
      sql: `DELETE FROM meta WHERE key > '${PREFIX}' AND key < 'erased_contact;' AND CAST(value AS INTEGER) < ?`,
      args: [now() - REMEMBERED_MS],
    },
    ...addresses.map((address) => ({
      sql: "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
      args: [erasedContactKey(box, deviceId, address), String(now())],
    })),
  ];
}
