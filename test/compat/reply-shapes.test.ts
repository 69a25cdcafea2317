import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Content } from "../../src/simulator/types.ts";
import { png } from "../unit/media/samples.ts";
import { closeShop, openShop, SHOP, SHOP_SITE, type Shop, type Shown } from "./shop.ts";

/**
 * What scripts in the field answer to a webhook, from their first byte to the customer's phone. Sources:
 * - `ResponWebhookFormater` and `FormatMessage`: the two PHP helpers that MPWA hands to its users; many public bots carry
 *   copies of them.
 * - MPWA: what its own server takes from an answer, which is any content of Baileys.
 * - n8n: its node "Respond to Webhook", and what it answers without one.
 * - PHP: what `echo` makes of values, and what editors and frameworks put around it.
 */

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => closeShop(shop));

const text = (words: string): Shown => ({ kind: "text", text: words });
const url = (file: string): string => `${SHOP_SITE}/${file}`;

/** Source and shape; what the script prints; what the customer sees. */
type Row = [source: string, prints: unknown, shown: Shown[]];

const TEXTS: Row[] = [
  [
    "ResponWebhookFormater::responAsText",
    { text: "Hello\n*bold*\n", quoted: false },
    [text("Hello\n*bold*\n")],
  ],
  ["FormatMessage::text, quoted", { text: "Hello", quoted: true }, [{ ...text("Hello"), quotes: true }]],
  [
    "FormatMessage::text, quoted as PHP's 1",
    { text: "Hello", quoted: 1 },
    [{ ...text("Hello"), quotes: true }],
  ],
  ["the specification: a message", { message: "Hello" }, [text("Hello")]],
  [
    "scripts that answer as they would answer their own front end",
    { status: true, message: "Hello" },
    [text("Hello")],
  ],
  ["PHP: a price that json_encode leaves a number", { message: 12.5 }, [text("12.5")]],
  ["PHP: json_encode of a bare string", "Hello", [text("Hello")]],
  ["n8n: a field named reply", { reply: "Hello" }, [text("Hello")]],
  ["n8n: all incoming items, an array of one", [{ text: "Hello" }], [text("Hello")]],
  ["n8n: several items", [{ text: "one" }, { text: "two" }], [text("one"), text("two")]],
  [
    "MPWA: a Baileys text with fields that mean nothing here",
    { text: "Hello", viewOnce: true, footer: "x" },
    [text("Hello")],
  ],
];

const FILES: Row[] = [
  [
    "ResponWebhookFormater::responAsMedia, an image",
    { type: "image", url: url("menu.png"), filename: null, caption: "Our menu\n" },
    [{ kind: "image", text: "Our menu\n" }],
  ],
  [
    "FormatMessage::exampleMedia, with a file name that images do not have, quoted",
    { url: url("menu.png"), type: "image", caption: "for you {name}", filename: "image.jpg", quoted: true },
    [{ kind: "image", text: "for you {name}", quotes: true }],
  ],
  [
    "ResponWebhookFormater::responAsMedia, a video",
    { type: "video", url: url("tour.mp4"), filename: null, caption: "Come in\n" },
    [{ kind: "video", text: "Come in\n" }],
  ],
  [
    "ResponWebhookFormater::responAsMedia, audio",
    { type: "audio", url: url("hello.mp3"), filename: null, caption: "" },
    [{ kind: "audio" }],
  ],
  [
    "ResponWebhookFormater::responAsMedia, a document with a name",
    { type: "document", url: url("menu.pdf"), filename: "Menu.pdf", caption: "Our menu\nfor today\n" },
    [{ kind: "document", fileName: "Menu.pdf", text: "Our menu\nfor today\n" }],
  ],
  [
    "ResponWebhookFormater::responAsMedia, a document without one",
    { type: "document", url: url("menu.pdf"), filename: null, caption: "Our menu\nfor today\n" },
    [{ kind: "document", fileName: "menu.pdf", text: "Our menu\nfor today\n" }],
  ],
  [
    "ResponWebhookFormater::responAsAudio, a voice note",
    { audio: { url: url("hello.ogg") }, ptt: true, mimetype: "audio/mpeg", caption: "\n" },
    [{ kind: "voice" }],
  ],
  [
    "MPWA: a Baileys image",
    { image: { url: url("menu.png") }, caption: "Our menu" },
    [{ kind: "image", text: "Our menu" }],
  ],
  [
    "MPWA: a Baileys document",
    { document: { url: url("menu.pdf") }, mimetype: "application/pdf", fileName: "Menu.pdf" },
    [{ kind: "document", fileName: "Menu.pdf" }],
  ],
  [
    "MPWA: the fields of its own send-media",
    { media_type: "pdf", url: url("menu.pdf"), caption: "Menu" },
    [{ kind: "document", fileName: "Menu.pdf" }],
  ],
  [
    "MPWA: the fields of its own send-media, a voice note",
    { media_type: "audio", url: url("hello.ogg"), ptt: "vn" },
    [{ kind: "voice" }],
  ],
  [
    "scripts that put the words beside the file",
    { message: "Our menu", image: { url: url("menu.png") } },
    [{ kind: "image", text: "Our menu" }],
  ],
];

