import { describe, expect, it } from "vitest";
import { parseReply } from "../../../src/webhooks/replies/reply.ts";

const parse = (body: string) => parseReply(Buffer.from(body));
const parseJson = (value: unknown) => parse(JSON.stringify(value));
const textsOf = (value: unknown) =>
  parseJson(value).replies.map((reply) => (reply.kind === "text" ? reply.text : reply.kind));
/** What one answer that is a file comes to. */
const fileOf = (value: unknown) => {
  const parsed = parseJson(value);
  expect(parsed.replies).toHaveLength(1);
  return { ...parsed.replies[0]!, ignored: parsed.ignored };
};

describe("texts", () => {
  it.each([
    ["message", { message: "Hello" }, "Hello"],
    ["text", { text: "Hello" }, "Hello"],
    ["reply", { reply: "Hello" }, "Hello"],
    ["the first of them that says something", { message: " ", text: "Hello", reply: "no" }, "Hello"],
    ["message before text", { text: "second", message: "first" }, "first"],
    ["a number", { message: 5 }, "5"],
    ["zero", { reply: 0 }, "0"],
    ["a bare JSON string", "Hello", "Hello"],
    ["a text of type text", { type: "text", text: "Hello" }, "Hello"],
    ["line breaks and white space as they are", { text: " Hello\n" }, " Hello\n"],
    ["fields that mean nothing here", { status: true, message: "Hello", image: null }, "Hello"],
    [
      "n8n's words with something beside them",
      { message: "Workflow was started", id: 1 },
      "Workflow was started",
    ],
  ])("%s", (_what, body, text) => {
    const expected = {
      understood: true,
      replies: [{ kind: "text", text, quoted: false }],
      ignored: [],
      hold: null,
    };
    expect(parseJson(body)).toEqual(expected);
  });

  it.each([true, 1, "1", "true", "yes", "On"])("quoted: %j quotes", (quoted) => {
    expect(parseJson({ text: "x", quoted }).replies).toEqual([{ kind: "text", text: "x", quoted: true }]);
  });

  it.each([false, 0, "0", "no", "maybe", null, {}])("quoted: %j does not, and the text goes", (quoted) => {
    expect(parseJson({ text: "x", quoted })).toMatchObject({
      understood: true,
      replies: [{ kind: "text", text: "x", quoted: false }],
    });
  });

  it("a byte order mark and white space around the JSON do not count", () => {
    expect(parse('\uFEFF \r\n{"message":"Hello"}\n ').replies).toHaveLength(1);
  });

  it("nothing but NUL says nothing, and half a character becomes a sign that WhatsApp takes", () => {
    expect(parse('"\\u0000"')).toEqual({ understood: true, replies: [], ignored: [], hold: null });
    expect(parse('{"text":"a\\ud83d"}').replies).toEqual([{ kind: "text", text: "a\ufffd", quoted: false }]);
  });

  it("one that is too long is recorded, not cut", () => {
    expect(parseJson("a".repeat(65_536)).replies).toHaveLength(1);
    expect(parseJson("a".repeat(65_537))).toMatchObject({
      understood: false,
      replies: [],
      ignored: [expect.stringMatching(/65536/)],
    });
  });
});

describe("silence", () => {
  it.each([
    "",
    " \n",
    "\uFEFF",
    "false",
    "null",
    "[]",
    "{}",
    '""',
    '"  "',
    '{"message":""}',
    '{"replies":[]}',
    '{"message":"Workflow was started"}',
    "[null, false, {}]",
  ])("%j is understood and says nothing", (body) => {
    expect(parse(body)).toEqual({ understood: true, replies: [], ignored: [], hold: null });
  });

  it.each([
    ["OK", "not JSON"],
    ["<html>", "not JSON"],
    ["{'message': 'x'}", "not JSON"],
    ["5", "bare number"],
    ["true", "bare boolean"],
    ['{"answer":"Hello"}', "unknown shape"],
    ['{"message":{"text":"Hello"}}', "unknown shape"],
    ['{"message":true}', "unknown shape"],
  ])("%s is no reply, and is recorded (%s)", (body, why) => {
    expect(parse(body)).toEqual({
      understood: false,
      replies: [],
      ignored: [expect.stringContaining(why)],
      hold: null,
    });
  });

  it("bytes that are no UTF-8 break nothing", () => {
    expect(parseReply(Buffer.from([0xff, 0xfe, 0x00])).replies).toEqual([]);
  });

  it("what is recorded quotes nothing of the answer but field names", () => {
    expect(JSON.stringify(parseJson({ secret_field: "private words" }))).not.toContain("private");
  });
});

