import type { PasskeyRequest } from "../model/passkey.ts";
import { LinkingCodeRefused } from "../whatsapp/port.ts";

/** What there is to show while a number is being linked. */
export interface LinkShown {
  qr: { text: string; expiresAt: number } | null;
  code: { text: string; expiresAt: number } | null;
  /** WhatsApp does not let it be linked by code: its own code for that. */
  codeRefused: number | null;
  /** WhatsApp waits for an assertion of the owner's passkey. */
  passkey: { request: PasskeyRequest; expiresAt: number } | null;
}

/** Six QR codes: the first lives 60 s, the others 20 s each. A pairing code ends with the last of them. */
const CODE_LIFE_MS = 160_000;
/** A linking that nobody asks about any more is not begun again when its connection breaks. */
const ABANDONED_MS = 3 * 60_000;

/** One linking: who asks for it, and what is shown. */
export interface LinkSession extends LinkShown {
  /** Somebody asks for the QR or the code. */
  asked(now: number): void;
  isAbandoned(now: number): boolean;
  showQr(text: string, expiresInMs: number, now: number): void;
  /** From now on a passkey is what is asked for. Null: not any more. */
  showPasskey(request: PasskeyRequest | null, withinMs: number, now: number): void;
  /** The same code for all who ask, made at the first call. */
  requestCode(make: () => Promise<string>, now: () => number): Promise<void>;
  /** The connection it was shown by is gone. */
  hide(): void;
}

/** QR and code of one linking, from its first connection to its last. */
export function createLinkSession(): LinkSession {
  let askedAt = 0;
  let codeEndsAt = 0;
  let making: Promise<void> | null = null;
  const session: LinkSession = {
    qr: null,
    code: null,
    codeRefused: null,
    passkey: null,
    asked: (now) => void (askedAt = now),
    isAbandoned: (now) => now - askedAt > ABANDONED_MS,
    showQr(text, expiresInMs, now) {
      if (session.qr === null) codeEndsAt = now + CODE_LIFE_MS;
      session.qr = { text, expiresAt: now + expiresInMs };
    },
    showPasskey(request, withinMs, now) {
      session.hide();
      if (request !== null) session.passkey = { request, expiresAt: now + withinMs };
    },
    requestCode(make, now) {
      if (session.code !== null && session.code.expiresAt > now()) return Promise.resolve();
      making ??= make()
        .then((text) => void (session.code = { text, expiresAt: codeEndsAt }))
        .catch((error: unknown) => {
          if (error instanceof LinkingCodeRefused) session.codeRefused = error.code;
          throw error;
        })
        .finally(() => (making = null));
      return making;
    },
    hide() {
      session.qr = null;
      session.code = null;
      session.codeRefused = null;
      session.passkey = null;
    },
  };
  return session;
}