const CHOICES: Row[] = [
  [
    "ResponWebhookFormater::responAsButton",
    {
      footer: "Parley Coffee",
      headerType: 1,
      viewOnce: true,
      buttons: [
        { buttonId: "id1", buttonText: { displayText: "Menu" }, type: 1 },
        { buttonId: "id2", buttonText: { displayText: "Hours" }, type: 1 },
      ],
      quoted: false,
      text: "What would you like?\n",
    },
    [text("What would you like?\n\n1. Menu\n2. Hours\n\nParley Coffee")],
  ],
  [
    "ResponWebhookFormater::responAsButton with an image",
    {
      footer: null,
      headerType: 1,
      viewOnce: true,
      buttons: [{ buttonId: "id1", buttonText: { displayText: "Menu" }, type: 1 }],
      quoted: false,
      image: { url: url("menu.png") },
      caption: "What would you like?\n",
    },
    [{ kind: "image", text: "What would you like?\n\n1. Menu" }],
  ],
  [
    "ResponWebhookFormater::responAsTemplateButton",
    {
      footer: "Parley Coffee",
      templateButtons: [
        { index: 1, urlButton: { displayText: "Visit us", url: url("") } },
        { index: 2, callButton: { displayText: "Call us", phoneNumber: "+1234567890" } },
      ],
      viewOnce: true,
      quoted: true,
      text: "Find us\n",
    },
    [
      {
        ...text(`Find us\n\n1. Visit us: ${url("")}\n2. Call us: +1234567890\n\nParley Coffee`),
        quotes: true,
      },
    ],
  ],
  [
    "ResponWebhookFormater::responAsList",
    {
      text: "Pick one\n",
      footer: null,
      title: "Our menu",
      buttonText: "Show List",
      sections: [
        { title: "Warm", rows: [{ title: "Soup", rowId: "a", description: "with bread" }] },
        { title: "Cold", rows: [{ title: "Salad", rowId: "b", description: "" }] },
      ],
    },
    [text("Our menu\n\nPick one\n\n*Warm*\n1. Soup – with bread\n*Cold*\n2. Salad")],
  ],
  [
    "the specification: a poll, as /send-poll takes it",
    { name: "Lunch?", option: ["Soup", "Salad"], countable: "1" },
    [{ kind: "poll", name: "Lunch?", options: ["Soup", "Salad"], selectable: 1 }],
  ],
];

describe.each([
  ["texts", TEXTS],
  ["files", FILES],
  ["buttons, lists, polls", CHOICES],
])("%s", (_group, rows) => {
  it.each(rows)("%s", async (_source, prints, shown) => {
    const heard = await shop.ask(JSON.stringify(prints));
    expect(heard.reply).toMatchObject({ understood: true, ignored: [] });
    expect(heard.shown).toEqual(JSON.parse(shop.really(JSON.stringify(shown))));
  });
});

