import type { KeyPair, WASocket } from "@whiskeysockets/baileys";
import type { AuthState } from "../signal/auth-state.ts";
import { newX25519Pairs, type X25519Pair } from "../x25519.ts";

/** As many as Baileys uploads when WhatsApp says that it has none. */
const FIRST_PRE_KEYS = 812;
const FIRST_ID = 1;
/** Making and sealing so many keeps the event loop for less than five milliseconds. */
const MADE_TOGETHER = 58;

/**
 * Makes the pre-keys of a number that has just been linked, before it connects. Baileys would make all of them in one go when it
 * uploads them, and everybody's messages would wait a tenth of a second for each number that is linked; it uploads what is there.
 *
 * @throws when they could not be stored. They are made again with the next connection.
 */
export async function makeFirstPreKeys({
  creds,
  keys,
  saveCreds,
}: Pick<AuthState, "creds" | "keys" | "saveCreds">): Promise<void> {
  if (!creds.account || creds.nextPreKeyId !== FIRST_ID) return;
  for (let id = FIRST_ID; id <= FIRST_PRE_KEYS; id += MADE_TOGETHER) {
    const pairs = await newX25519Pairs(MADE_TOGETHER);
    const named = pairs.map((pair, at) => [String(id + at), keyPairOf(pair)]);
    await keys.set({ "pre-key": Object.fromEntries(named) as Record<string, KeyPair> });
  }
  creds.nextPreKeyId = FIRST_ID + FIRST_PRE_KEYS;
  saveCreds();
}

/**
 * Nobody can write to a number that has just been linked before its pre-keys are at WhatsApp. The library uploads them when WhatsApp
 * has answered how many it has, and goes on without when that question fails: until the next connection the number would
 * look connected and get nothing.
 */
export function uploadFirstPreKeys(
  { ev, uploadPreKeys }: Pick<WASocket, "ev" | "uploadPreKeys">,
  { creds }: Pick<AuthState, "creds">,
): void {
  ev.on("connection.update", ({ connection }) => {
    // It joins an upload that is under way. What fails is tried again by the next connection, which asks how many there are.
    if (connection === "open" && creds.firstUnuploadedPreKeyId === FIRST_ID)
      void uploadPreKeys(FIRST_PRE_KEYS).catch(() => undefined);
  });
}

const keyPairOf = ({ d, x }: X25519Pair): KeyPair => ({
  private: Buffer.from(d, "base64url"),
  public: Buffer.from(x, "base64url"),
});
