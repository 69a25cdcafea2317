import type { proto } from "@whiskeysockets/baileys";
import type { MessageBody } from "../../surface/content.ts";
import type { BinaryNode } from "../../wire/nodes.ts";

/** The `type` attribute of a message stanza. */
export type StanzaType = "text" | "media" | "poll" | "reaction" | "event";

/** What a message stanza carries besides the ciphertext, as clients send it. */
export interface Envelope {
  attrs?: Record<string, string>;
  nodes?: BinaryNode[];
  /** The `mediatype` of each ciphertext. */
  mediaType?: string;
}

/**
 * One kind of message body. A new kind is a file beside this one and a line in `content.ts`.
 */
export interface ContentKind {
  stanzaType: StanzaType;
  /** What the transcript shows; undefined when the message is of another kind. Wrappers are off already. */
  read(message: proto.IMessage): MessageBody | undefined;
  envelope?(message: proto.IMessage): Envelope;
}
