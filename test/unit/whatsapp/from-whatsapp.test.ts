import type { proto } from "@whiskeysockets/baileys";
import { describe, expect, it } from "vitest";
import type { Incoming } from "../../../src/model/messages.ts";
import type { StanzaAttributes } from "../../../src/whatsapp/addresses.ts";
import { baileys } from "../../../src/whatsapp/baileys.ts";
import { readContent } from "../../../src/whatsapp/content/content.ts";
import { toIncoming } from "../../../src/whatsapp/content/from-whatsapp.ts";
import { toWhatsApp } from "../../../src/whatsapp/content/to-whatsapp.ts";

const OWN = { pn: "3160@s.whatsapp.net", lid: "900@lid" };
const numberOfLid = (lidUser: string): string | null => ({ "777": "3177" })[lidUser] ?? null;
const DIRECT = {
  id: "M1",
  from: "3155:2@s.whatsapp.net",
  sender_lid: "555@lid",
  t: "1700000000",
  notify: "Ana",
};

function read(message: proto.IMessage, attributes: StanzaAttributes = DIRECT): Incoming | null {
  const raw = baileys.proto.Message.encode(baileys.proto.Message.fromObject(message)).finish();
  const content = readContent(baileys.proto.Message.decode(raw));
  return content && toIncoming({ attributes, content, raw }, OWN, numberOfLid);
}

const { REVOKE, MESSAGE_EDIT, EPHEMERAL_SETTING } = baileys.proto.Message.ProtocolMessage.Type;

describe("what a message says", () => {
  it.each<[string, proto.IMessage, Partial<Incoming>]>([
    ["a plain text", { conversation: "hi" }, { type: "text", text: "hi" }],
    ["a text with preview", { extendedTextMessage: { text: "hi" } }, { type: "text", text: "hi" }],
    [
      "a disappearing text",
      { ephemeralMessage: { message: { conversation: "hi" } } },
      { type: "text", text: "hi" },
    ],
    ["an image", { imageMessage: { caption: "look" } }, { type: "image", text: "look" }],
    [
      "a video seen once",
      { viewOnceMessageV2: { message: { videoMessage: {} } } },
      { type: "video", text: "" },
    ],
    ["a sound", { audioMessage: {} }, { type: "audio" }],
    ["a voice note", { audioMessage: { ptt: true } }, { type: "voice" }],
    [
      "a document with caption",
      { documentWithCaptionMessage: { message: { documentMessage: { caption: "bill" } } } },
      { type: "document", text: "bill" },
    ],
    ["a sticker", { stickerMessage: {} }, { type: "sticker" }],
    [
      "a location",
      { locationMessage: { degreesLatitude: 1, degreesLongitude: 2, address: "Dam 1" } },
      {
        type: "location",
        text: "Dam 1",
        location: { latitude: 1, longitude: 2, name: null, address: "Dam 1" },
      },
    ],
    [
      "a contact",
      { contactMessage: { displayName: "Bo", vcard: "FN:Bo\nTEL;type=CELL;waid=3112:+31 12" } },
      { type: "contact", text: "Bo", contacts: [{ name: "Bo", numbers: ["3112"] }] },
    ],
    ["a poll", { pollCreationMessageV3: { name: "Which?" } }, { type: "poll", text: "Which?" }],
    [
      "a vote",
      { pollUpdateMessage: { pollCreationMessageKey: { id: "P" } } },
      { type: "poll_vote", targetId: "P" },
    ],
    [
      "a reaction",
      { reactionMessage: { text: "👍", key: { id: "R" } } },
      { type: "reaction", text: "👍", reaction: { id: "R", emoji: "👍" } },
    ],
    ["a button", { buttonsResponseMessage: { selectedDisplayText: "Yes" } }, { type: "text", text: "Yes" }],
    ["a list row", { listResponseMessage: { title: "Tea" } }, { type: "text", text: "Tea" }],
    [
      "a template button",
      { templateButtonReplyMessage: { selectedId: "id1" } },
      { type: "text", text: "id1" },
    ],
    [
      "an edit",
      { protocolMessage: { type: MESSAGE_EDIT, key: { id: "E" }, editedMessage: { conversation: "new" } } },
      { type: "edit", targetId: "E", text: "new" },
    ],
    [
      "a revocation",
      { protocolMessage: { type: REVOKE, key: { id: "D" } } },
      { type: "revoke", targetId: "D" },
    ],
    ["something newer", { orderMessage: { orderId: "1" } }, { type: "unknown", text: "" }],
  ])("%s", (_name, message, expected) => {
    expect(read(message)).toMatchObject(expected);
  });

  it.each<[string, proto.IMessage]>([
    ["a setting", { protocolMessage: { type: EPHEMERAL_SETTING } }],
    ["a sender key alone", { senderKeyDistributionMessage: { groupId: "1@g.us" } }],
    ["nothing", {}],
    ["a pin", { pinInChatMessage: { type: 1 } }],
  ])("%s is no message", (_name, message) => {
    expect(read(message)).toBeNull();
  });
});

const from = (attributes: StanzaAttributes) => read({ conversation: "x" }, { id: "1", ...attributes });

