import { describe, expect, it } from "vitest";
import { pieces, plain } from "../../../src/console/kit/text/foreign.ts";
import { hostileTexts } from "../../_setup/hostile-texts.ts";

const shown = (text: string): string =>
  pieces(text, 70_000)
    .map((piece) => (piece.unseen ? `[${piece.text}]` : piece.text))
    .join("");

describe("strangers' words", () => {
  it.each([
    ["a\u202Egnp.exe", "a[U+202E]gnp.exe"],
    ["a\u200bb\u0007", "a[U+200B]b[U+0007]"],
    ["two\n\tlines", "two\n\tlines"],
    ["👩\u200d🚀 and 👍🏽", "👩\u200d🚀 and 👍🏽"],
    ["نمی\u200cخواهم", "نمی\u200cخواهم"],
    [`a${"\u200d".repeat(40)}b`, "a[U+200D×40]b"],
    [`a${"\u200b".repeat(65_000)}b`, "a[U+200B×65000]b"],
    [
      "Việt é \u0e19\u0e49\u0e33 \u0915\u094d\u0937\u093f",
      "Việt é \u0e19\u0e49\u0e33 \u0915\u094d\u0937\u093f",
    ],
    [`e${"\u0301".repeat(60)}!`, `e${"\u0301".repeat(6)}[U+0301×54]!`],
  ])("show what would not be seen: %j", (text, seen) => expect(shown(text)).toBe(seen));

  it.each(hostileTexts("word"))("are taken apart in no time: %s", (_what, text) => {
    const start = performance.now();
    pieces(text, 70_000);
    expect(performance.now() - start).toBeLessThan(500);
  });

  it("in a sentence are short, and turn nothing of it", () => {
    expect(plain("a\u202Eb\nc")).toBe("aU+202Eb c");
    expect(plain("W".repeat(500))).toHaveLength(80);
  });
});
