import type { WASocket } from "@whiskeysockets/baileys";
import { SECOND_MS, type Time } from "../../model/time.ts";

/** WhatsApp ends what waited with a stanza; a server that does not is not waited for any longer than this. */
const LONGEST_MS = 10 * SECOND_MS;

/** Tells when everything that waited at WhatsApp has been handed over, receipts among it. */
export interface CaughtUp {
  /** Never rejects. */
  done: Promise<void>;
  /** The connection is open: from now on the time counts. */
  opened(): void;
  /** Whoever waits goes on. */
  end(): void;
}

/** Listens before Baileys does, behind the receipts that came on the same connection. */
export function watchCaughtUp(socket: Pick<WASocket, "ws">, time: Pick<Time, "after">): CaughtUp {
  let cancel: (() => void) | null = null;
  let resolve!: () => void;
  const done = new Promise<void>((settle) => (resolve = settle));
  const end = (): void => {
    cancel?.();
    resolve();
  };
  socket.ws.prependListener("CB:ib,,offline", end);
  return {
    done,
    opened() {
      cancel ??= time.after(LONGEST_MS, end);
    },
    end,
  };
}
