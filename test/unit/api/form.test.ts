import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeForm } from "../../../src/api/reading/form.ts";

const lists = new Set(["option"]);
const decode = (text: string) => decodeForm(text, lists)!;

describe("decodeForm", () => {
  it.each<[string, Record<string, unknown>]>([
    ["", {}],
    ["&&", {}],
    ["a=1&b=2", { a: "1", b: "2" }],
    ["a=1+2%2B3%202", { a: "1 2+3 2" }],
    ["a=100%&b=%zz%4", { a: "100%", b: "%zz%4" }],
    ["a=%C3%A4%F0%9F%98%80", { a: "ä😀" }],
    ["a=x=y", { a: "x=y" }],
    ["a&b=", { a: "", b: "" }],
    ["a=1&a=2&a=3", { a: "3" }],
    ["+a=1", { a: "1" }],
    ["option=a", { option: ["a"] }],
    ["option=a&option=b", { option: ["a", "b"] }],
    ["option[]=a&option[]=b", { option: ["a", "b"] }],
    ["option%5B%5D=a&option%5B%5D=b", { option: ["a", "b"] }],
    ["option[1]=b&option[0]=a", { option: ["a", "b"] }],
    ["option[10]=c&option[9]=b&option[]=d", { option: ["b", "c", "d"] }],
    ["option[0]=a&option[0]=b", { option: ["b"] }],
    ["headers[X-A]=1&headers[X-B]=2", { headers: { "X-A": "1", "X-B": "2" } }],
    ["number[]=1", { number: ["1"] }],
    ["[a]=1&b[=2", { "[a]": "1", "b[": "2" }],
  ])("reads %j", (text, fields) => {
    expect(decode(text)).toEqual({ fields, notUtf8: [] });
  });

  it.each(["%E4", "%C3%28", "%ED%A0%80", "%FF", "ok%C3", "%E4%zz"])(
    "names the field whose bytes are %s",
    (bytes) => {
      expect(decode(`a=1&b=${bytes}`)).toEqual({ fields: { a: "1" }, notUtf8: ["b"] });
    },
  );

  it("cannot reach into objects", () => {
    const { fields } = decode("__proto__[polluted]=1&constructor[prototype]=2&__proto__=3");
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(Object.keys(fields)).toEqual(["__proto__", "constructor"]);
  });

  it("names a field whose name is not UTF-8 as well", () => {
    expect(decode("a=1&%ff=2")).toEqual({ fields: { a: "1" }, notUtf8: ["\ufffd"] });
  });

  it("reads at most 1,000 fields, and looks at none of more", () => {
    expect(decode("option[]=a&".repeat(999)).fields["option"]).toHaveLength(999);
    expect(decodeForm("option[]=&".repeat(1_000), lists)).toBeNull();
    expect(decodeForm("&".repeat(1_048_576), lists)).toBeNull();
  });

  it.each([
    ["escapes nothing", "%"],
    ["escapes half a byte", "%4"],
    ["is no UTF-8", "%ff"],
    ["is the beginning of a character", "%e2%82"],
    ["mixes both", "%ff%zz+%"],
    ["is UTF-8", "%e2%82%ac"],
  ])("takes its share of time, and no exception, for a mebibyte that %s", (_, part) => {
    const text = `a=${part.repeat(Math.floor(1_048_576 / part.length))}`;
    const before = process.cpuUsage();
    decode(text);
    // A tenth of a second is what it takes on a slow machine; half a million exceptions took two.
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  });

  it("gives back what URLSearchParams wrote", () => {
    const name = fc.stringMatching(/^[a-z]{1,8}$/).filter((text) => text !== "option");
    fc.assert(
      fc.property(fc.dictionary(name, fc.string({ unit: "grapheme" })), (fields) => {
        expect(decode(new URLSearchParams(fields).toString()).fields).toEqual(fields);
      }),
    );
  });
});
