import { outbox } from "../../../drizzle/schema.ts";
import { NO_INTAKE, type Intake } from "../../store/write/intake.ts";
import { defineQuery } from "../../store/query.ts";
import type { Store } from "../../store/store.ts";
import type { QueuedMessage } from "./chats.ts";
import type { Rows, SendError } from "../rows.ts";
import type { Sender } from "./sender.ts";
import type { StateNews } from "../state-news.ts";
import type { StateCollector } from "../states.ts";
import type { Settled } from "../submitting/submit.ts";

interface AbandoningDeps {
  deviceId: number;
  /** In the hands of whoever has the number. */
  store: Pick<Store, "readOne" | "pages" | "writer" | "now">;
  rows: Pick<Rows, "allEnded">;
  states: Pick<StateCollector, "flush" | "hasLeft">;
  /** What telling of states takes, stored with them; null: nobody is told. */
  tell: (news: readonly StateNews[]) => Promise<Intake> | null;
  settled: (message: Pick<QueuedMessage, "deviceId" | "waId">, outcome: Settled) => void;
  /** The row of a message says something new. */
  changed: (deviceId: number, waId: string) => void;
  sender: Pick<Sender, "clear" | "messages">;
}

/** Fails what waits for a number that no phone has linked any more. */
interface Abandoning {
  /** All that waits by now. One after the other; rejects when it cannot be stored. */
  abandon(): Promise<void>;
  /** Resolves when what is being failed has ended, whatever came of it; null when nothing is. */
  abandoning(): Promise<void> | null;
}

/** Why such a message fails. */
export const NOT_LINKED: SendError = { code: "SENDER_NOT_CONNECTED" };
/** Few enough that nobody notices the commit. */
const ROWS_AT_ONCE = 200;
const LAST_QUEUED = defineQuery(
  "SELECT id FROM outbox WHERE device_id = ? AND state = 'queued' ORDER BY id DESC LIMIT 1",
  { id: outbox.id },
);
const QUEUED_UP_TO = defineQuery(
  `SELECT id, wa_id FROM outbox WHERE device_id = ? AND state = 'queued' AND id <= ? AND id > ?
ORDER BY id LIMIT ?`,
  { id: outbox.id, waId: outbox.waId },
);

/** A crash in the middle leaves the rest queued; the next start fails it, because the number is still not linked then. */
export function createAbandoning(deps: AbandoningDeps): Abandoning {
  const { deviceId, store, rows, states, sender } = deps;
  let underWay: Promise<void> | null = null;

  async function failAll(): Promise<void> {
    sender.clear();
    // An attempt in flight may come back without an outcome; its row then says that nothing is to be sent.
    for (const message of sender.messages()) message.draft = null;
    await states.flush();
    const last = await store.readOne(LAST_QUEUED, [deviceId]);
    if (last === null) return;
    const after = (row: { id: number } | null) => [deviceId, last.id, row?.id ?? 0];
    for await (const page of store.pages(QUEUED_UP_TO, after, ROWS_AT_ONCE)) {
      const queued = page.filter(({ waId }) => !states.hasLeft(waId));
      const ids = queued.map(({ id }) => id);
      const times = { failed: store.now() };
      const news = queued.map(({ waId }) => ({ deviceId, waId, times, error: NOT_LINKED }));
      const told = (await deps.tell(news)) ?? NO_INTAKE;
      const ended = rows.allEnded(ids, "failed", NOT_LINKED);
      const [, ...results] = await store.writer.commit([ended, ...told.statements], { owning: deviceId });
      told.committed(results);
      for (const { waId } of queued) {
        deps.settled({ deviceId, waId }, { state: "failed", error: NOT_LINKED });
        deps.changed(deviceId, waId);
      }
    }
  }

  return {
    abandon() {
      const ended = (underWay ?? Promise.resolve()).catch(() => undefined).then(failAll);
      underWay = ended;
      const forget = (): void => {
        if (underWay === ended) underWay = null;
      };
      ended.then(forget, forget);
      return ended;
    },
    abandoning: () => underWay?.catch(() => undefined) ?? null,
  };
}
