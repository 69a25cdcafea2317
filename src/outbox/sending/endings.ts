import { SECOND_MS } from "../../model/time.ts";
import type { Logger } from "../../log.ts";
import { backoffMs } from "../../model/time.ts";
import { NO_INTAKE, type Intake } from "../../store/write/intake.ts";
import { NotOwner } from "../../store/errors.ts";
import type { Statement, Store } from "../../store/store.ts";
import type { QueuedMessage } from "./chats.ts";
import type { Ended, Rows, SendError } from "../rows.ts";
import type { StateNews } from "../state-news.ts";
import type { StateCollector } from "../states.ts";
import type { Settled } from "../submitting/submit.ts";
import type { OutboxEvent } from "../outbox-event.ts";

interface EndingsDeps {
  store: Pick<Store, "writer" | "time">;
  rows: Rows;
  log: Logger;
  states: Pick<StateCollector, "acknowledged">;
  /** Somebody waits for the outcome of this message. */
  isAwaited: (message: QueuedMessage) => boolean;
  settled: (message: QueuedMessage, outcome: Settled) => void;
  /** What telling of states takes, stored with them; null: nobody is told. */
  tell: (news: readonly StateNews[]) => Promise<Intake> | null;
  changed: (deviceId: number, waId: string) => void;
  observe?: ((event: OutboxEvent) => void) | undefined;
}

/** Writes down how messages end (T3), then tells whoever waits for them. None of these rejects. */
export interface Endings {
  sent(message: QueuedMessage): Promise<void>;
  failed(message: QueuedMessage, error: SendError): Promise<void>;
  expired(message: QueuedMessage): Promise<void>;
  /** Many at once, a few in each commit. */
  all(messages: QueuedMessage[], state: Ended, error: SendError | null): Promise<void>;
  /** The gateway stops: no commit is tried a second time any more. */
  stop(): void;
}

/** Few enough that nobody notices the commit. */
const AT_ONCE = 200;
const CANCELLED: Settled = { state: "cancelled" };
/** What became of a message that waited for longer than RETENTION_DAYS. */
export const EXPIRED: SendError = { code: "EXPIRED" };

/** Endings of one number. What cannot be stored now is tried again until the gateway stops. */
export function createEndings(deps: EndingsDeps): Endings {
  const { store, rows, log, states, settled } = deps;
  const stopping = new AbortController();

  /**
   * The outcome is known and must not be forgotten, or the message would be sent again: a full disk is waited for.
   *
   * @param messages of one number
   * @returns false when nobody is to be told: another process has the number, or the row will be tried again
   */
  async function write(
    messages: QueuedMessage[],
    statement: Statement,
    news: Pick<StateNews, "times" | "error">,
  ): Promise<boolean> {
    if (messages.length === 0) return true;
    const owning = messages[0]!.deviceId;
    for (let failures = 1; ; failures++) {
      try {
        const told =
          (await deps.tell(messages.map((message) => ({ ...news, ...idsOf(message) })))) ?? NO_INTAKE;
        const [, ...results] = await store.writer.commit([statement, ...told.statements], { owning });
        told.committed(results);
        for (const { deviceId, waId } of messages) deps.changed(deviceId, waId);
        return true;
      } catch (error) {
        if (error instanceof NotOwner) return false;
        log.error({ err: error }, "could not store the outcome of a message; retrying");
        // What has left is sent, whatever its row says; what has failed is tried again by whoever reads the row.
        if (stopping.signal.aborted) return news.times.sent !== undefined;
        await store.time.pause(backoffMs(failures), stopping.signal);
      }
    }
  }

  const ended = (state: Ended, error: SendError | null): Pick<StateNews, "times" | "error"> => ({
    times: { [state]: store.time.now() },
    ...(error !== null && { error }),
  });

  return {
    async sent(message) {
      // Whoever is told that it is sent may look at once, so the table says so first. What answers nobody is slow anyway,
      // and repeating a burst of it after a crash would be noticed. A bot's reply can wait for company.
      if (message.isReply && !deps.isAwaited(message)) states.acknowledged(message);
      else {
        const times = { sent: store.time.now() };
        if (!(await write([message], rows.reached({ ...message, state: "sent", times }), { times }))) return;
      }
      tellOfEnd(deps, message, "sent");
      settled(message, { state: "sent" });
    },
    async failed(message, error) {
      const statement = rows.failed(message.id, message.attempts, error);
      if (!(await write([message], statement, ended("failed", error)))) return;
      tellOfEnd(deps, message, "failed");
      settled(message, { state: "failed", error });
    },
    async expired(message) {
      const statement = rows.expired(message.id, message.attempts, EXPIRED);
      if (!(await write([message], statement, ended("expired", EXPIRED)))) return;
      tellOfEnd(deps, message, "expired");
      settled(message, { state: "failed", error: EXPIRED });
    },
    async all(messages, state, error) {
      for (let from = 0; from < messages.length; from += AT_ONCE) {
        const some = messages.slice(from, from + AT_ONCE);
        const ids = some.map(({ id }) => id);
        if (!(await write(some, rows.allEnded(ids, state, error), ended(state, error)))) return;
        for (const message of some) {
          tellOfEnd(deps, message, state);
          settled(message, state === "cancelled" || error === null ? CANCELLED : { state: "failed", error });
        }
      }
    },
    stop: () => stopping.abort(),
  };
}

const idsOf = ({ deviceId, waId }: QueuedMessage): Pick<StateNews, "deviceId" | "waId"> => ({
  deviceId,
  waId,
});

function tellOfEnd(
  { store, observe }: Pick<EndingsDeps, "store" | "observe">,
  message: QueuedMessage,
  result: "sent" | Ended,
): void {
  const seconds = (store.time.now() - message.createdAt) / SECOND_MS;
  const { deviceId, draft } = message;
  observe?.({ type: "messageEnded", deviceId, kind: draft?.kind ?? "unknown", result, seconds });
}
