import type { SignalDataSet } from "@whiskeysockets/baileys";
import { devices, waKeys } from "../../../drizzle/schema.ts";
import { DAY_MS } from "../../model/time.ts";
import { defineQuery } from "../../store/query.ts";
import type { Store } from "../../store/store.ts";

/** Where Baileys would keep a list of everybody whose token there is, to look through when it ends. */
export const TOKEN_LIST = "__index";

/** A token holds for 28 days, and so does the note when ours was given; a week more is nobody's loss. */
const HOLDS_MS = 35 * DAY_MS;
const DELETED_AT_ONCE = 200;

const NUMBERS = defineQuery("SELECT id FROM devices WHERE id > ? ORDER BY id LIMIT ?", { id: devices.id });
const EXPIRED = defineQuery(
  `SELECT id FROM wa_keys WHERE device_id = ? AND type = 'tctoken' AND id > ? AND (updated_at < ? OR id = '${TOKEN_LIST}')
ORDER BY id LIMIT ?`,
  { id: waKeys.id },
);
const DELETE = `DELETE FROM wa_keys WHERE device_id = ? AND type = 'tctoken' AND (updated_at < ? OR id = '${TOKEN_LIST}')
AND id IN (SELECT value FROM json_each(?))`;

/**
 * The changes without that list: it would be written anew with every token, a megabyte with 30,000 contacts. The rows are the list;
 * `sweepTokens` looks through them.
 */
export function withoutTokenList(data: SignalDataSet): SignalDataSet {
  if (data.tctoken?.[TOKEN_LIST] === undefined) return data;
  const { [TOKEN_LIST]: _list, ...tctoken } = data.tctoken;
  return { ...data, tctoken };
}

/** Deletes privacy tokens that hold no more, of all numbers, some at a time. */
export async function sweepTokens(store: Store): Promise<void> {
  for await (const numbers of store.pages(NUMBERS, (last) => [last?.id ?? 0]))
    for (const { id } of numbers) await sweepNumber(store, id);
}

async function sweepNumber(store: Store, deviceId: number): Promise<void> {
  const before = store.now() - HOLDS_MS;
  const pages = store.pages(EXPIRED, (last) => [deviceId, last?.id ?? "", before], DELETED_AT_ONCE);
  for await (const expired of pages) {
    if (!store.clock.isTrusted()) return;
    const ids = JSON.stringify(expired.map(({ id }) => id));
    await store.writer.commit([{ sql: DELETE, args: [deviceId, before, ids] }], { owning: null });
  }
}
