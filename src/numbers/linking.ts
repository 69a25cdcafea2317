import type { Logger } from "../log.ts";
import { GatewayError } from "../model/errors/errors.ts";
import type { Time } from "../model/time.ts";
import type { WhatsAppConnection } from "../whatsapp/port.ts";
import type { Changes } from "./changes.ts";
import type { LinkSession } from "./link-session.ts";
import type { LinkAnswer } from "./number-life.ts";

/** A caller is answered within two seconds, with what there is by then. */
const SHOW_WITHIN_MS = 1_800;

/** What showing a QR or a code takes. */
export interface ShowDeps {
  session: LinkSession;
  changes: Changes;
  time: Time;
  log: Logger;
  deviceId: number;
  /** Digits. */
  number: string;
  /** The answer when a phone has it linked by now; null while none has. */
  linkedAnswer(): LinkAnswer | null;
  current(): WhatsAppConnection | null;
  /** What a person has to do before linking can go on; null while nothing is. */
  blockedBy(): "passkey" | "version" | null;
  /** A foreign number has scanned: there is nothing more to wait for. */
  isRefused(): boolean;
  changed(): void;
}

/** What there is to show now. */
export function linkAnswer(deps: ShowDeps, method: "qr" | "code"): LinkAnswer {
  const linked = deps.linkedAnswer();
  if (linked !== null) return linked;
  const reason = deps.blockedBy();
  if (reason !== null) return { state: "action_required", reason };
  const passkey = passkeyAnswer(deps);
  if (passkey !== null) return passkey;
  const shown = method === "code" ? deps.session.code : deps.session.qr;
  const expiresInMs = (shown?.expiresAt ?? 0) - deps.time.now();
  if (shown === null || expiresInMs <= 0) return { state: "processing" };
  return method === "code"
    ? { state: "code", code: shown.text, expiresInMs }
    : { state: "qr", qr: shown.text, expiresInMs };
}

function passkeyAnswer({ session: { passkey }, time }: ShowDeps): LinkAnswer | null {
  const expiresInMs = (passkey?.expiresAt ?? 0) - time.now();
  return passkey === null || expiresInMs <= 0
    ? null
    : { state: "passkey", passkey: passkey.request, expiresInMs };
}

/** Waits for something to show, less than two seconds. */
export async function showSoon(deps: ShowDeps, method: "qr" | "code"): Promise<LinkAnswer> {
  const { session, changes, time } = deps;
  const deadline = time.monotonic() + SHOW_WITHIN_MS;
  for (;;) {
    const shown = linkAnswer(deps, method);
    const left = deadline - time.monotonic();
    if (shown.state !== "processing" || left <= 0 || deps.isRefused()) return shown;
    const connection = deps.current();
    if (method === "code") throwIfRefused(session);
    if (method === "code" && session.qr !== null && connection !== null) requestCode(deps, connection);
    await changes.next(left);
  }
}

/** Asking again would be refused again. The QR code is on the same connection. */
function throwIfRefused({ codeRefused }: LinkSession): void {
  if (codeRefused === null) return;
  throw new GatewayError(
    "WHATSAPP_REFUSED",
    "WhatsApp refuses to link this number by code. Scan the QR code instead: POST /generate-qr without method.",
    { extra: { whatsapp_code: codeRefused } },
  );
}

/** A failure closes the connection or leaves the code to the next call. */
function requestCode(
  { session, deviceId, number, time, log, changed }: ShowDeps,
  connection: WhatsAppConnection,
): void {
  void session
    .requestCode(() => connection.requestPairingCode(number), time.now)
    .then(changed)
    .catch((error: unknown) => {
      log.warn({ err: error, device: deviceId }, "no pairing code");
      // Any other failure is left to the next call.
      if (session.codeRefused !== null) changed();
    });
}
