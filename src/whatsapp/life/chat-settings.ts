import type { ChatModification, ChatUpdate, WASocket } from "@whiskeysockets/baileys";
import { baileys } from "../baileys.ts";
import { withoutDevice } from "../jids.ts";
import type { ChatChange, ChatSettings, LastMessage } from "../port/chats.ts";
import type { ConnectionListener } from "../port.ts";
import { writeAppState } from "./app-state-writes.ts";

type Socket = Pick<WASocket, "ws" | "ev" | "authState" | "chatModify" | "resyncAppState">;

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
  for (const change of modificationsOf(jid, settings, last)) await writeAppState(socket, change, jid);
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