describe("what is around the JSON", () => {
  it.each([
    ["PHP: a byte order mark of the editor", '\uFEFF{"text":"Hello"}'],
    ["PHP: one of every included file", '\uFEFF\uFEFF\r\n{"text":"Hello"}'],
    ["PHP: a line break after ?>", '{"text":"Hello"}\n\n'],
    ["PHP: JSON_PRETTY_PRINT", '{\n    "text": "Hello"\n}'],
    ["PHP: escapes of json_encode", '{"text":"\\u0048ello"}'],
  ])("%s does not count", async (_source, prints) => {
    expect((await shop.ask(prints)).shown).toEqual([text("Hello")]);
  });

  it.each(["text/html; charset=UTF-8", "text/plain", "application/json", "application/octet-stream"])(
    "PHP: a content type of %s does not matter",
    async (contentType) => {
      expect((await shop.ask('{"text":"Hello"}', { contentType })).shown).toEqual([text("Hello")]);
    },
  );

  it("PHP: slashes that json_encode escapes", async () => {
    const prints = `{"type":"image","url":"${url("menu.png")}"}`;
    const heard = await shop.ask((_event) => shop.really(prints).replaceAll("/", "\\/"));
    expect(heard.shown).toEqual([{ kind: "image" }]);
  });

  it("201 and 204 are accepted like 200", async () => {
    expect((await shop.ask('{"text":"Hello"}', { status: 201 })).shown).toEqual([text("Hello")]);
    expect(await shop.ask("", { status: 204 })).toMatchObject({ reply: { understood: true }, shown: [] });
  });
});

describe("silence", () => {
  it.each([
    ["PHP: echo false prints nothing", ""],
    ["PHP: echo json_encode(false)", "false"],
    ["PHP: echo json_encode(null), a helper without an answer", "null"],
    ["PHP: json_encode of an empty array", "[]"],
    ["JavaScript: an empty object", "{}"],
    ["n8n: a workflow that answers at once", '{"message":"Workflow was started"}'],
    ["ResponWebhookFormater::responAsText without lines", '{"text":"","quoted":false}'],
  ])("%s", async (_source, prints) => {
    const heard = await shop.ask(prints);
    expect(heard.shown).toEqual([]);
    expect(heard.reply).toEqual({ understood: true, ignored: [], ids: [] });
  });

  it.each([
    ["frameworks: OK", "OK"],
    ["Laravel: an HTML page", "<!DOCTYPE html><html><body>Welcome</body></html>"],
    [
      "PHP: a warning before the JSON",
      '<br />\n<b>Warning</b>:  Undefined index in <b>webhook.php</b>{"text":"x"}',
    ],
    ["PHP: print_r instead of json_encode", "Array\n(\n    [text] => Hello\n)\n"],
    ["PHP: echo true", "1"],
    ["PHP: JSON in UTF-16", Buffer.from('\uFEFF{"text":"x"}', "utf16le")],
    ["jasaholic/whatsapp_gateway: {mode, pesan, data}", '{"mode":"chat","pesan":"Halo"}'],
    [
      "MPWA: a Baileys location, which Parley does not send",
      '{"location":{"degreesLatitude":1,"degreesLongitude":2}}',
    ],
  ])("%s is no reply, and the delivery says why", async (_source, prints) => {
    const heard = await shop.ask(prints);
    expect(heard.shown).toEqual([]);
    expect(heard.reply).toMatchObject({ understood: false, ignored: [expect.any(String)], ids: [] });
    expect(heard.reply.ignored[0]).not.toContain("Halo");
  });
});

describe("what scripts read", () => {
  it.each<[string, Content]>([
    ["a text", { kind: "text", text: "MENU" }],
    ["a picture", { kind: "image", bytes: png() }],
    ["a location", { kind: "location", latitude: 1, longitude: 2 }],
  ])("PHP: strtolower of the message works for %s: it is a string in every event", async (_what, content) => {
    const heard = await shop.ask(({ message }) => JSON.stringify({ text: `<${message.toLowerCase()}>` }), {
      content,
    });
    expect(heard.shown).toEqual([text(content.kind === "text" ? "<menu>" : "<>")]);
  });

  it("MPWA: message, from and bufferImage, the fields that its first scripts read", async () => {
    const { event } = await shop.ask("");
    expect(event).toMatchObject({ message: "Hello", bufferImage: null, device: SHOP, pushName: "Ana" });
    expect(event.from).toMatch(/^\d{7,15}$/);
    const picture = png(7, 5);
    const { event: withImage } = await shop.ask("", { content: { kind: "image", bytes: picture } });
    expect(Buffer.from(withImage.bufferImage, "base64")).toEqual(picture);
  });
});
