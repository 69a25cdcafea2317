import type { BinaryNode, ChatModification, WAPatchName, WASocket } from "@whiskeysockets/baileys";
import { childOf, childrenOf } from "../nodes.ts";
import { outsideTransactions } from "../signal/outside-transactions.ts";

type Socket = Pick<WASocket, "ws" | "authState" | "chatModify" | "resyncAppState">;

/** Other devices write at the same time. */
const ATTEMPTS = 4;
const ANSWERED = "CB:iq,type:result,sync";

/**
 * Writes into app state, from where the phone takes it. Baileys takes a refusal for success: another device had written before.
 * Then what is there is read anew, whole.
 *
 * @throws when WhatsApp does not answer, or others are faster again and again
 */
export function writeAppState(socket: Socket, change: ChatModification, jid = ""): Promise<void> {
  return outsideTransactions(() => write(socket, change, jid));
}

async function write(socket: Socket, change: ChatModification, jid: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const refused = refusals(socket.ws);
    await socket.chatModify(change, jid).finally(refused.end);
    const names = refused.names();
    if (names.length === 0) return;
    // What the library has noted of it by now never was.
    const nothing = Object.fromEntries(names.map((name) => [name, null]));
    await socket.authState.keys.set({ "app-state-sync-version": nothing });
    await socket.resyncAppState(names, false);
    if (attempt === ATTEMPTS) throw new Error("Other devices of the number write all the time.");
  }
}

/** Notes which collections are refused. */
function refusals(ws: WASocket["ws"]): { names(): WAPatchName[]; end(): void } {
  const found = new Set<WAPatchName>();
  const note = (node: BinaryNode): void => {
    for (const { tag, attrs } of childrenOf(childOf(node, "sync")))
      if (tag === "collection" && attrs["type"] === "error") found.add(attrs["name"] as WAPatchName);
  };
  ws.on(ANSWERED, note);
  return { names: () => [...found], end: () => void ws.off(ANSWERED, note) };
}
