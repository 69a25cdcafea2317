import type { ConnectionListener, WhatsApp, WhatsAppConnection } from "../whatsapp/port.ts";

/** The one place for a number's connection: the next is made when the one before has closed. */
export interface ConnectionSlot {
  /** Closes what there is, then makes a connection. `failed` is called when it cannot be made, unless it is left by then. */
  open(listener: (isStale: () => boolean) => ConnectionListener, failed: (error: unknown) => void): void;
  /** Takes the connection out: events of it are stale from now on. Whoever leaves it closes it. */
  leave(): WhatsAppConnection | null;
  /** Null while none is made. */
  current(): WhatsAppConnection | null;
  /** Runs work when everything before has closed, and what comes after it waits for it. */
  afterwards(work: () => Promise<unknown>): Promise<void>;
  /** Resolves when everything so far has closed. */
  settled(): Promise<void>;
}

/**
 * @param beforeReading awaited before each connection is made; when it rejects, none is
 * @param onError       told of what fails while connections change places
 */
export function createConnectionSlot(
  whatsapp: Pick<WhatsApp, "connect">,
  deviceId: number,
  beforeReading: () => Promise<void>,
  onError: (error: unknown) => void,
): ConnectionSlot {
  let current: WhatsAppConnection | null = null;
  // Events of a connection that is not the newest are stale.
  let generation = 0;
  let ending: Promise<unknown> = Promise.resolve();

  function leave(): WhatsAppConnection | null {
    const left = current;
    generation++;
    current = null;
    return left;
  }

  return {
    open(listener, failed) {
      const left = leave();
      const mine = generation;
      const isStale = (): boolean => mine !== generation;
      ending = ending
        .then(() => left?.close())
        .then(async () => {
          if (isStale()) return;
          await beforeReading();
          if (isStale()) return;
          const opened = await whatsapp.connect(deviceId, listener(isStale));
          if (isStale()) return opened.close();
          current = opened;
        })
        .catch((error: unknown) => {
          onError(error);
          if (!isStale()) failed(error);
        });
    },
    leave,
    current: () => current,
    async afterwards(work) {
      ending = ending.then(work).catch(onError);
      await ending;
    },
    async settled() {
      await ending;
    },
  };
}
