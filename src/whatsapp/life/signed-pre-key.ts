import type { WASocket } from "@whiskeysockets/baileys";
import { DAY_MS, type Cancel, type Time } from "../../model/time.ts";
import { baileys } from "../baileys.ts";
import type { AuthState } from "../signal/auth-state.ts";
import type { RotatingCreds } from "../signal/signed-pre-keys.ts";

/** How long a signed pre-key is the current one; the one before is accepted for as long again. */
const CURRENT_FOR_MS = 30 * DAY_MS;
const LOOK_EVERY_MS = DAY_MS;
/** Ids have 24 bits. */
const MAX_ID = 0xff_ff_ff;

/**
 * Replaces a number's signed pre-key every month, so that whoever gets hold of one reads the first messages of two months at most. The
 * library has a call for it, which tells WhatsApp first and stores then: a crash in between would leave a key with WhatsApp that nobody
 * has. Here it is stored first, and told again until WhatsApp has confirmed it.
 */
export function rotateSignedPreKey(
  { ev, query }: Pick<WASocket, "ev" | "query">,
  { creds, saveCreds, flushed }: Pick<AuthState, "creds" | "saveCreds" | "flushed">,
  time: Pick<Time, "now" | "every">,
): void {
  const rotating: RotatingCreds = creds;
  let cancel: Cancel | null = null;

  ev.on("connection.update", ({ connection }) => {
    if (connection === "open") {
      look();
      cancel ??= time.every(LOOK_EVERY_MS, look);
    }
    if (connection === "close") cancel?.();
  });

  // What fails is tried again with the next look, on this connection or another.
  const look = (): void => void rotateWhenDue().catch(() => undefined);

  async function rotateWhenDue(): Promise<void> {
    const { signedPreKeySince: since, isSignedPreKeyNew: isNew } = rotating;
    if (!isNew) {
      if (since === undefined) return store({ signedPreKeySince: time.now() });
      if (time.now() - since < CURRENT_FOR_MS) return;
      await store(nextKey());
    }
    await tell();
    await store({ isSignedPreKeyNew: false });
  }

  function nextKey(): Partial<RotatingCreds> {
    const { signedPreKey, signedIdentityKey } = rotating;
    const id = signedPreKey.keyId < MAX_ID ? signedPreKey.keyId + 1 : 1;
    return {
      formerSignedPreKey: signedPreKey,
      signedPreKey: baileys.signedKeyPair(signedIdentityKey, id),
      signedPreKeySince: time.now(),
      isSignedPreKeyNew: true,
    };
  }

  async function store(changes: Partial<RotatingCreds>): Promise<void> {
    Object.assign(rotating, changes);
    saveCreds();
    await flushed();
  }

  async function tell(): Promise<void> {
    const rotate = { tag: "rotate", attrs: {}, content: [baileys.xmppSignedPreKey(rotating.signedPreKey)] };
    const attrs = { to: baileys.S_WHATSAPP_NET, type: "set", xmlns: "encrypt" };
    await query({ tag: "iq", attrs, content: [rotate] });
  }
}
