import type { proto } from "@whiskeysockets/baileys";
import { describe, expect, it } from "vitest";
import { baileys } from "../../../src/whatsapp/baileys.ts";
import { fileIn, readContent } from "../../../src/whatsapp/content/content.ts";

const { Message } = baileys.proto;
const encoded = (message: proto.IMessage): Uint8Array => Message.encode(message).finish();

/** As it is read from the wire: encoded and decoded first. */
const read = (message: proto.IMessage) => readContent(Message.decode(encoded(message)));

const KEY = Buffer.alloc(32, 1);
const image = {
  caption: "a cat",
  mimetype: "image/png",
  fileLength: 1234,
  mediaKey: KEY,
  directPath: "/v/t62/x",
};

describe("files", () => {
  it.each<[string, proto.IMessage, object]>([
    [
      "image",
      { imageMessage: image },
      { type: "image", text: "a cat", media: { kind: "image", mimetype: "image/png", size: 1234 } },
    ],
    [
      "video",
      { videoMessage: { mimetype: "video/mp4", seconds: 7, fileLength: 5 } },
      { type: "video", text: "", media: { kind: "video", mimetype: "video/mp4", size: 5, seconds: 7 } },
    ],
    ["round video note", { ptvMessage: { fileLength: 5 } }, { type: "video", media: { kind: "video" } }],
    [
      "audio",
      { audioMessage: { mimetype: "audio/mp4", seconds: 3 } },
      { type: "audio", media: { kind: "audio", mimetype: "audio/mp4", seconds: 3 } },
    ],
    ["voice", { audioMessage: { ptt: true } }, { type: "voice", media: { kind: "voice" } }],
    [
      "document",
      { documentMessage: { fileName: "offer.pdf", mimetype: "application/pdf", caption: "look" } },
      { type: "document", text: "look", media: { kind: "document", fileName: "offer.pdf" } },
    ],
    [
      "document whose type would end a header",
      { documentMessage: { fileName: "a\r\nb.pdf", mimetype: "text/html\r\nSet-Cookie: a=b" } },
      { type: "document", media: { mimetype: "application/octet-stream", fileName: "ab.pdf" } },
    ],
    [
      "picture whose type is a page long",
      { imageMessage: { mimetype: `image/${"x".repeat(10_000)}` } },
      { type: "image", media: { mimetype: "image/jpeg" } },
    ],
    [
      "voice note with its codec",
      { audioMessage: { ptt: true, mimetype: "audio/ogg; codecs=opus" } },
      { type: "voice", media: { mimetype: "audio/ogg; codecs=opus" } },
    ],
    [
      "sticker",
      { stickerMessage: {} },
      { type: "sticker", media: { kind: "sticker", mimetype: "image/webp" } },
    ],
    [
      "animated sticker",
      { lottieStickerMessage: { message: { stickerMessage: {} } } },
      { type: "sticker", media: { kind: "sticker" } },
    ],
  ])("%s", (_name, message, expected) => {
    expect(read(message)).toMatchObject(expected);
  });

  it.each<[string, proto.IMessage]>([
    [
      "documentWithCaption",
      { documentWithCaptionMessage: { message: { documentMessage: { caption: "x" } } } },
    ],
    ["ephemeral", { ephemeralMessage: { message: { documentMessage: { caption: "x" } } } }],
    ["view once", { viewOnceMessage: { message: { documentMessage: { caption: "x" } } } }],
    ["view once V2", { viewOnceMessageV2: { message: { documentMessage: { caption: "x" } } } }],
    [
      "view once V2 extension",
      { viewOnceMessageV2Extension: { message: { documentMessage: { caption: "x" } } } },
    ],
    ["one of an album", { associatedChildMessage: { message: { documentMessage: { caption: "x" } } } }],
    ["group mention", { groupMentionedMessage: { message: { documentMessage: { caption: "x" } } } }],
    [
      "wrapped twice",
      {
        ephemeralMessage: {
          message: { viewOnceMessageV2: { message: { documentMessage: { caption: "x" } } } },
        },
      },
    ],
  ])("inside of %s", (_name, message) => {
    expect(read(message)).toMatchObject({ type: "document", text: "x", media: { kind: "document" } });
  });

  it("are found again in the bytes that the inbox keeps", () => {
    const raw = Buffer.from(encoded({ viewOnceMessageV2: { message: { imageMessage: image } } }));
    const found = fileIn(raw.toString("base64"));
    expect(found).toMatchObject({ kind: "image", message: { directPath: "/v/t62/x" } });
    expect(Buffer.from(found!.message.mediaKey!)).toEqual(KEY);
    expect(fileIn(Buffer.from(encoded({ conversation: "hi" })).toString("base64"))).toBeNull();
  });
});

