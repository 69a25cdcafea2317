import type { proto } from "@whiskeysockets/baileys";
import type { AlbumContent, MessageBody } from "../../surface/content.ts";
import type { Desk, Extras } from "./context.ts";
import { contextOf, readContext } from "./context.ts";
import type { ContentKind } from "./kind.ts";

/** `MessageAssociation.AssociationType.MEDIA_ALBUM` */
const MEDIA_ALBUM = 1;

/** Says that so many pictures and films follow that belong together. */
export function composeAlbum({ images, videos }: AlbumContent, _: Desk, extras: Extras): proto.IMessage {
  const albumMessage = { expectedImageCount: images, expectedVideoCount: videos };
  return { albumMessage: { ...albumMessage, contextInfo: contextOf(extras) } };
}

/** A message that belongs to an album. @param parentMessageKey of the message that announced it */
export function inAlbum(message: proto.IMessage, parentMessageKey: proto.IMessageKey): proto.IMessage {
  const messageAssociation = { associationType: MEDIA_ALBUM, parentMessageKey };
  return { ...message, messageContextInfo: { ...message.messageContextInfo, messageAssociation } };
}

/** The announcement of an album: Baileys `Utils/messages.js`, zapo `spec/proto/WAProto.proto`. */
export const album: ContentKind = {
  stanzaType: "media",
  read({ albumMessage }): MessageBody | undefined {
    return albumMessage ? { kind: "album", ...readContext(albumMessage.contextInfo) } : undefined;
  },
};
