import type { Logger } from "pino";
import { backoffMs } from "../model/time.ts";
import type { Statement, Store } from "../store/store.ts";
import type { QueuedMessage } from "./chats.ts";
import type { Rows, SendError } from "./rows.ts";
import type { Settled } from "./submit.ts";

export interface EndingsDeps {
  store: Pick<Store, "writer" | "time">;
  rows: Rows;
  log: Logger;
  settled: (message: QueuedMessage, outcome: Settled) => void;
  changed: (deviceId: number, waId: string) => void;
  /** @param seconds from storing it to knowing what became of it */
  onOutcome?: (kind: string, result: "sent" | "failed" | "expired", seconds: number) => void;
}

/** Writes down how messages end (T3), then tells whoever waits for them. None of these rejects. */
export interface Endings {
  sent(message: QueuedMessage): Promise<void>;
  failed(message: QueuedMessage, error: SendError): Promise<void>;
  expired(message: QueuedMessage): Promise<void>;
  /** The gateway stops: no commit is tried a second time any more. */
  stop(): void;
}

export const EXPIRED: SendError = { code: "EXPIRED" };

export function createEndings(deps: EndingsDeps): Endings {
  const { store, rows, log, settled } = deps;
  const stopping = new AbortController();

  /** The outcome is known and must not be forgotten, or the message would be sent again: a full disk is waited for. */
  async function write(
    message: QueuedMessage,
    result: "sent" | "failed" | "expired",
    statements: Statement[],
  ): Promise<void> {
    const ageMs = store.time.now() - message.createdAt;
    deps.onOutcome?.(message.draft?.kind ?? "unknown", result, ageMs / 1000);
    for (let failures = 1; ; failures++) {
      try {
        await store.writer.commit(statements);
        deps.changed(message.deviceId, message.waId);
        return;
      } catch (error) {
        log.error(
          { error: (error as Error).name },
          "what became of a message could not be stored; trying again",
        );
        if (stopping.signal.aborted) return;
        await store.time.pause(backoffMs(failures), stopping.signal);
      }
    }
  }

  return {
    async sent(message) {
      await write(message, "sent", rows.sent(message.id, message.attempts));
      settled(message, { state: "sent" });
    },
    async failed(message, error) {
      await write(message, "failed", rows.failed(message.id, message.attempts, error));
      settled(message, { state: "failed", error });
    },
    async expired(message) {
      await write(message, "expired", rows.expired(message.id, EXPIRED));
      settled(message, { state: "failed", error: EXPIRED });
    },
    stop: () => stopping.abort(),
  };
}
