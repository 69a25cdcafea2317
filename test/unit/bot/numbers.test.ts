import { describe, expect, it } from "vitest";
import { numberIn } from "../../../src/bot/dialogues/numbers.ts";

describe("the one number in an answer", () => {
  it.each([
    ["4", "en", 4],
    ["4 people", "en", 4],
    ["we are 4!", "en", 4],
    ["For 4, please.", "en", 4],
    ["4️⃣", "en", 4],
    ["5€", "en", 5],
    ["-3", "en", -3],
    ["about 2.5 hours", "en", 2.5],
    ["2,5", "es", 2.5],
    ["a table for two", "en", 2],
    ["Twenty-five", "en", 25],
    ["two hundred and five", "en", 205],
    ["three thousand", "en", 3_000],
    ["somos 4", "es", 4],
    ["¡Somos cuatro!", "es", 4],
    ["una mesa para dos", "es", 2],
    ["una", "es", 1],
    ["treinta y dos personas", "es", 32],
    ["dieciséis", "es-MX", 16],
    ["mil doscientos", "es", 1_200],
    ["somos três", "pt-BR", 3],
    ["uma mesa para quatro", "pt", 4],
    ["vinte e cinco", "pt", 25],
    ["cento e vinte", "pt", 120],
    ["untuk empat orang", "id", 4],
    ["dua belas", "id", 12],
    ["seratus dua puluh lima", "id", 125],
    ["dua ratus", "id", 200],
    ["three of us", "id", 3],
    ["four", "fr", 4],
  ])("of %j in %s is %d", (text, locale, value) => {
    expect(numberIn(text, locale)).toBe(value);
  });

  it.each([
    ["", "en"],
    ["many", "en"],
    ["2 or 3", "en"],
    ["two or three", "en"],
    ["una o dos", "es"],
    ["three people and one child", "en"],
    ["tres personas y una niña", "es"],
    ["one two three", "en"],
    ["ten five", "en"],
    ["1,000", "en"],
    ["1.000 people", "es"],
    ["19:00", "en"],
    ["4kg", "en"],
    ["2-3", "en"],
    ["room 4 at 7", "en"],
    ["cuatro", "en"],
    [`4 ${"x ".repeat(200)}`, "en"],
  ])("of %j in %s is none", (text, locale) => {
    expect(numberIn(text, locale)).toBeUndefined();
  });
});
