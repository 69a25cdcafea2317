import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { hasDisplay } from "../../src/demo/browser.ts";

/** Keys of a tree of texts with the placeholders of each: `why.answered {by}`. */
function keysOf(texts: Record<string, unknown>, above = ""): string[] {
  return Object.entries(texts).flatMap(([key, value]) =>
    typeof value === "string"
      ? [`${above}${key} ${[...new Set(value.match(/\{\w+\}/g))].toSorted().join(" ")}`]
      : keysOf(value as Record<string, unknown>, `${above}${key}.`),
  );
}
const textsOf = (language: string): Record<string, unknown> =>
  JSON.parse(readFileSync(new URL(`../../src/playground/locales/${language}.json`, import.meta.url), "utf8"));

describe("the playground's texts", () => {
  it.each(["es", "pt", "id"])(
    "are the same in %s as in English, with the same places to fill",
    (language) => {
      expect(keysOf(textsOf(language)).toSorted()).toEqual(keysOf(textsOf("en")).toSorted());
    },
  );
});

describe("a browser can be opened", () => {
  it.each([
    ["linux", { DISPLAY: ":0" }, true],
    ["linux", { WAYLAND_DISPLAY: "wayland-0" }, true],
    ["linux", {}, false],
    ["darwin", {}, true],
    ["darwin", { SSH_CONNECTION: "10.0.0.1 1 10.0.0.2 22" }, false],
  ] as const)("%s with %o: %s", (platform, env, expected) => {
    expect(hasDisplay(platform, env)).toBe(expected);
  });
});
