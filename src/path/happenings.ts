import type { Logger } from "../log.ts";
import { createShortSequence } from "../model/shares/sequence.ts";
import { commitIntake } from "../store/write/intake.ts";
import type { Store } from "../store/store.ts";
import { isWorthLogging } from "../store/write/owned.ts";
import type { Happening } from "../webhooks/events/happening-events.ts";
import type { Webhooks } from "../webhooks/index.ts";

interface HappeningsDeps {
  deviceId: number;
  /** In the hands of whoever has the number. */
  store: Pick<Store, "writer">;
  log: Logger;
  notices: Pick<Webhooks["notices"], "happened">;
  observe(event: HappenedEvent): void;
}

/** Something that people do, and that no message tells of. */
export interface HappenedEvent {
  type: "happened";
  deviceId: number;
  happening: Happening;
}

/** What happens to one number's chats beside messages. */
export interface Happenings {
  /** Tells whoever asked for it, in the order of the calls; a webhook by a row that is tried again as others are. Of one type. */
  happen(happenings: readonly Happening[]): void;
  /** Resolves when what was called is told, or could not be. */
  ended(): Promise<void>;
}

/** Strangers make most of them: what waits to be stored beyond this is told to nobody. */
const MOST_WAITING = 200;

/** Happenings of one number. */
export function createHappenings(deps: HappeningsDeps): Happenings {
  const { deviceId, store, log, observe } = deps;
  const inTurn = createShortSequence(MOST_WAITING);
  let last = Promise.resolve();

  async function tell(happenings: readonly Happening[]): Promise<void> {
    const intake = await deps.notices.happened(deviceId, happenings);
    if (intake.statements.length > 0) await commitIntake(store.writer, intake);
    for (const happening of happenings) observe({ type: "happened", deviceId, happening });
  }

  return {
    happen(happenings) {
      if (happenings.length === 0) return;
      const told = inTurn(() => tell(happenings));
      if (told === null) return;
      last = told.catch((err: unknown) => {
        if (isWorthLogging(err))
          log.warn({ err, device: deviceId }, "could not tell what happened in a chat");
      });
    },
    ended: () => last,
  };
}
