import type { Logger } from "../log.ts";
import { isWorthLogging } from "../store/write/owned.ts";
import { StorageUnavailable } from "../store/errors.ts";
import { messagesRead } from "../pipeline/read-marks.ts";
import { joinIntakes, commitIntake } from "../store/write/intake.ts";
import type { Store } from "../store/store.ts";
import type { Webhooks } from "../webhooks/index.ts";
import type { OwnReading } from "../whatsapp/port.ts";

interface ReadingDeps {
  deviceId: number;
  /** In the hands of whoever has the number. */
  store: Pick<Store, "writer">;
  log: Logger;
  canonicalChat(deviceId: number, jid: string): Promise<string>;
  notices: Pick<Webhooks["notices"], "read">;
  observe(event: ReadEvent): void;
}

/** The owner has read a message on another device of the number. */
export interface ReadEvent {
  type: "read";
  deviceId: number;
  waId: string;
  /** Canonical chat key. */
  chat: string;
  /** Unix milliseconds. */
  at: number;
}

/** What the owner of a number reads on the phone. */
export interface Readings {
  /**
   * Notes and tells it, in the order of the calls. Told of it again, the webhook is told once.
   *
   * @returns rejects with StorageUnavailable when it could not be stored; any other failure is logged only
   */
  read(reading: OwnReading): Promise<void>;
  /** Resolves when what was called is noted, or could not be. */
  ended(): Promise<void>;
}

/** Readings of one number. */
export function createReadings(deps: ReadingDeps): Readings {
  const { deviceId, store, log, canonicalChat, observe } = deps;
  let last = Promise.resolve();

  async function tell({ jid, waIds, at }: OwnReading): Promise<void> {
    const chat = await canonicalChat(deviceId, jid);
    const notices = await deps.notices.read(deviceId, { chat, waIds, at });
    const mark = { statements: [messagesRead(deviceId, chat, waIds)], committed: () => undefined };
    await commitIntake(store.writer, joinIntakes(mark, notices));
    for (const waId of waIds) observe({ type: "read", deviceId, waId, chat, at });
  }

  return {
    read(reading) {
      const stored = last
        .then(() => tell(reading))
        .catch((err: unknown) => {
          if (isWorthLogging(err))
            log.warn({ err, device: deviceId }, "could not report what the owner has read");
          if (err instanceof StorageUnavailable) throw err;
        });
      last = stored.catch(() => undefined);
      return stored;
    },
    ended: () => last,
  };
}
