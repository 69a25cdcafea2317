import type { WASocket } from "@whiskeysockets/baileys";
import type { AuthState } from "../signal/auth-state.ts";

/**
 * WhatsApp leads a number to one of its servers by bytes that the next connection begins with. When a connection with them ends before
 * anything came, they may lead nowhere any more: the next one goes without, and is given others.
 *
 * Source: zapo `WaConnectionManager`, which does so at any failure; the library keeps them for ever.
 *
 * @returns to be called when the connection has ended
 */
export function watchRouting(
  { ws }: Pick<WASocket, "ws">,
  { creds, saveCreds }: Pick<AuthState, "creds" | "saveCreds">,
): () => void {
  let [isConnected, isHeard] = [false, false];
  ws.once("open", () => (isConnected = true));
  ws.once("frame", () => (isHeard = true));
  return () => {
    // Without a line nothing is known of the server behind it.
    if (!isConnected || isHeard || !creds.routingInfo) return;
    creds.routingInfo = undefined;
    saveCreds();
  };
}
