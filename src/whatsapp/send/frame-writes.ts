import type { WASocket } from "@whiskeysockets/baileys";
import type { Socket } from "node:net";

/** The raw WebSocket below Baileys' own client, and the connection below that. */
interface RawSocket {
  _socket: Socket | null;
  send(...args: unknown[]): void;
}

/**
 * Frames that are written in one go leave in one system call: after a commit of many chats those are all their receipts
 * and replies. Whoever waits for a frame to be written still waits for just that.
 */
export function writeTogether({ ws }: Pick<WASocket, "ws">): void {
  ws.once("open", () => {
    const raw = (ws as unknown as { socket: RawSocket | null }).socket;
    // oxlint-disable-next-line no-underscore-dangle -- the name is that of `ws`
    const connection = raw?._socket;
    if (!raw || !connection) return;
    const send = raw.send.bind(raw);
    let corked = false;
    raw.send = (...args) => {
      if (!corked) {
        corked = true;
        connection.cork();
        process.nextTick(() => {
          corked = false;
          connection.uncork();
        });
      }
      send(...args);
    };
  });
}
