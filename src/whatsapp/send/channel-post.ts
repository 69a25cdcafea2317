import type { BinaryNode } from "@whiskeysockets/baileys";
import type { Draft } from "../../model/content/drafts.ts";
import { baileys } from "../baileys.ts";
import type { Composed } from "../content/compose.ts";
import { mediaTypeOf, stanzaTypeOf } from "../content/stanza-type.ts";

/**
 * The stanza of a post, which is not encrypted. Baileys writes those with files without naming what kind of file it is and
 * how it is stored; WhatsApp refuses them.
 */
export function channelPost(
  channel: string,
  { waId, draft, composed }: { waId: string; draft: Draft; composed: Composed },
): BinaryNode {
  const { messageContextInfo: _, ...withoutSecret } = composed.message;
  const mediatype = mediaTypeOf(draft);
  const content = baileys.proto.Message.encode(
    mediatype === null ? composed.message : withoutSecret,
  ).finish();
  const handle: Record<string, string> = composed.handle === undefined ? {} : { media_id: composed.handle };
  return {
    tag: "message",
    attrs: { to: channel, id: waId, type: stanzaTypeOf(draft), ...handle },
    content: [{ tag: "plaintext", attrs: mediatype === null ? {} : { mediatype }, content }],
  };
}