describe("several replies", () => {
  it.each([
    ["an array", [{ text: "one" }, "two", { message: 3, quoted: true }]],
    ["replies", { replies: [{ text: "one" }, "two", { message: 3, quoted: true }], message: "not this" }],
  ])("%s, in order", (_what, body) => {
    expect(parseJson(body).replies).toMatchObject([
      { text: "one", quoted: false },
      { text: "two", quoted: false },
      { text: "3", quoted: true },
    ]);
  });

  it("at most ten; the rest is recorded", () => {
    const twelve = Array.from({ length: 12 }, (_, index) => `text ${index}`);
    const parsed = parseJson(twelve);
    expect(textsOf(twelve)).toEqual(Array.from({ length: 10 }, (_, index) => `text ${index}`));
    expect(parsed.ignored).toEqual([
      expect.stringMatching(/^replies\[10\]/),
      expect.stringMatching(/^replies\[11\]/),
    ]);
    expect(parsed.understood).toBe(true);
  });

  it("what cannot be read is recorded and the others go", () => {
    const answer = [{ text: "one" }, ["nested"], 7, { odd: 1 }, "two"];
    expect(textsOf(answer)).toEqual(["one", "two"]);
    expect(parseJson(answer).ignored).toHaveLength(3);
  });
});

describe("polls", () => {
  it.each([
    ["one answer unless told otherwise", { name: "Lunch?", option: ["Soup", "Salad"] }, 1],
    ["countable 1", { name: "Lunch?", option: ["Soup", "Salad"], countable: "1" }, 1],
    ["countable 0 is any number", { name: "Lunch?", option: ["Soup", "Salad"], countable: "0" }, 0],
    ["countable as a number", { name: "Lunch?", option: ["Soup", "Salad"], countable: 0 }, 0],
    ["options separated by commas", { name: "Lunch?", option: "Soup, Salad" }, 1],
    ["names and options are trimmed", { name: " Lunch? ", option: [" Soup", "Salad "] }, 1],
    ["a message beside it says nothing", { name: "Lunch?", option: ["Soup", "Salad"], message: "x" }, 1],
    ["nor does a file", { name: "Lunch?", option: ["Soup", "Salad"], type: "image", url: "http://x" }, 1],
  ])("%s", (_what, body, selectable) => {
    const poll = { kind: "poll", name: "Lunch?", options: ["Soup", "Salad"], selectable, quoted: false };
    expect(parseJson(body)).toEqual({ understood: true, replies: [poll], ignored: [], hold: null });
  });

  it("numbers may be options, and a poll may quote", () => {
    const poll = { options: ["1", "2", "3", "4", "5"], quoted: true };
    expect(parseJson({ name: "How many?", option: [1, 2, 3, 4, 5], quoted: true }).replies).toMatchObject([
      poll,
    ]);
  });

  it.each([
    ["one option", { name: "n", option: ["a"] }, /2 to 5 options, this one 1/],
    ["six options", { name: "n", option: ["a", "b", "c", "d", "e", "f"] }, /this one 6/],
    ["the same option twice", { name: "n", option: ["a", " a"] }, /the same/],
    ["an empty option", { name: "n", option: ["a", " "] }, /option of the poll/],
    ["an option that is no text", { name: "n", option: ["a", {}] }, /option of the poll/],
    ["a long option", { name: "n", option: ["a", "b".repeat(101)] }, /100 characters/],
    ["a blank name", { name: " ", option: ["a", "b"] }, /name/],
    ["a long name", { name: "n".repeat(256), option: ["a", "b"] }, /255/],
    ["another countable", { name: "n", option: ["a", "b"], countable: "2" }, /countable/],
  ])("with %s are recorded, and not sent as something else", (_what, body, why) => {
    const parsed = parseJson([{ ...body, message: "not this" }, "and a text"]);
    expect(parsed.replies).toMatchObject([{ text: "and a text" }]);
    expect(parsed.ignored).toEqual([expect.stringMatching(why)]);
    expect(parsed.ignored[0]).toMatch(/^replies\[0\]: /);
  });

  it("a name alone makes no poll", () => {
    expect(textsOf({ name: "Ana", message: "Hello" })).toEqual(["Hello"]);
    expect(textsOf({ name: "Ana", option: null, message: "Hello" })).toEqual(["Hello"]);
  });
});

