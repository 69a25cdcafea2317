import type {
  BinaryNode,
  ChatModification,
  ChatUpdate,
  WAPatchName,
  WASocket,
} from "@whiskeysockets/baileys";
import { baileys } from "../baileys.ts";
import { withoutDevice } from "../jids.ts";
import { childOf, childrenOf } from "../nodes.ts";
import type { ChatChange, ChatSettings, LastMessage } from "../port/chats.ts";
import type { ConnectionListener } from "../port.ts";
import { outsideTransactions } from "../signal/outside-transactions.ts";

type Socket = Pick<WASocket, "ws" | "ev" | "authState" | "chatModify" | "resyncAppState">;

/** Other devices write at the same time. */
const ATTEMPTS = 4;
const ANSWERED = "CB:iq,type:result,sync";

/**
 * Tells how the phone shows its chats, at once: Baileys keeps what it reads at linking back for chats whose history has not come. What it makes
 * of messages that come is not told; only app state has a condition.
 */
export function listenForChatSettings(
  { ev }: Pick<WASocket, "ev">,
  { tell }: Pick<ConnectionListener, "tell">,
): void {
  const emit = ev.emit.bind(ev);
  ev.emit = ((name, data) => {
    if (name === "chats.update") {
      const changes = (data as ChatUpdate[]).filter((one) => "conditional" in one).flatMap(changeIn);
      if (changes.length > 0) tell({ type: "chatSettings", changes });
    }
    return emit(name, data);
  }) as typeof emit;
}

function changeIn({ id, archived, pinned, muteEndTime, unreadCount }: ChatUpdate): ChatChange[] {
  const jid = withoutDevice(id);
  const until = muteEndTime === undefined ? undefined : muteEndTime && baileys.toNumber(muteEndTime);
  const settings = {
    ...(typeof archived === "boolean" && { archived }),
    ...(pinned !== undefined && { pinned: pinned !== null }),
    ...(until !== undefined && { mutedUntil: until || null }),
    ...(typeof unreadCount === "number" && { unread: unreadCount !== 0 }),
  };
  return jid === "" || Object.keys(settings).length === 0 ? [] : [{ jid, ...settings }];
}

/**
 * Writes how a chat is shown into the app state, from where the phone takes it.
 *
 * @param last null: nothing was ever written in the chat
 * @throws when the phone has given this companion no key yet, WhatsApp does not answer, or others are faster again and again
 */
export async function changeChat(
  socket: Socket,
  jid: string,
  settings: ChatSettings,
  last: LastMessage | null,
): Promise<void> {
  for (const change of modificationsOf(jid, settings, last))
    await outsideTransactions(() => write(socket, jid, change));
}

function modificationsOf(jid: string, settings: ChatSettings, last: LastMessage | null): ChatModification[] {
  const { archived, pinned, mutedUntil, unread } = settings;
  const lastMessages = last === null ? [] : [minimal(jid, last)];
  // What is put away is not on top any more. Source: whatsmeow `BuildArchive`.
  const pin = pinned ?? (archived === true ? false : undefined);
  return [
    ...(archived === undefined ? [] : [{ archive: archived, lastMessages }]),
    ...(pin === undefined ? [] : [{ pin }]),
    ...(mutedUntil === undefined ? [] : [{ mute: mutedUntil }]),
    ...(unread === undefined ? [] : [{ markRead: !unread, lastMessages }]),
  ];
}

const minimal = (jid: string, { id, fromMe, participant, timestamp }: LastMessage) => ({
  key: { remoteJid: jid, id, fromMe, ...(participant !== null && { participant }) },
  messageTimestamp: timestamp,
});

/** Baileys takes a refusal for success: another device had written before. Then what is there is read anew, whole. */
async function write(socket: Socket, jid: string, change: ChatModification): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const refused = refusals(socket.ws);
    try {
      await socket.chatModify(change, jid);
    } finally {
      refused.end();
    }
    const names = refused.names();
    if (names.length === 0) return;
    // What the library has noted of it by now never was.
    const nothing = Object.fromEntries(names.map((name) => [name, null]));
    await socket.authState.keys.set({ "app-state-sync-version": nothing });
    await socket.resyncAppState(names, false);
    if (attempt === ATTEMPTS) throw new Error("WhatsApp does not take the change of a chat.");
  }
}

/** Notes which collections of app state are refused. */
function refusals(ws: WASocket["ws"]): { names(): WAPatchName[]; end(): void } {
  const found = new Set<WAPatchName>();
  const note = (node: BinaryNode): void => {
    for (const { tag, attrs } of childrenOf(childOf(node, "sync")))
      if (tag === "collection" && attrs["type"] === "error") found.add(attrs["name"] as WAPatchName);
  };
  ws.on(ANSWERED, note);
  return { names: () => [...found], end: () => ws.off(ANSWERED, note) };
}
