import type { Logger } from "../log.ts";
import { StorageUnavailable } from "../store/errors.ts";
import { messagesRead } from "../pipeline/read-marks.ts";
import { joinIntakes, commitIntake } from "../store/write/intake.ts";
import type { Store } from "../store/store.ts";
import type { Webhooks } from "../webhooks/index.ts";
import type { OwnReading } from "../whatsapp/port.ts";
import type { Observers } from "./observers.ts";

interface ReadingDeps {
  store: Pick<Store, "writer">;
  log: Logger;
  canonicalChat(deviceId: number, jid: string): Promise<string>;
  notices: Pick<Webhooks["notices"], "read">;
  observers: Pick<Observers, "read">;
}

/**
 * Notes and tells, in the order of the calls for each number, what owners read on their phones. Told of it again, the webhook is
 * told once. Numbers do not wait for one another.
 *
 * @returns rejects with StorageUnavailable when it could not be stored; any other failure is logged only
 */
export function createReading(deps: ReadingDeps): (deviceId: number, reading: OwnReading) => Promise<void> {
  const { store, log, canonicalChat, observers } = deps;
  /** The last reading of each number that has one under way. */
  const told = new Map<number, Promise<void>>();

  async function tell(deviceId: number, { jid, waIds, at }: OwnReading): Promise<void> {
    const chat = await canonicalChat(deviceId, jid);
    const notices = await deps.notices.read(deviceId, { chat, waIds, at });
    const mark = { statements: [messagesRead(deviceId, chat, waIds)], committed: () => undefined };
    await commitIntake(store.writer, joinIntakes(mark, notices));
    for (const waId of waIds) observers.read({ deviceId, waId, chat, at });
  }

  return (deviceId, reading) => {
    const stored = (told.get(deviceId) ?? Promise.resolve())
      .then(() => tell(deviceId, reading))
      .catch((err: unknown) => {
        log.warn({ err, device: deviceId }, "could not report what the owner has read");
        if (err instanceof StorageUnavailable) throw err;
      });
    const ended = stored
      .catch(() => undefined)
      .finally(() => {
        if (told.get(deviceId) === ended) told.delete(deviceId);
      });
    told.set(deviceId, ended);
    return stored;
  };
}
