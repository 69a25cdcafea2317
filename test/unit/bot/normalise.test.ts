import { describe, expect, it } from "vitest";
import { normalise } from "../../../src/bot/messages/normalise.ts";

describe("keywords are compared after normalising", () => {
  it.each([
    ["case", "MENU", "menu"],
    ["accents", "Menú", "menu"],
    ["accents in decomposed form", "Menu\u0301", "menu"],
    ["white space around", "  menu \n", "menu"],
    ["white space inside", "good \t\u00a0 morning", "good morning"],
    ["punctuation around", "¡menu!?…", "menu"],
    ["WhatsApp's bold", "*menu*", "menu"],
    ["emoji around", "👋🏽 menu ❤️", "menu"],
    ["a family of emoji", "👨‍👩‍👧 menu", "menu"],
    ["a flag", "menu 🇩🇪", "menu"],
    ["full width letters", "ｍｅｎｕ", "menu"],
    ["a keycap", "1️⃣", "1"],
    ["direction marks", "\u200emenu\u200f", "menu"],
    ["sharp s", "Straße", "strasse"],
    ["final sigma", "ΟΔΟΣ", "οδοσ"],
    ["greek accents", "Μενού", "μενου"],
    ["curly apostrophe", "what’s up", "what's up"],
    ["Turkish capital i", "İptal", "iptal"],
  ])("%s: %j is %j", (_what, text, normal) => {
    expect(normalise(text)).toBe(normal);
  });

  it.each([
    ["marks that make another letter in other scripts", "が", "か"],
    ["short i and i in Cyrillic", "мой", "мои"],
    ["Devanagari vowels", "कि", "क"],
    ["a word and a longer one", "menu please", "menu"],
    ["signs of languages", "c++", "c"],
    ["punctuation inside", "e-mail", "email"],
  ])("%s stay different: %j and %j", (_what, one, other) => {
    expect(normalise(one)).not.toBe(normalise(other));
  });

  it("a text of signs alone is itself", () => {
    expect(normalise("👍")).toBe("👍");
    expect(normalise(" ? ")).toBe("?");
    expect(normalise("❤️")).toBe(normalise("❤"));
  });

  it("blank and endless texts are no keyword", () => {
    expect(normalise(" \u200b\n")).toBeNull();
    expect(normalise("a".repeat(4097))).toBeNull();
  });

  it("a long row of signs takes no quadratic time", () => {
    const row = `${"!".repeat(2000)}a${"!".repeat(2000)}b`;
    const before = process.cpuUsage();
    for (let i = 0; i < 50; i++) normalise(row);
    // 50 × 4,000 characters: milliseconds when linear, many seconds when quadratic.
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
  });

  it("normalising twice changes nothing", () => {
    for (const text of ["Menú!", "Straße 5", "👋 HI", "ＡＢＣ", "İ"]) {
      const once = normalise(text)!;
      expect(normalise(once)).toBe(once);
    }
  });
});
