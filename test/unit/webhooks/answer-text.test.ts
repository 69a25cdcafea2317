import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { textOfAnswer } from "../../../src/webhooks/replies/answer-text.ts";
import { parseReply } from "../../../src/webhooks/replies/reply.ts";

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");
const utf16be = (text: string): Buffer => Buffer.from(text, "utf16le").swap16();
const said = (body: Buffer, type: string | null) =>
  parseReply(body, type).replies.map((reply) => (reply.kind === "text" ? reply.text : reply.kind));
const CAFE = '{"message":"café"}';

describe("a webhook's answer", () => {
  it.each<[string, string | null, Buffer]>([
    ["Latin-1", "application/json; charset=ISO-8859-1", latin1(CAFE)],
    ["Latin-1, as PHP spells it", 'text/html;charset="iso-8859-1"', latin1(CAFE)],
    ["Latin-1, in capitals", "TEXT/HTML ; Charset = LATIN1 ; x=y", latin1(CAFE)],
    ["windows-1252", "application/json; charset=windows-1252", latin1(CAFE)],
    ["UTF-16, little end first", "application/json; charset=utf-16", Buffer.from(CAFE, "utf16le")],
    ["UTF-16, big end first", "application/json; charset=utf-16be", utf16be(CAFE)],
    [
      "UTF-16 whose mark says that the big end comes first",
      "application/json; charset=utf-16",
      utf16be(`\uFEFF${CAFE}`),
    ],
    [
      "UTF-8 with a mark, which goes before the header",
      "text/plain; charset=iso-8859-1",
      Buffer.from(`\uFEFF${CAFE}`),
    ],
    ["UTF-8 without a word of it", "application/json", Buffer.from(CAFE)],
    ["UTF-8 without a type", null, Buffer.from(CAFE)],
    ["an empty charset", "application/json; charset=", Buffer.from(CAFE)],
  ])("is read by its charset: %s", (_, type, body) => {
    expect(said(body, type)).toEqual(["café"]);
  });

  it("of Windows has its quotes and its euro sign", () => {
    const body = Buffer.concat([latin1('{"message":"'), Buffer.from([0x93, 0x80, 0x94, 0x85]), latin1('"}')]);
    expect(said(body, "text/plain; charset=iso-8859-1")).toEqual(["“€”…"]);
  });

  it("of Japan is read", () => {
    const body = Buffer.concat([latin1('{"message":"'), Buffer.from([0x93, 0xfa, 0x96, 0x7b]), latin1('"}')]);
    expect(said(body, "application/json; charset=Shift_JIS")).toEqual(["日本"]);
  });

  it.each<[string, string | null, Buffer, string]>([
    [
      "in a charset that nobody knows",
      "text/plain; charset=klingon",
      Buffer.from(CAFE),
      'the charset "klingon" is not known',
    ],
    [
      "that calls itself UTF-7",
      "text/plain; charset=utf-7",
      Buffer.from(CAFE),
      'the charset "utf-7" is not known',
    ],
    [
      "in Latin-1 that says nothing of it",
      "application/json",
      latin1(CAFE),
      "the answer is not valid text in utf-8",
    ],
    [
      "that is half a character of Japan",
      "text/plain; charset=shift_jis",
      Buffer.from([0x22, 0x93]),
      "the answer is not valid text in shift_jis",
    ],
    [
      "of an odd number of bytes in UTF-16",
      "text/plain; charset=utf-16",
      Buffer.from([0x22, 0, 0x41]),
      "the answer is not valid text in utf-16",
    ],
  ])("%s is not understood, and says why", (_, type, body, why) => {
    expect(parseReply(body, type)).toEqual({ understood: false, replies: [], ignored: [why], hold: null });
  });

  it("gives nobody a replacement character, whatever its bytes and its header are", () => {
    const charset = fc.constantFrom(
      "utf-8",
      "iso-8859-1",
      "shift_jis",
      "utf-16",
      "gb18030",
      "euc-kr",
      "x",
      '"',
      "",
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), charset, fc.string(), (bytes, named, rest) => {
        const body = Buffer.concat([latin1('"'), bytes, latin1('"')]);
        const read = textOfAnswer(body, `text/plain; ${rest}; charset=${named}`);
        // The sign itself may be what was meant.
        const lossless =
          "problem" in read || body.includes(Buffer.from("\uFFFD")) || !read.text.includes("\uFFFD");
        const plain = !("problem" in read) || /^[\x20-\x7e]+$/.test(read.problem);
        expect({ lossless, plain }).toEqual({ lossless: true, plain: true });
      }),
    );
  });
});

describe("a JSON string", () => {
  const parse = (value: unknown) => parseReply(Buffer.from(JSON.stringify(value)));

  it.each([
    ["a reply", '{"message":"Hello"}', ["Hello"]],
    ["a list of replies", '["one","two"]', ["one", "two"]],
    ["a text", '"Hello"', ["Hello"]],
    ["with white space around", ' \n{"text":"Hello"} ', ["Hello"]],
    ["digits, which stay a text", "5", ["5"]],
    ["nothing that is JSON", "{Hello}", ["{Hello}"]],
    ["JSON that holds JSON, which is read once", JSON.stringify('"x"'), ['"x"']],
  ])("that holds %s is read as that", (_, held, texts) => {
    expect(parse(held)).toMatchObject({
      understood: true,
      replies: texts.map((text) => ({ kind: "text", text })),
    });
  });

  it("that is nested half a million times, or holds what is, is looked through and not parsed", () => {
    const deep = "[".repeat(500_000) + "]".repeat(500_000);
    const why = { understood: false, replies: [], ignored: ["the answer is nested deeper than 64 levels"] };
    expect(parseReply(Buffer.from(deep))).toMatchObject(why);
    expect(parse(deep)).toMatchObject(why);
    expect(parse({ message: `${"[".repeat(100)}\\"{` })).toMatchObject({ understood: true });
  });

  it.each([["null"], ["false"], ["{}"], ["[]"], ['{"message":"Workflow was started"}']])(
    "that holds %s says nothing",
    (held) => {
      expect(parse(held)).toEqual({ understood: true, replies: [], ignored: [], hold: null });
    },
  );
});
