import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import { SECOND_MS, type Time } from "../../model/time.ts";
import { versionText, type ClientVersion } from "../client-version.ts";
import { ProxyFailed } from "../../net/proxy.ts";
import type { Closed } from "../port.ts";
import { countIn } from "../stanza-numbers.ts";

const CLOSE_HANDSHAKE_MS = 2 * SECOND_MS;
/** How long a connection may take until it is open or shows a QR. */
const WATCHDOG_MS = 30 * SECOND_MS;
const LOGGED_OUT = 401;
const BANNED = 402;
const TIMED_OUT = 408;
const INTERNAL_ERROR = 500;
const UNAVAILABLE = 503;
const REPLACED = 440;
const CONFLICT = 409;
/** WhatsApp lets nobody in with this client version, or with what it says of itself. */
const REFUSED_CLIENT = new Set([405, CONFLICT]);
export const isRefusedClient = (code: number): boolean => REFUSED_CLIENT.has(code);

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

/** Why a connection ended, as Baileys tells it. @param version what it has named to WhatsApp */
export function closedBy(error: unknown, version: ClientVersion): Closed {
  const { message = "closed", output, data } = (error ?? {}) as Failure;
  if (data instanceof ProxyFailed) return { code: UNAVAILABLE, reason: data.message, complaint: "proxy" };
  // Says "conflict" like a connection that was replaced, but the phone has removed this companion.
  if ((data as BinaryNode | undefined)?.attrs?.type === "device_removed")
    return { code: LOGGED_OUT, reason: "The phone removed this linked device." };
  const { attrs, tag } = (data ?? {}) as Partial<BinaryNode>;
  if (tag === "ack") return unacknowledged(attrs ?? {});
  if (tag === "xml-not-well-formed")
    return {
      code: INTERNAL_ERROR,
      reason: "WhatsApp could not read what it was sent.",
      complaint: "malformed",
    };
  // As a failure at login the same code means something else.
  if (tag === "stream:error" && output?.statusCode === CONFLICT) return { code: REPLACED, reason: message };
  if (output?.statusCode === BANNED) return banFrom((attrs ?? data ?? {}) as BinaryNode["attrs"]);
  const code = output?.statusCode ?? 0;
  return isRefusedClient(code)
    ? { code, reason: `WhatsApp refuses the client version ${versionText(version)}.` }
    : { code, reason: message };
}

/** `<stream:error><ack class id/></stream:error>`. Sources: whatsapp-rust `handle_stream_error`, zapo `parseStreamControlNode`. */
function unacknowledged({ class: tag = "stanza", id }: BinaryNode["attrs"]): Closed {
  const which = id === undefined ? `a ${tag}` : `${tag} ${id}`;
  const reason = `WhatsApp misses the acknowledgement of ${which}.`;
  return { code: INTERNAL_ERROR, reason, complaint: "unacknowledged" };
}

/** `<failure reason="402" code expire>`: `expire` in seconds. Source: whatsmeow `handleConnectFailure`. */
function banFrom({ code, expire }: BinaryNode["attrs"]): Closed {
  const seconds = countIn(expire);
  const reason = `WhatsApp has banned this number for a time (code ${code ?? "unknown"}).`;
  return { code: BANNED, reason, ...(seconds > 0 && { bannedForMs: seconds * SECOND_MS }) };
}

/** Never waits longer than two seconds for the other side to end the WebSocket; `ws` itself would wait thirty. */
export function closeQuickly(socket: WASocket, time: Pick<Time, "after">): void {
  const { ws } = socket;
  const close = ws.close.bind(ws);
  ws.close = async () => {
    const raw = (ws as unknown as { socket: RawSocket | null }).socket;
    const cancel = time.after(CLOSE_HANDSHAKE_MS, () => raw?.terminate());
    try {
      await close();
    } finally {
      cancel();
    }
  };
}

/**
 * Ends a connection that does not come about: Baileys waits for ever when the upgrade is answered with anything but 101,
 * and when a login is never answered.
 *
 * @returns stops watching
 */
export function watchConnecting(
  socket: WASocket,
  time: Pick<Time, "after">,
  end: (closed: Closed) => void,
): () => void {
  const cancel = time.after(WATCHDOG_MS, () =>
    end({ code: TIMED_OUT, reason: `not connected within ${WATCHDOG_MS / SECOND_MS} s` }),
  );
  socket.ws.on("unexpected-response", (_request: unknown, response: { statusCode?: number }) =>
    end({
      code: UNAVAILABLE,
      reason: `the WebSocket upgrade was answered with HTTP ${response.statusCode ?? "?"}`,
    }),
  );
  return cancel;
}
