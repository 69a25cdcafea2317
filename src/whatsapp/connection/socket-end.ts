import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import type { Closed } from "../port.ts";

const CLOSE_HANDSHAKE_MS = 2_000;
/** How long a connection may take until it is open or shows a QR. */
const WATCHDOG_MS = 30_000;
const LOGGED_OUT = 401;
const TIMED_OUT = 408;
const UNAVAILABLE = 503;

/** The raw WebSocket below Baileys' own client. */
interface RawSocket {
  terminate(): void;
}

/** What Baileys hands over when a connection ended. */
interface Failure {
  message?: string;
  output?: { statusCode?: number };
  data?: BinaryNode | unknown;
}

/** Why a connection ended, as Baileys tells it. */
export function closedBy(error: unknown): Closed {
  const { message = "closed", output, data } = (error ?? {}) as Failure;
  // Says "conflict" like a connection that was replaced, but the phone has removed this companion.
  if ((data as BinaryNode | undefined)?.attrs?.type === "device_removed")
    return { code: LOGGED_OUT, reason: "The phone removed this companion." };
  return { code: output?.statusCode ?? 0, reason: message };
}

/** Never waits longer than two seconds for the other side to end the WebSocket; `ws` itself would wait thirty. */
export function closeQuickly(socket: WASocket): void {
  const { ws } = socket;
  const close = ws.close.bind(ws);
  ws.close = async () => {
    const raw = (ws as unknown as { socket: RawSocket | null }).socket;
    const timer = setTimeout(() => raw?.terminate(), CLOSE_HANDSHAKE_MS);
    try {
      await close();
    } finally {
      clearTimeout(timer);
    }
  };
}

/**
 * Ends a connection that does not come about: Baileys waits for ever when the upgrade is answered with anything but 101,
 * and when a login is never answered.
 *
 * @returns stops watching
 */
export function watchConnecting(socket: WASocket, end: (closed: Closed) => void): () => void {
  const timer = setTimeout(
    () => end({ code: TIMED_OUT, reason: `not connected within ${WATCHDOG_MS / 1000} s` }),
    WATCHDOG_MS,
  );
  socket.ws.on("unexpected-response", (_request: unknown, response: { statusCode?: number }) =>
    end({
      code: UNAVAILABLE,
      reason: `the WebSocket upgrade was answered with HTTP ${response.statusCode ?? "?"}`,
    }),
  );
  return () => clearTimeout(timer);
}
