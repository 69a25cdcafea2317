import type { ConnectionState, WASocket } from "@whiskeysockets/baileys";
import type { Logger } from "../../log.ts";
import { MINUTE_MS, SECOND_MS, type Time } from "../../model/time.ts";
import type { ClientVersion } from "../client-version.ts";
import { identityOf } from "../identity.ts";
import type { PasskeyLinking } from "../passkey/linking.ts";
import { isWaitingRef } from "../passkey/waiting-refs.ts";
import type { Closed, ConnectionListener } from "../port.ts";
import type { AuthState } from "../signal/auth-state.ts";
import type { CaughtUp } from "./caught-up.ts";
import type { ChatTurns } from "../receive/chat-turns.ts";
import { watchRouting } from "./edge-routing.ts";
import { closedBy, watchConnecting } from "./socket-end.ts";
import type { Standing } from "./standing.ts";
import type { Tally } from "./tally.ts";

const FIRST_QR_MS = MINUTE_MS;
const NEXT_QR_MS = 20 * SECOND_MS;
/** In Baileys' words, which `numbers` knows. */
const QR_REFS_USED_UP: Closed = { code: 408, reason: "QR refs attempts ended" };
const SETTLE_MS = 5 * SECOND_MS;

/** One connection's life, as far as its owner may look at it. */
export interface ConnectionLife {
  isOpen(): boolean;
  close(): Promise<void>;
}

/** What following a connection needs of its parts. */
interface LifeDeps {
  socket: WASocket;
  auth: Pick<AuthState, "creds" | "saveCreds" | "flushed">;
  turns: ChatTurns;
  listener: Pick<ConnectionListener, "tell">;
  log: Logger;
  time: Time;
  /** Ends the connection for a reason of our own. */
  end(closed: Closed): void;
  /** The reason given to `end`. */
  endedBy(): Closed | null;
  caughtUp: CaughtUp;
  passkey: Pick<PasskeyLinking, "isUnderWay">;
  /** The connection is open, and what waited at WhatsApp has come. Never rejects. */
  onCaughtUp(): Promise<void>;
  standing: Pick<Standing, "opened">;
  tally: Tally;
  /** What the connection has named itself to WhatsApp. */
  version: ClientVersion;
  onClosed(code: number): void;
}

/** Follows the connection from its first byte to its end and tells the owner. */
export function live(context: LifeDeps): ConnectionLife {
  const { socket, auth, turns, listener } = context;
  let qrs = 0;
  let open = false;
  let closing = false;
  // One after another, so that "linked" is told before the restart that follows it.
  let told: Promise<void> = Promise.resolve();
  const tell = (step: () => Promise<void> | void): void => {
    told = told
      .then(step)
      .catch((error: unknown) => context.log.error({ err: error }, "an event handler failed"));
  };
  const stopWatching = watchConnecting(socket, context.time, context.end);

  const leaveRouting = watchRouting(socket, auth);

  async function settled(): Promise<void> {
    await context.time.within(SETTLE_MS, Promise.all([turns.idle(), auth.flushed().catch(() => undefined)]));
  }

  function ended(error: unknown): void {
    // Baileys throws away what it still buffers once this handler returns.
    socket.ev.flush();
    stopWatching();
    leaveRouting();
    // When the end is ours, Baileys' questions do not hear of it: each would wait for its time limit, and the end for it.
    socket.ws.emit("error", new Error("The connection has ended."));
    open = false;
    context.caughtUp.end();
    const closed = context.endedBy() ?? closedBy(error, context.version);
    context.onClosed(closed.code);
    context.tally.closed(closed.code);
    tell(async () => {
      await settled();
      if (!closing) listener.tell({ type: "closed", closed });
    });
  }

  socket.ev.on("connection.update", (update: Partial<ConnectionState>) => {
    if (update.qr && isWaitingRef(update.qr)) {
      if (!context.passkey.isUnderWay()) context.end(QR_REFS_USED_UP);
    } else if (update.qr && !context.passkey.isUnderWay()) {
      stopWatching();
      listener.tell({ type: "qr", text: update.qr, expiresInMs: qrs++ === 0 ? FIRST_QR_MS : NEXT_QR_MS });
    }
    if (update.isNewLogin)
      tell(async () => {
        auth.saveCreds();
        await auth.flushed();
        const identity = identityOf(auth.creds);
        if (identity) listener.tell({ type: "linked", identity });
      });
    if (update.connection === "open") {
      stopWatching();
      open = true;
      context.caughtUp.opened();
      context.tally.opened();
      void context.caughtUp.done.then(() => (open ? context.onCaughtUp() : undefined));
      const identity = identityOf(auth.creds);
      // Live messages come after what waited: until then it would be said to be online, and be deaf.
      void context.caughtUp.usable.then(() => {
        if (!open || !identity) return;
        tell(() => listener.tell({ type: "open", identity }));
        context.standing.opened();
      });
    }
    if (update.connection === "close") ended(update.lastDisconnect?.error);
  });

  return {
    isOpen: () => open,
    async close() {
      closing = true;
      socket.ev.flush();
      await socket.end(undefined);
      await told;
      await settled();
    },
  };
}