describe("who wrote where", () => {
  it("a direct message from a number", () => {
    expect(read({ conversation: "x" })).toMatchObject({
      id: "M1",
      chat: "3155@s.whatsapp.net",
      chatKey: "3155@s.whatsapp.net",
      sender: "3155@s.whatsapp.net",
      number: "3155",
      lid: "555@lid",
      participant: null,
      fromMe: false,
      timestamp: 1_700_000_000,
      pushName: "Ana",
    });
  });

  it("a direct message from a LID whose number is stored, one whose number came along, and one without", () => {
    expect(from({ from: "777:1@lid" })).toMatchObject({
      chat: "777@lid",
      chatKey: "3177@s.whatsapp.net",
      number: "3177",
    });
    expect(from({ from: "888@lid", sender_pn: "3188@s.whatsapp.net" })).toMatchObject({ number: "3188" });
    expect(from({ from: "999@lid" })).toMatchObject({ chatKey: "999@lid", sender: "999@lid", number: null });
  });

  it("a group message", () => {
    const attributes = {
      id: "1",
      from: "12@g.us",
      participant: "555:3@lid",
      participant_pn: "3155@s.whatsapp.net",
    };
    expect(read({ conversation: "x" }, attributes)).toMatchObject({
      chat: "12@g.us",
      chatKey: "12@g.us",
      chatKind: "group",
      sender: "3155@s.whatsapp.net",
      participant: "555@lid",
      lid: "555@lid",
    });
  });

  it("what the own phone wrote to somebody, and to a group", () => {
    const direct = {
      id: "1",
      from: "900@lid",
      recipient: "888@lid",
      peer_recipient_pn: "3188@s.whatsapp.net",
    };
    expect(read({ conversation: "x" }, direct)).toMatchObject({
      fromMe: true,
      chat: "888@lid",
      chatKey: "3188@s.whatsapp.net",
      sender: OWN.pn,
      number: "3160",
    });
    const inGroup = { id: "1", from: "12@g.us", participant: "900:4@lid" };
    expect(read({ conversation: "x" }, inGroup)).toMatchObject({
      fromMe: true,
      sender: OWN.pn,
      lid: OWN.lid,
    });
  });

  it("a channel's post is of the channel's type and has no number", () => {
    const post = read({ conversation: "news" }, { id: "1", from: "44@newsletter" });
    expect(post).toMatchObject({ type: "channel", chatKind: "channel", text: "news", number: null });
  });

  it("quotes and mentions name people canonically", () => {
    const message = {
      extendedTextMessage: {
        text: "see @777",
        contextInfo: {
          stanzaId: "Q",
          participant: "777@lid",
          quotedMessage: { conversation: "old" },
          mentionedJid: ["777@lid", "999@lid", "3155@s.whatsapp.net", "900@lid"],
        },
      },
    };
    expect(read(message)).toMatchObject({
      quoted: { id: "Q", from: "3177@s.whatsapp.net", text: "old" },
      mentions: ["3177", "999@lid", "3155", "3160"],
    });
  });
});

describe("a message that disappears", () => {
  const text = (expiration: number | null) => ({
    extendedTextMessage: { text: "soon gone", contextInfo: { expiration } },
  });

  it("says when: so many seconds after it was written, wrapped or not", () => {
    const t = "1700000000";
    expect(read(text(604_800), { ...DIRECT, t })).toMatchObject({ expiresAt: 1_700_604_800 });
    const wrapped = { ephemeralMessage: { message: text(86_400) } };
    expect(read(wrapped, { ...DIRECT, t })).toMatchObject({ text: "soon gone", expiresAt: 1_700_086_400 });
    const poll = { pollCreationMessage: { name: "When?", contextInfo: { expiration: 60 } } };
    expect(read(poll, { ...DIRECT, t })).toMatchObject({ expiresAt: 1_700_000_060 });
  });

  it("never, when its chat does not say so", () => {
    for (const message of [text(0), text(null), { conversation: "stays" }])
      expect(read(message)).not.toHaveProperty("expiresAt");
  });

  it("has an end that is a time, whatever the stanza says", () => {
    const { expiresAt } = read(text(2 ** 32 - 1), { ...DIRECT, t: "1e400" })!;
    expect(Number.isFinite(new Date(expiresAt! * 1000).getTime())).toBe(true);
  });
});

const bytes = (...args: Parameters<typeof toWhatsApp>) =>
  Buffer.from(baileys.proto.Message.encode(baileys.proto.Message.fromObject(toWhatsApp(...args))).finish());

describe("a draft", () => {
  const box = {
    hmac: (purpose: string, data: string | Uint8Array) => Buffer.from(`${purpose} ${String(data)}`),
  };

  it("gives the same bytes for the same id, and others for another", () => {
    const draft = { kind: "text" as const, text: "hello" };
    expect(bytes(draft, "A", box)).toEqual(bytes(draft, "A", box));
    expect(bytes(draft, "A", box)).not.toEqual(bytes(draft, "B", box));
  });

  it("quotes the content of a message, without what that one quoted", () => {
    const quoted = read({
      extendedTextMessage: { text: "old", contextInfo: { stanzaId: "older" } },
      messageContextInfo: { messageSecret: Buffer.alloc(32, 1) },
    });
    const quote = { id: "Q", sender: "3155@s.whatsapp.net", fromMe: false, raw: quoted?.raw ?? "" };
    const message = toWhatsApp({ kind: "text", text: "new", quote }, "A", box);
    const context = message.extendedTextMessage?.contextInfo;
    expect(context).toMatchObject({ stanzaId: "Q", participant: "3155@s.whatsapp.net" });
    expect(context?.quotedMessage?.extendedTextMessage?.text).toBe("old");
    expect(context?.quotedMessage?.extendedTextMessage).not.toHaveProperty("contextInfo");
    expect(context?.quotedMessage).not.toHaveProperty("messageContextInfo");
  });
});

describe("when a message was written", () => {
  it.each(["soon", "NaN", "-5", "1.5", "1e400", "99999999999999999999", ""])("is not known from %j", (t) => {
    expect(read({ conversation: "hi" }, { ...DIRECT, t })?.timestamp).toBe(0);
  });
});
