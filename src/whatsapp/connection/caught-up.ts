import type { WASocket } from "@whiskeysockets/baileys";

/** WhatsApp ends what waited with a stanza; a server that does not is not waited for any longer than this. */
const LONGEST_MS = 10_000;

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
export function watchCaughtUp(socket: Pick<WASocket, "ws">): CaughtUp {
  let timer: NodeJS.Timeout | undefined;
  let resolve!: () => void;
  const done = new Promise<void>((settle) => (resolve = settle));
  const end = (): void => {
    clearTimeout(timer);
    resolve();
  };
  socket.ws.prependListener("CB:ib,,offline", end);
  return {
    done,
    opened() {
      timer ??= setTimeout(end, LONGEST_MS).unref();
    },
    end,
  };
}
