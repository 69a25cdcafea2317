import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  parseDestination,
  parseDestinations,
  parseLid,
  parseNumber,
  parseRecipient,
} from "../../src/model/address.ts";

const numbers = (text: string): string[] => {
  const parsed = parseDestinations(text);
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.destinations.map(({ number }) => number);
};
const problem = (text: string): string => {
  const parsed = parseDestinations(text);
  if (parsed.ok) throw new Error(`${text} was taken: ${JSON.stringify(parsed.destinations)}`);
  return parsed.problem;
};
const tenDigits = (last: number): string => `49151000${String(last).padStart(2, "0")}`;

describe("parseNumber", () => {
  it.each([
    ["4915112345678", "4915112345678"],
    ["+49 (151) 123-456.78", "4915112345678"],
    ["004915112345678", "4915112345678"],
    ["+00 4915112345678", "4915112345678"],
    ["  4915112345678  ", "4915112345678"],
    ["4915112345678@s.whatsapp.net", "4915112345678"],
    ["+49 151 12345678@c.us", "4915112345678"],
    ["4915112345678@S.WhatsApp.Net", "4915112345678"],
    ["1234567", "1234567"],
    ["123456789012345", "123456789012345"],
    ["00 1234567", "1234567"],
    ["+49 (0)151 12345678", "4915112345678"],
    ["+49(0)15112345678", "4915112345678"],
    ["0049 ( 0 ) 151 123 456 78", "4915112345678"],
    ["(+49) (0) 151-12345678", "4915112345678"],
    ["49.(0).151.12345678@c.us", "4915112345678"],
    ["+44 (0)20 7946 0018", "442079460018"],
    // A zero of the number itself stays.
    ["+49 151 (01) 23456", "491510123456"],
    ["+49 (151) 0 (0) 23456", "491510023456"],
  ])("reads %j as %s", (text, number) => {
    expect(parseNumber(text)).toBe(number);
  });

  it.each([
    ["too short", "123456"],
    ["too long", "1234567890123456"],
    ["a leading zero", "0151123456789"],
    ["a zero behind the one leading 00", "0001234567"],
    ["a second 00", "00001234567"],
    ["letters", "49151abc4567"],
    ["a slash", "49/1511234567"],
    ["digits of another script", "٤٩١٥١١٢٣٤٥٦٧٨"],
    ["full-width digits", "４９１５１１２３４５６７８"],
    ["a device part", "4915112345678:3@s.whatsapp.net"],
    ["a list", "4915112345678|4915112345679"],
    ["a LID", "123456789012345@lid"],
    ["a group", "120363000000000000@g.us"],
    ["another host", "4915112345678@example.org"],
    ["two hosts", "4915112345678@c.us@c.us"],
    ["an exponent", "4.9e13@c.us"],
    ["nothing", ""],
    ["only symbols", "+()-."],
  ])("refuses %s", (_, text) => {
    expect(parseNumber(text)).toBeNull();
  });

  it("reads every spelling of a number as the same digits", () => {
    const digits = fc.stringMatching(/^[1-9][0-9]{6,14}$/);
    const separators = fc.array(fc.constantFrom("", " ", "-", ".", "(", ")", "+"), {
      minLength: 15,
      maxLength: 15,
    });
    fc.assert(
      fc.property(digits, separators, fc.constantFrom("", "00"), (number, between, prefix) => {
        const spelled = [...number].map((digit, index) => between[index] + digit).join("");
        // That is no separator: see above.
        fc.pre(!/^\(?\d+\)?\(0\)/.test(spelled.replaceAll(/[ .+-]/g, "")));
        expect(parseNumber(prefix + spelled)).toBe(number);
      }),
    );
  });

  it("gives only what it takes again unchanged, whatever it is given", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const number = parseNumber(text);
        expect(number === null ? null : parseNumber(number)).toBe(number);
      }),
    );
  });
});

