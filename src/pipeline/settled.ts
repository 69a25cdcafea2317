import { decisions } from "../../drizzle/schema.ts";
import { defineQuery } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import type { Chats } from "./chats.ts";

interface SettledDeps {
  store: Pick<Store, "read">;
  outbox: { wake(): Promise<void> };
  chats: Pick<Chats, "forget">;
}

/** Finds out what became of commits whose answer was lost. */
export interface Settled {
  /**
   * Whether the message has its decision in spite of all. Its replies are then released, and nobody is asked again.
   *
   * @param ids   the message and what waits behind it
   * @param taken is given those behind it that were decided with it
   * @throws StorageUnavailable
   */
  since(message: { inboxId: number; deviceId: number }, ids: number[], taken: Set<number>): Promise<boolean>;
}

const DECIDED = defineQuery(
  "SELECT inbox_id FROM decisions WHERE inbox_id IN (SELECT value FROM json_each(?))",
  { inboxId: decisions.inboxId },
);

/** Looks for the decision's row: the commit either happened whole or not at all. */
export function createSettled({ store, outbox, chats }: SettledDeps): Settled {
  return {
    async since({ inboxId, deviceId }, ids, taken) {
      const rows = await store.read(DECIDED, [JSON.stringify(ids)]);
      const decided = new Set(rows.map((row) => row.inboxId));
      if (!decided.delete(inboxId)) return false;
      for (const id of decided) taken.add(id);
      // What the commit changed in the chat is in the table only.
      chats.forget(deviceId);
      await outbox.wake();
      return true;
    },
  };
}
