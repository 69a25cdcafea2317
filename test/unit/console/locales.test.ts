import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const folder = fileURLToPath(new URL("../../../src/console/locales/", import.meta.url));
const LANGUAGES = ["en", "es", "pt", "id"];

interface Texts {
  [key: string]: string | Texts;
}

/** `["live.lost", "Connection lost"]` of all texts of a file. */
const textsOf = (texts: Texts, before = ""): [string, string][] =>
  Object.entries(texts).flatMap(([key, text]) =>
    typeof text === "string" ? [[before + key, text] as [string, string]] : textsOf(text, `${before}${key}.`),
  );
const read = (language: string, area: string): [string, string][] =>
  textsOf(JSON.parse(readFileSync(`${folder}${language}/${area}`, "utf8")) as Texts);

/** What is put into a text, each name once: a plural may leave one out where the number says it. */
const placeholders = (text: string): string =>
  [...new Set([...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]))].toSorted().join(" ");
const shapes = (texts: [string, string][]): string[] =>
  texts.map(([key, text]) => `${key} {${placeholders(text)}}`).toSorted();

const areas = readdirSync(`${folder}en`);

describe("texts of the console", () => {
  it("stand in the same files in every language", () => {
    for (const language of LANGUAGES)
      expect(readdirSync(folder + language), `Make the same files in ${folder}${language}.`).toEqual(areas);
  });

  it.each(areas)("%s has the same texts, with the same places in them, in every language", (area) => {
    const english = shapes(read("en", area));
    for (const language of LANGUAGES)
      expect(
        shapes(read(language, area)),
        `Give src/console/locales/${language}/${area} the texts of en/${area}.`,
      ).toEqual(english);
  });

  it("leave none empty, and none that the syntax of messages would read otherwise", () => {
    const wrong = LANGUAGES.flatMap((language) =>
      areas.flatMap((area) =>
        read(language, area)
          .filter(([, text]) => text.trim() === "" || /[@$]|\{(?!\w+\})/.test(text))
          .map(([key, text]) => `${language}/${area} ${key}: ${text}`),
      ),
    );
    expect(wrong).toEqual([]);
  });
});
