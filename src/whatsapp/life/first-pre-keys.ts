import type { WASocket } from "@whiskeysockets/baileys";
import type { AuthState } from "../signal/auth-state.ts";

/** As many as Baileys uploads when WhatsApp says that it has none. */
const FIRST_PRE_KEYS = 812;
const FIRST_ID = "1";

/**
 * Nobody can write to a number that has just been linked before its pre-keys are at WhatsApp. The library uploads them when WhatsApp
 * has answered how many it has, and goes on without when that question fails: until the next connection the number would
 * look connected and get nothing.
 */
export function uploadFirstPreKeys(
  { ev, uploadPreKeys }: Pick<WASocket, "ev" | "uploadPreKeys">,
  { creds, keys }: Pick<AuthState, "creds" | "keys">,
): void {
  ev.on("connection.update", ({ connection }) => {
    // What fails is tried again by the next connection, which asks how many there are.
    if (connection === "open" && creds.nextPreKeyId === 1) void uploadUnlessMade().catch(() => undefined);
  });

  async function uploadUnlessMade(): Promise<void> {
    // Credentials may be told of a little after the keys are made.
    const { [FIRST_ID]: first } = await keys.get("pre-key", [FIRST_ID]);
    if (first === undefined) await uploadPreKeys(FIRST_PRE_KEYS);
  }
}