describe("parseDestination", () => {
  it.each([
    ["4915112345678", "number", "4915112345678", "4915112345678@s.whatsapp.net"],
    ["120363041234567890@g.us", "group", "120363041234567890@g.us", "120363041234567890@g.us"],
    [
      "4915112345678-1400000000@g.us",
      "group",
      "4915112345678-1400000000@g.us",
      "4915112345678-1400000000@g.us",
    ],
    [
      "120363098765432109@newsletter",
      "channel",
      "120363098765432109@newsletter",
      "120363098765432109@newsletter",
    ],
    ["98765432101234@lid", "lid", "98765432101234@lid", "98765432101234@lid"],
    [" 98765432101234@LID ", "lid", "98765432101234@lid", "98765432101234@lid"],
  ])("reads %j as a %s", (text, kind, number, jid) => {
    expect(parseDestination(text)).toEqual({ kind, number, jid });
  });

  it.each([
    "@g.us",
    "abc@g.us",
    "12036-@g.us",
    "1-2-3@g.us",
    "@lid",
    "98765432101234:7@lid",
    "+98765432101234@lid",
    "status@broadcast",
    "4915112345678@broadcast",
    "120363041234567890@g.us.example.org",
    "120363041234567890@newsletter@g.us",
    "120363041234567890 @g.us",
    "120363041234567890@g.us\n1",
  ])("refuses %j", (text) => {
    expect(parseDestination(text)).toBeNull();
  });
});

describe("parseDestinations", () => {
  it("keeps first-seen order and drops empty parts", () => {
    expect(numbers("|4915100000002||4915100000001| |120363041234567890@g.us|")).toEqual([
      "4915100000002",
      "4915100000001",
      "120363041234567890@g.us",
    ]);
  });

  it("sends duplicates once, compared after normalising", () => {
    expect(numbers("+49 151 12345678|4915112345678|004915112345678@c.us")).toEqual(["4915112345678"]);
  });

  it("takes a number and its LID as two destinations", () => {
    expect(numbers("4915112345678|4915112345678@lid")).toEqual(["4915112345678", "4915112345678@lid"]);
  });

  it("counts what is left: ten may stand there twice", () => {
    const ten = Array.from({ length: 10 }, (_, index) => tenDigits(index));
    expect(numbers([...ten, ...ten, ""].join("|"))).toEqual(ten);
  });

  it("refuses more than ten", () => {
    const eleven = Array.from({ length: 11 }, (_, index) => tenDigits(index));
    expect(problem(eleven.join("|"))).toContain("at most 10 destinations");
  });

  it.each(["", "|", " | || "])("refuses %j, which names nobody", (text) => {
    expect(problem(text)).toContain("at least one");
  });

  it("names the malformed one, shortened, and takes none of the others", () => {
    expect(problem("4915112345678|nobody")).toContain('"nobody"');
    expect(problem("x".repeat(5_000)).length).toBeLessThan(250);
  });
});

describe("parseLid", () => {
  it.each([
    ["98765432101234", "98765432101234@lid"],
    ["98765432101234@lid", "98765432101234@lid"],
    ["98765432101234:12@lid", "98765432101234@lid"],
    ["98765432101234:12", "98765432101234@lid"],
    [" 98765432101234@LID ", "98765432101234@lid"],
  ])("reads %j as %s", (text, lid) => {
    expect(parseLid(text)).toBe(lid);
  });

  it.each(["", "@lid", "abc@lid", "123@s.whatsapp.net", "12 34@lid", "+1234@lid", "123:@lid", "123:x@lid"])(
    "refuses %j",
    (text) => {
      expect(parseLid(text)).toBeNull();
    },
  );
});

describe("parseRecipient", () => {
  it.each([
    ["+49 151 12345678", "4915112345678"],
    ["+49 151*", "49151*"],
    ["0049*", "49*"],
    ["*", "*"],
    ["120363041234567890@g.us", "120363041234567890@g.us"],
    [" 120363*@G.US ", "120363*@g.us"],
    ["4915-16*@g.us", "4915-16*@g.us"],
    ["*@g.us", "*@g.us"],
    ["*@newsletter", "*@newsletter"],
    ["12*@lid", "12*@lid"],
    ["+49 151*@c.us", "49151*"],
    ["*@s.whatsapp.net", "*@s.whatsapp.net"],
  ])("reads %j as %s", (text, entry) => {
    expect(parseRecipient(text)).toBe(entry);
  });

  it.each([
    "",
    "abc*",
    "49**",
    "4*9",
    "*@",
    "*@example.org",
    "*@broadcast",
    "4*@g.us@lid",
    "+4*@lid",
    "-1*@g.us",
    "1234567890123456*",
    "12",
  ])("refuses %j", (text) => {
    expect(parseRecipient(text)).toBeNull();
  });
});
