import { expect, it } from "vitest";
import type { QuotedDraft } from "../../../src/model/content/drafts.ts";
import { baileys } from "../../../src/whatsapp/baileys.ts";
import { readContent } from "../../../src/whatsapp/content/content.ts";
import { toWhatsApp } from "../../../src/whatsapp/content/to-whatsapp.ts";

const { Message } = baileys.proto;
const SHOP = "31600000001@s.whatsapp.net";

it.each<[QuotedDraft, string]>([
  [{ kind: "text", text: "Ready." }, "Ready."],
  [{ kind: "poll", text: "When?", options: ["today", "tomorrow"] }, "When?"],
  [{ kind: "image", text: "a cat" }, "a cat"],
  [{ kind: "video", text: "" }, ""],
  [{ kind: "audio", text: "" }, ""],
  [{ kind: "voice", text: "" }, ""],
  [{ kind: "sticker", text: "" }, ""],
  [{ kind: "document", text: "May", fileName: "invoice.pdf" }, "May"],
])("a quote of a message of ours is of its kind, and says what it said: %j", (sent, text) => {
  const quote = { id: "3EB0", sender: SHOP, fromMe: true, sent };
  const message = toWhatsApp({ kind: "text", text: "And?", quote }, "3EB1", { hmac: () => Buffer.alloc(32) });
  const read = Message.decode(Message.encode(message).finish()).extendedTextMessage!.contextInfo!;

  expect(read).toMatchObject({ stanzaId: "3EB0", participant: SHOP });
  expect(readContent(read.quotedMessage!)).toMatchObject({ type: sent.kind, text });
});