describe("what businesses send", () => {
  it.each<[string, proto.IMessage, object]>([
    [
      "template",
      { templateMessage: { hydratedTemplate: { hydratedContentText: "t" } } },
      { type: "text", text: "t" },
    ],
    [
      "template with an image",
      { templateMessage: { hydratedTemplate: { imageMessage: image } } },
      { type: "image", text: "a cat", media: { kind: "image" } },
    ],
    ["buttons", { buttonsMessage: { contentText: "Choose" } }, { type: "text", text: "Choose" }],
    ["list", { listMessage: { title: "Menu", description: "Pick one" } }, { type: "text", text: "Pick one" }],
    ["interactive", { interactiveMessage: { body: { text: "Hello" } } }, { type: "text", text: "Hello" }],
    [
      "interactive with an image",
      { interactiveMessage: { body: { text: "Hello" }, header: { imageMessage: image } } },
      { type: "image", text: "Hello", media: { kind: "image", size: 1234 } },
    ],
    [
      "chosen button",
      { buttonsResponseMessage: { selectedDisplayText: "Yes", selectedButtonId: "1" } },
      { type: "text", text: "Yes" },
    ],
    ["chosen button without text", { buttonsResponseMessage: { selectedButtonId: "1" } }, { text: "1" }],
    [
      "chosen row",
      { listResponseMessage: { title: "Tea", singleSelectReply: { selectedRowId: "r1" } } },
      { type: "text", text: "Tea" },
    ],
    [
      "template button",
      { templateButtonReplyMessage: { selectedDisplayText: "Go" } },
      { type: "text", text: "Go" },
    ],
    [
      "flow",
      { interactiveResponseMessage: { nativeFlowResponseMessage: { paramsJson: '{"id":"a"}' } } },
      { type: "text", text: '{"id":"a"}' },
    ],
  ])("%s", (_name, message, expected) => {
    expect(read(message)).toMatchObject(expected);
  });
});

describe("everything else", () => {
  it("a place says its name, or its address", () => {
    const place = { degreesLatitude: 52.5, degreesLongitude: 13.4, name: "Gate", address: "Street 1" };
    expect(read({ locationMessage: place })).toMatchObject({
      type: "location",
      text: "Gate",
      location: { latitude: 52.5, longitude: 13.4, name: "Gate", address: "Street 1" },
    });
    expect(read({ locationMessage: { ...place, name: "" } })).toMatchObject({
      text: "Street 1",
      location: { name: null, address: "Street 1" },
    });
    for (const nowhere of [{ name: "", address: "" }, { name: null, address: null }, {}])
      expect(
        read({ locationMessage: { degreesLatitude: 1, degreesLongitude: 2, ...nowhere } }),
      ).toMatchObject({
        text: "",
        location: { name: null, address: null },
      });
  });

  it("contacts bring names and numbers, however the card is written", () => {
    const cards = [
      "BEGIN:VCARD\nVERSION:3.0\nFN:Ben\nTEL;type=CELL;waid=15550002:+1 555-0002\nEND:VCARD",
      "BEGIN:VCARD\r\nVERSION:3.0\r\nN:;;;;\r\nitem1.FN:Ana\\, the baker\r\nitem1.TEL:+49 (30) 123\r\n 456\r\nTEL;VALUE=uri:tel:+4930123456\r\nTEL:\r\nEND:VCARD",
    ].map((vcard) => ({ vcard }));
    expect(read({ contactsArrayMessage: { displayName: "2 contacts", contacts: cards } })).toMatchObject({
      type: "contact",
      text: "2 contacts",
      contacts: [
        { name: "Ben", numbers: ["15550002"] },
        { name: "Ana, the baker", numbers: ["4930123456"] },
      ],
    });
    expect(read({ contactMessage: { displayName: "B", vcard: cards[0]!.vcard } })).toMatchObject({
      text: "B",
      contacts: [{ name: "B", numbers: ["15550002"] }],
    });
  });

  it.each(["pollCreationMessage", "pollCreationMessageV2", "pollCreationMessageV3", "pollCreationMessageV5"])(
    "%s is a poll with its options",
    (field) => {
      const created = { name: "Lunch?", options: [{ optionName: "Pizza" }, { optionName: "Soup" }] };
      expect(read({ [field]: created })).toMatchObject({
        type: "poll",
        text: "Lunch?",
        poll: { name: "Lunch?", options: ["Pizza", "Soup"] },
      });
    },
  );

  it("a reaction names its message; withdrawn, its emoji is empty", () => {
    const key = { id: "3AX" };
    expect(read({ reactionMessage: { key, text: "👍" } })).toMatchObject({
      type: "reaction",
      text: "👍",
      reaction: { id: "3AX", emoji: "👍" },
    });
    expect(read({ reactionMessage: { key } })).toMatchObject({
      text: "",
      reaction: { id: "3AX", emoji: "" },
    });
  });

  const { REVOKE, MESSAGE_EDIT, EPHEMERAL_SETTING } = baileys.proto.Message.ProtocolMessage.Type;

  it("an edit says the new text and which message it is about, wrapped or not", () => {
    const protocolMessage = {
      type: MESSAGE_EDIT,
      key: { id: "3AX" },
      editedMessage: { extendedTextMessage: { text: "new" } },
    };
    const edit = { type: "edit", text: "new", targetId: "3AX", media: null };
    expect(read({ protocolMessage })).toMatchObject(edit);
    expect(read({ editedMessage: { message: { protocolMessage } } })).toMatchObject(edit);
    const caption = { ...protocolMessage, editedMessage: { imageMessage: { caption: "new" } } };
    expect(read({ protocolMessage: caption })).toMatchObject(edit);
  });

  it("a revoke says which message it is about", () => {
    expect(read({ protocolMessage: { type: REVOKE, key: { id: "3AX" } } })).toMatchObject({
      type: "revoke",
      text: "",
      targetId: "3AX",
    });
  });

  it("what is not for people is no message", () => {
    expect(read({ protocolMessage: { type: EPHEMERAL_SETTING } })).toBeNull();
    expect(read({ senderKeyDistributionMessage: {} })).toBeNull();
    expect(read({ albumMessage: { expectedImageCount: 2 } })).toBeNull();
    expect(read({ messageContextInfo: { messageSecret: KEY } })).toBeNull();
  });

  it("what nobody knows is unknown, with its words when it has any", () => {
    expect(read({ requestPhoneNumberMessage: {} })).toMatchObject({ type: "unknown", text: "" });
    expect(read({ eventMessage: { name: "Party" } })).toMatchObject({ type: "unknown", text: "Party" });
  });
});
