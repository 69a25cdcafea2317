import { outbox } from "../../drizzle/schema.ts";
import { defineQuestion, type Cluster } from "../model/nodes/cluster.ts";
import { withText } from "../model/content/edited.ts";
import { SECOND_MS } from "../model/time.ts";
import { defineQuery } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import type { NumberOutbox } from "./sending/number-outbox.ts";
import type { Rows } from "./rows.ts";

interface WaitingDeps {
  store: Pick<Store, "readOne" | "writer">;
  rows: Pick<Rows, "openDraft" | "rewritten" | "cancelled">;
  cluster: Cluster;
  opened(deviceId: number): Pick<NumberOutbox, "change"> | null;
  changed(deviceId: number, waId: string): void;
}

/** Changes messages that have not left. */
export interface WaitingMessages {
  /** Takes a message back. @returns false when it has left, or may have @throws UNAVAILABLE while nobody has its number */
  cancel(deviceId: number, waId: string): Promise<boolean>;
  /** Gives a message another text or caption. @returns, @throws as {@link WaitingMessages.cancel} */
  rewrite(deviceId: number, waId: string, text: string): Promise<boolean>;
}

/** To the owner of a number, who alone knows whether a queued message may have left. `text` null: it is taken back. */
const CHANGE = defineQuestion<{ waId: string; text: string | null }, boolean>(
  "outbox.change-waiting",
  8 * SECOND_MS,
);
const WAITS = defineQuery(
  "SELECT state, inbox_id, body FROM outbox WHERE device_id = ? AND wa_id = ? AND state IN ('scheduled', 'queued')",
  { state: outbox.state, inboxId: outbox.inboxId, body: outbox.body },
);

/** What waits for its time is changed in its row, by whichever node; what is queued, by the owner of its number. */
export function createWaitingMessages(deps: WaitingDeps): WaitingMessages {
  const { store, rows, cluster, opened, changed } = deps;
  cluster.bus.answer(CHANGE, async (deviceId, { waId, text }) =>
    Boolean(await opened(deviceId)?.change(waId, text)),
  );

  async function change(deviceId: number, waId: string, text: string | null): Promise<boolean> {
    const row = await store.readOne(WAITS, [deviceId, waId]);
    if (row === null) return false;
    if (row.state === "scheduled" && (await changeScheduled(deviceId, waId, { body: row.body, text })))
      return true;
    // A reply may be encrypted already; its new text follows it.
    if (text !== null && row.inboxId !== null) return false;
    // Its time may have come meanwhile.
    return await cluster.bus.ask(CHANGE, deviceId, { waId, text });
  }

  async function changeScheduled(
    deviceId: number,
    waId: string,
    { body, text }: { body: Buffer; text: string | null },
  ): Promise<boolean> {
    const draft = text === null ? null : withText(rows.openDraft(deviceId, waId, body), text);
    if (text !== null && draft === null) return false;
    const statement =
      draft === null
        ? rows.cancelled(deviceId, waId)
        : rows.rewritten({ deviceId, waId, draft, state: "scheduled" });
    const [result] = await store.writer.commit([statement], { owning: null });
    if (result!.rowsAffected === 0) return false;
    changed(deviceId, waId);
    return true;
  }

  return { cancel: (deviceId, waId) => change(deviceId, waId, null), rewrite: change };
}