describe("files", () => {
  const url = "https://shop.example/files/menu.png";
  const plain = { caption: null, fileName: null, voice: false, quoted: false, name: "answer", ignored: [] };

  it.each([
    ["{type, url}", { type: "image", url }, { mediaType: "image" }],
    ["{type, url, caption}", { type: "video", url, caption: "c" }, { mediaType: "video", caption: "c" }],
    [
      "{type, url, filename: null}",
      { type: "image", url, filename: null, caption: "" },
      { mediaType: "image" },
    ],
    [
      "{type: document, url, filename}",
      { type: "document", url, filename: "menu.pdf" },
      { mediaType: "document", fileName: "menu.pdf" },
    ],
    ["{media_type, url}", { media_type: "pdf", url }, { mediaType: "pdf" }],
    [
      "{media_type, url, caption} of a document: its file name",
      { media_type: "pdf", url, caption: "Menu" },
      { mediaType: "pdf", fileName: "Menu" },
    ],
    ["{media_type, url, ptt: vn}", { media_type: "mp3", url, ptt: "vn" }, { mediaType: "mp3", voice: true }],
    ["{image: {url}}", { image: { url } }, { mediaType: "image" }],
    ["{image: {url}, caption}", { image: { url }, caption: "c" }, { mediaType: "image", caption: "c" }],
    ["{video: {url}, text}", { video: { url }, text: "t" }, { mediaType: "video", caption: "t" }],
    [
      "{audio: {url}, ptt: true, mimetype}",
      { audio: { url }, ptt: true, mimetype: "audio/mpeg" },
      { mediaType: "audio", voice: true },
    ],
    [
      "{document: {url}, fileName, caption, mimetype}",
      { document: { url }, fileName: "a.pdf", caption: "c", mimetype: "application/pdf" },
      { mediaType: "document", fileName: "a.pdf", caption: "c" },
    ],
    [
      "{document: {url}, message}",
      { document: { url }, message: "Invoice 7" },
      { mediaType: "document", fileName: "Invoice 7" },
    ],
    ["a caption beside a text: the caption", { image: { url }, caption: "c", text: "t" }, { caption: "c" }],
    ["a blank caption is none", { image: { url }, caption: " ", text: "t" }, { caption: "t" }],
    ["a number as caption", { image: { url }, caption: 7 }, { caption: "7" }],
    ["the type in capital letters", { type: "IMAGE", url }, { mediaType: "image" }],
    ["media_type before type", { media_type: "pdf", type: "image", url }, { mediaType: "pdf" }],
    ["the first of two files", { video: { url: "http://b/" }, image: { url } }, { mediaType: "image" }],
    ["ptt only with audio", { image: { url }, ptt: true }, { mediaType: "image" }],
    ["a ptt that is any flag", { audio: { url }, ptt: "yes" }, { mediaType: "audio", voice: true }],
    ["another ptt is ignored", { audio: { url }, ptt: "voice" }, { mediaType: "audio" }],
    ["a line break after the link", { type: "image", url: `${url}\n` }, { mediaType: "image" }],
    ["quoted", { image: { url }, quoted: "1" }, { quoted: true }],
  ])("%s", (_what, body, expected) => {
    const mediaType = "mediaType" in expected ? expected.mediaType : "image";
    expect(fileOf(body)).toEqual({ ...plain, kind: "media", url, mediaType, ...expected });
  });

  it("choices beside an image go under it", () => {
    const answer = {
      image: { url },
      caption: "Choose",
      buttons: [{ buttonText: { displayText: "A" } }, "B"],
    };
    expect(fileOf(answer)).toMatchObject({ caption: "Choose\n\n1. A\n2. B", ignored: [] });
  });

  it("a caption that can be no file name stands under the document", () => {
    const text = "Our menu\nfor today\n";
    expect(fileOf({ type: "document", url, filename: null, caption: text })).toMatchObject({
      caption: text,
      fileName: null,
    });
    expect(fileOf({ document: { url }, buttons: ["a"] })).toMatchObject({ caption: "1. a", fileName: null });
    expect(fileOf({ media_type: "pdf", url, caption: text })).toMatchObject({
      caption: null,
      fileName: text,
    });
  });

  it("what cannot be shown beside a file is recorded", () => {
    const why = { ignored: ["answer: WhatsApp shows no text with audio"] };
    expect(fileOf({ audio: { url }, caption: "c" })).toMatchObject({ caption: null, ...why });
    expect(fileOf({ audio: { url }, text: "t" })).toMatchObject({ caption: null, ...why });
    expect(fileOf({ audio: { url }, buttons: ["a"] })).toMatchObject({ caption: null, ...why });
  });

  it.each(["ftp://x/y", "/menu.png", "data:image/png;base64,AAAA", "file:///etc/passwd", "http://"])(
    "a link that is %s is recorded, and nothing is sent as something else",
    (link) => {
      expect(parseJson({ type: "image", url: link, caption: "not this" })).toEqual({
        understood: false,
        replies: [],
        ignored: ["answer: the link to the file is neither http nor https"],
        hold: null,
      });
    },
  );

  it.each([
    [{ type: "image", text: "a text of type image" }, "a text of type image"],
    [{ type: "image", url: "", message: "no link" }, "no link"],
    [{ type: "chat", url, message: "another type" }, "another type"],
    [{ image: url, text: "a link that is no object" }, "a link that is no object"],
    [{ image: null, text: "nothing there" }, "nothing there"],
  ])("%j is no file", (body, text) => {
    expect(textsOf(body)).toEqual([text]);
  });

  it.each([{ sticker: { url } }, { type: "sticker", url }, { media_type: "sticker", url }])(
    "%j is a sticker, which has no words",
    (body) => {
      expect(fileOf({ ...body, text: "t" })).toMatchObject({
        mediaType: "sticker",
        url,
        caption: null,
        ignored: ["answer: WhatsApp shows no text with a sticker"],
      });
    },
  );
});

