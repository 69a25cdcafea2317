import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { coversContact, coversEntry, type Contact } from "../../../src/model/address.ts";
import { parseDestination, parseRecipient } from "../../../src/model/address.ts";

const alone = (destination: string): Contact => ({ destination, aliases: [] });

/** A destination of each kind with the same digits: nothing but its host tells them apart. */
const HOSTS = { number: "", group: "@g.us", channel: "@newsletter", lid: "@lid" } as const;
const KINDS = Object.keys(HOSTS) as (keyof typeof HOSTS)[];
const kind = fc.constantFrom(...KINDS);
const digits = fc.stringMatching(/^[1-9][0-9]{6,14}$/);
const named = fc.tuple(kind, digits).map(([of, number]) => `${number}${HOSTS[of]}`);
/** The first digits of what is named, or those of another. */
const pattern = fc
  .tuple(kind, digits, fc.nat(15))
  .map(([of, number, length]) => parseRecipient(`${number.slice(0, length)}*${HOSTS[of]}`)!);
const entry = fc.oneof(named, pattern, fc.constant("*"), fc.constant("*@s.whatsapp.net"));
/** Patterns that begin like the destination, so that they meet. */
const near = fc.tuple(kind, digits, kind, fc.nat(15)).map(([of, number, patternOf, length]) => ({
  destination: `${number}${HOSTS[of]}`,
  kinds: [of, patternOf] as const,
  start: number.slice(0, length),
  entry: parseRecipient(`${number.slice(0, length)}*${HOSTS[patternOf]}`)!,
}));

describe("a pattern of recipients", () => {
  it("matches destinations of its own kind alone, whatever the digits", () => {
    fc.assert(
      fc.property(near, ({ destination, kinds: [of, patternOf], start, entry: own }) => {
        // A star without digits and host is everybody.
        const everybody = patternOf === "number" && start === "";
        expect(coversContact([own], alone(destination))).toBe(everybody || of === patternOf);
      }),
    );
  });

  it("hands on no entry that reaches further than itself", () => {
    const cut = fc.tuple(kind, fc.nat(15), fc.boolean());
    fc.assert(
      fc.property(digits, kind, cut, cut, (number, of, ...cuts) => {
        // All of the same digits, so that they are often within each other.
        const [own, wanted] = cuts.map(([cutOf, length, open]) =>
          open ? parseRecipient(`${number.slice(0, length)}*${HOSTS[cutOf]}`)! : `${number}${HOSTS[cutOf]}`,
        );
        const destination = alone(`${number}${HOSTS[of]}`);
        if (!coversEntry(own!, wanted!) || !coversContact([wanted!], destination)) return;
        expect(coversContact([own!], destination)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ["1*", "10133333333333@lid"],
    ["1*", "120363041234567890@g.us"],
    ["4915*", "4915111111111@lid"],
    ["4915*", "4915111111111-1600000000@g.us"],
    ["120363*@g.us", "120363041234567890"],
    ["120363*@g.us", "120363041234567890@newsletter"],
    ["*@lid", "4915111111111"],
    ["*@s.whatsapp.net", "4915111111111@lid"],
  ])("%s does not cover %s", (own, destination) => {
    expect(coversContact([own], alone(destination))).toBe(false);
  });

  it.each([
    ["1*", "13105550100"],
    ["*@g.us", "120363041234567890@g.us"],
    ["120363*@g.us", "120363041234567890@g.us"],
    ["4915*@g.us", "4915111111111-1600000000@g.us"],
    ["*@newsletter", "120363041234567890@newsletter"],
    ["*@lid", "10133333333333@lid"],
    ["*@s.whatsapp.net", "4915111111111"],
    ["*", "120363041234567890@g.us"],
  ])("%s covers %s", (own, destination) => {
    expect(coversContact([own], alone(destination))).toBe(true);
  });
});

describe("a contact who is known by LID and number", () => {
  const byLid: Contact = { destination: "10133333333333@lid", aliases: ["4915111111111"] };
  const byNumber: Contact = { destination: "4915111111111", aliases: ["10133333333333@lid"] };

  it.each([
    [["4915*"], true],
    [["4915111111111"], true],
    [["10133333333333@lid"], true],
    [["*"], true],
    [["*@lid"], false],
    [["1013*@lid"], false],
    [["4916*", "*@lid", "*@g.us"], false],
    [["1013*"], false],
  ])("is judged by the number, under either name: %j is %s", (entries, covered) => {
    expect([coversContact(entries, byLid), coversContact(entries, byNumber)]).toEqual([covered, covered]);
  });

  it("is not to be had by way of a new key for the LID, of one who may write to LIDs alone", () => {
    expect(coversEntry("*@lid", "10133333333333@lid")).toBe(false);
    expect(coversEntry("10133333333333@lid", "10133333333333@lid")).toBe(true);
    expect(coversEntry("*", "10133333333333@lid")).toBe(true);
    expect(coversEntry("*@lid", "1013*@lid")).toBe(true);
  });
});

describe("what is written into a key", () => {
  it("is taken again unchanged, and names or matches something", () => {
    fc.assert(
      fc.property(fc.oneof(entry, fc.string()), (text) => {
        const own = parseRecipient(text);
        if (own === null) return;
        expect(parseRecipient(own)).toBe(own);
        if (!own.includes("*")) expect(parseDestination(own)?.number).toBe(own);
      }),
    );
  });
});
