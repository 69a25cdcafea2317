import { describe, expect, it } from "vitest";
import { tooMuchIn } from "../../../src/model/content/json-shape.ts";

const LIMITS = { levels: 3, values: 5 };

describe("JSON that is looked at before it is parsed", () => {
  it.each([
    ["no container", '"text"'],
    ["as many levels as it may have", "[[[1]]]"],
    ["brackets in a text", '["[[[[[[{{{{,,,,,,,"]'],
    ["brackets behind an escaped quote", String.raw`["a\"[[[[[[", 1]`],
    ["a text that ends with a backslash", String.raw`["\\", "[[[["]`],
    ["levels beside each other", "[[1],[2]]"],
    ["a text without an end", '["[[[[[[[['],
    ["nothing", ""],
  ])("may have %s", (_, text) => {
    expect(tooMuchIn(text, LIMITS)).toBeNull();
  });

  it.each([
    ["lists", "[[[[1]]]]"],
    ["objects", '{"a":{"b":{"c":{}}}}'],
    ["both, without an end", '[{"a":[['],
    ["them behind a text that ends with a backslash", String.raw`["\\",[[[`],
  ])("has too many levels of %s", (_, text) => {
    expect(tooMuchIn(text, LIMITS)).toBe("levels");
  });

  it.each([
    ["in a list", "[1,2,3,4,5,6]"],
    ["in an object", '{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}'],
    ["that are empty", "[{},{},{}]"],
  ])("has too many values %s", (_, text) => {
    expect(tooMuchIn(text, LIMITS)).toBe("values");
  });

  it("stops at the first bracket that is too much, and passes texts of escapes once", () => {
    const begun = performance.now();
    expect(tooMuchIn("[".repeat(1_048_576), { levels: 64 })).toBe("levels");
    const escaped = `["${String.raw`\"`.repeat(524_288)}"]`;
    expect(tooMuchIn(escaped, { levels: 64 })).toBeNull();
    expect(tooMuchIn(`["${"\\".repeat(1_048_576)}"]`, { levels: 64 })).toBeNull();
    expect(performance.now() - begun).toBeLessThan(2_000);
  });
});
