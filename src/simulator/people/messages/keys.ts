import type { proto } from "@whiskeysockets/baileys";
import { isGroup, userJid } from "../jids.ts";
import type { KnownMessage } from "./memory.ts";

/** How a message is named in another one that is about it. */
export function keyOf({ id, chat, author, fromMe }: KnownMessage): proto.IMessageKey {
  const participant = isGroup(chat) && !fromMe ? userJid(author) : undefined;
  return { remoteJid: chat, id, fromMe, participant };
}
