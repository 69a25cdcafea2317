import type { BinaryNode, WAPatchName, WASocket } from "@whiskeysockets/baileys";
import { childrenOf } from "../nodes.ts";

/** The lock of app state. */
const APP_STATE = "app-state";
/** What only the synchronisation of app state stores, in Baileys 7.0.0-rc14. */
const STORED = "app-state-sync-version";

type Socket = Pick<WASocket, "ws" | "authState" | "sendNode" | "resyncAppState">;

/**
 * Lets nothing wait for app state. Baileys asks for it, and loads files of it, inside the transaction that messages to groups
 * and the answers to those who ask again are made in, and one notification after the other: an answer or a file that does not
 * come would hold up all of them for 30 s or more. Here it has a lock of its own, and what tells of news is acknowledged first.
 *
 * Call it on a new socket, before anybody else listens.
 *
 * @throws when Baileys is not the release that this was written for
 */
export function syncAppStateApart(socket: Socket): void {
  const { ws, sendNode } = socket;
  const { keys } = socket.authState;
  const { transaction } = keys;
  keys.transaction = (work, name) => transaction(work, String(work).includes(STORED) ? APP_STATE : name);

  const [handle, ...others] = ws.listeners("CB:notification") as ((node: BinaryNode) => void)[];
  if (handle === undefined || others.length > 0)
    throw new Error("Baileys handles notifications differently from the pinned release. Run npm ci again.");
  ws.off("CB:notification", handle);
  ws.on("CB:notification", (node: BinaryNode) => {
    const { type, id, from } = node.attrs;
    if (type !== "server_sync" || !id || !from) return handle(node);
    // WhatsApp repeats what was not acknowledged, on the next connection.
    const ack = { tag: "ack", attrs: { id, to: from, class: "notification", type } };
    void sendNode(ack).catch(() => undefined);
    const names = childrenOf(node).flatMap(({ tag, attrs }) =>
      tag === "collection" ? [attrs.name as WAPatchName] : [],
    );
    // What could not be read is asked for again with the next news; nothing here depends on it.
    if (names.length > 0) void socket.resyncAppState([...new Set(names)], false).catch(() => undefined);
  });
}