describe("buttons, lists and templates become numbered text", () => {
  it.each([
    [
      "buttons",
      {
        text: "Choose",
        footer: "Parley Coffee",
        buttons: [
          { buttonId: "1", buttonText: { displayText: "Menu" }, type: 1 },
          { buttonId: "2", buttonText: "Hours" },
          "Contact",
        ],
        headerType: 1,
        viewOnce: true,
      },
      "Choose\n\n1. Menu\n2. Hours\n3. Contact\n\nParley Coffee",
    ],
    [
      "a list, numbered through its sections",
      {
        title: "Our menu",
        text: "Pick one",
        buttonText: "Open",
        sections: [
          {
            title: "Warm",
            rows: [
              { title: "Soup", rowId: "a", description: "with bread" },
              { title: "Pasta", rowId: "b" },
            ],
          },
          { title: "Cold", rows: [{ title: "Salad", rowId: "c" }] },
        ],
      },
      "Our menu\n\nPick one\n\n*Warm*\n1. Soup – with bread\n2. Pasta\n*Cold*\n3. Salad",
    ],
    [
      "templates, with what they lead to",
      {
        text: "Contact us",
        templateButtons: [
          { index: 1, urlButton: { displayText: "Shop", url: "https://x.example" } },
          { index: 2, callButton: { displayText: "Call", phoneNumber: "+49 30 1" } },
          { index: 3, quickReplyButton: { displayText: "Later", id: "l" } },
        ],
      },
      "Contact us\n\n1. Shop: https://x.example\n2. Call: +49 30 1\n3. Later",
    ],
    ["no buttons at all", { text: "Just this", buttons: [] }, "Just this"],
    ["buttons that show nothing", { text: "Just this", buttons: [{}, 5, null], sections: "x" }, "Just this"],
  ])("%s", (_what, body, text) => {
    expect(parseJson(body).replies).toEqual([{ kind: "text", text, quoted: false }]);
  });

  it("a quote stays one", () => {
    expect(parseJson({ text: "x", buttons: ["a"], quoted: true }).replies).toMatchObject([
      { text: "x\n\n1. a", quoted: true },
    ]);
  });
});

describe("hold", () => {
  it("is read, also without a text", () => {
    expect(parseJson({ hold: 600 })).toEqual({ understood: true, replies: [], ignored: [], hold: 600 });
    expect(parseJson({ message: "x", hold: "60" })).toMatchObject({ hold: 60, replies: [{ text: "x" }] });
    expect(parseJson({ replies: ["x"], hold: 5 })).toMatchObject({ hold: 5, replies: [{ text: "x" }] });
    expect(parseJson({ image: { url: "http://x/y" }, hold: 5 }).hold).toBe(5);
  });

  it("within a list is read as well, the first one counts; beside a list it goes before", () => {
    expect(parseJson([{ message: "x", hold: 60 }, { hold: 70 }])).toMatchObject({ hold: 60, ignored: [] });
    expect(parseJson({ replies: [{ message: "x", hold: 60 }], hold: 5 })).toMatchObject({ hold: 5 });
    expect(parseJson([{ hold: 60 }])).toEqual({ understood: true, replies: [], ignored: [], hold: 60 });
  });

  it.each([-1, "soon", 1e9, {}, true, ""])("%j is recorded", (hold) => {
    expect(parseJson({ message: "x", hold })).toMatchObject({
      hold: null,
      replies: [{ text: "x" }],
      ignored: [expect.stringMatching(/hold/)],
    });
  });
});
