import { describe, expect, it } from "vitest";
import { z } from "zod";
import { fieldProblems } from "../../../src/model/errors/field-problems.ts";
import { destinations, ownNumber, text, time, trimmedText, visibleText } from "../../../src/model/fields.ts";

/** What is told of a field; null when it is taken. */
function problemOf(field: z.ZodType, value: unknown): string | null {
  const { error } = z.object({ field }).safeParse({ field: value }, { reportInput: true });
  return error === undefined ? null : fieldProblems(error.issues)["field"]!.join(" ");
}

describe("text that nobody can see", () => {
  const INVISIBLE = [
    ["white space", " \t\r\n\u00a0\u2003\u3000"],
    ["NUL", "\u0000"],
    ["control characters", "\u0001\u001b\u007f\u0085"],
    ["characters of no width", "\u200b\u200c\u200d\u2060\ufeff"],
    ["direction marks", "\u200e\u200f\u202a\u202e\u2066\u2069"],
    ["fillers", "\u3164\u115f\u1160\uffa0\u2800"],
    ["variation selectors and tags", "\ufe0f\u{e0020}\u{e0100}"],
    ["soft hyphens", "\u00ad\u034f"],
  ] as const;

  it.each(INVISIBLE)("is blank: %s", (_, characters) => {
    for (const blank of [characters, [...characters][0]!, ` ${characters}\n`]) {
      expect(problemOf(visibleText(100), blank)).toBe("Must not be blank.");
      // Trimmed to nothing it is missing.
      expect(problemOf(trimmedText(1, 100), blank)).toMatch(/^(Must not be blank|Is required)\.$/);
      expect(problemOf(trimmedText(0, 100), blank)).toBeNull();
    }
  });

  it.each(INVISIBLE)("may stand in what can be seen: %s", (_, characters) => {
    const said = `${characters}x${characters}`;
    expect(visibleText(100).parse(said)).toBe(said);
  });

  it.each(["👍", "❤️", "0", ".", "\u0301", "\ue000", "字"])("is not %j", (seen) => {
    expect(problemOf(visibleText(100), seen)).toBeNull();
  });

  it("is looked for in time that grows with the text alone", () => {
    const before = process.cpuUsage();
    for (const blank of ["\u0000", " ", "\u200b"]) problemOf(visibleText(65_536), blank.repeat(65_536));
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
  });
});

describe("what is of another kind", () => {
  it("is told its kind alone, not how long it should be", () => {
    expect(problemOf(visibleText(10), [])).toBe("Must be text.");
    expect(problemOf(text(1, 2), ["a", "b", "c"])).toBe("Must be text.");
  });

  it("and should be a time is told how times are written", () => {
    for (const value of [1_999_999_999, 1.5, true, "2026-01-01", [], {}])
      expect(problemOf(time(), value)).toMatch(/^Must be a time in ISO 8601 with a time zone/);
  });
});

describe("a number where text is wanted", () => {
  it.each([
    ["a fraction", 4915112345.5],
    ["a small fraction", 0.1],
    ["more than 2^53", 2 ** 53],
    ["much more", 4.9e27],
    ["infinity", Infinity],
  ])("is refused: %s", (_, number) => {
    for (const field of [text(1, 100), trimmedText(1, 100), visibleText(100), destinations(), ownNumber()])
      expect(problemOf(field, number)).toBe(
        "Must be text: a number with a fraction, or beyond 2^53, would lose digits.",
      );
  });

  it("is its digits when it is whole", () => {
    expect(text(1, 100).parse(4915112345678)).toBe("4915112345678");
    expect(text(1, 100).parse(Number.MAX_SAFE_INTEGER)).toBe("9007199254740991");
    expect(problemOf(destinations(), 4915112345678)).toBeNull();
  });
});

it.each([[[]], [["4915112345678"]], [["4915112345678", "4915112345679"]], [{}], [{ number: "1" }]])(
  "destinations as %j are told the form that is wanted",
  (value) => {
    expect(problemOf(destinations(), value)).toMatch(/one text.*separated by \|.*4915112345678\|/);
    expect(problemOf(destinations(), undefined)).toBe("Is required.");
  },
);
