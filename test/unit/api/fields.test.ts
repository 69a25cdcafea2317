import { describe, expect, it } from "vitest";
import { z } from "zod";
import { endpoints } from "../../../src/api/endpoints/index.ts";
import type { Endpoint } from "../../../src/api/endpoint.ts";
import { failed } from "../../../src/api/answers/envelope.ts";
import { validate } from "../../../src/api/reading/input.ts";
import { GatewayError } from "../../../src/model/errors/errors.ts";
import { createSettings } from "../../../src/model/settings.ts";

type Problems = Record<string, string[]>;

/** What an endpoint answers to fields that are wrong; null when it takes them. */
function problemsOf(
  endpoint: Pick<Endpoint, "method" | "input">,
  fields: Record<string, unknown>,
): Problems | null {
  try {
    validate(endpoint, { fields, problems: {} });
    return null;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return (failed(error).body["errors"] as { fields: Problems }).fields;
  }
}

const textsIn = (problems: Problems | null): string[] => Object.values(problems ?? {}).flat();

const find = (method: string, path: string): Endpoint =>
  endpoints.find((endpoint) => endpoint.method === method && endpoint.path === path)!;

/** Every field of every endpoint. */
const everyField = endpoints.flatMap((endpoint) =>
  Object.keys(endpoint.input.shape).map((name) => ({ endpoint, name })),
);

describe("a flag", () => {
  const flagged = everyField.filter(({ endpoint, name }) =>
    JSON.stringify(textsIn(problemsOf(endpoint, { [name]: { no: "flag" } }))).includes("a flag: "),
  );

  it("stands in these fields", () => {
    const names = flagged.map(({ endpoint, name }) => `${endpoint.method} ${endpoint.path} ${name}`);
    expect(names).toEqual(
      expect.arrayContaining([
        "POST /generate-qr force",
        "POST /groups refresh",
        "PUT /devices/{number}/webhook enabled",
        "PUT /devices/{number}/webhook read",
        "PATCH /admin/accounts/{id} enabled",
      ]),
    );
  });

  it("means what it says in any case, as boolean, number and text, in every field", () => {
    for (const { endpoint, name } of flagged) {
      const field = endpoint.input.shape[name] as z.ZodType;
      for (const word of ["1", "true", "True", "TRUE", "on", "On", "yes", "YES", 1, true, " true "])
        expect(field.safeParse(word), `${name}: ${word}`).toMatchObject({ success: true, data: true });
      for (const word of ["0", "false", "False", "FALSE", "off", "Off", "no", "NO", 0, false])
        expect(field.safeParse(word), `${name}: ${word}`).toMatchObject({ success: true, data: false });
    }
  });

  it("is refused when it is anything else: an unknown word is not no", () => {
    for (const { endpoint, name } of flagged)
      for (const word of [
        "perhaps",
        "",
        " ",
        "2",
        "-1",
        2,
        0.5,
        "truee",
        "y",
        "n",
        "null",
        [],
        [true],
        {},
        "wahr",
      ])
        expect(problemsOf(endpoint, { [name]: word })?.[name], `${name}: ${JSON.stringify(word)}`).toEqual([
          expect.stringContaining("a flag: 1, true, on, yes or 0, false, off, no"),
        ]);
  });

  it("is read the same way in settings", () => {
    const settings = createSettings({ A: "Yes", B: "OFF", C: "perhaps" });
    expect([settings.flag("A"), settings.flag("B")]).toEqual([true, false]);
    expect(() => settings.flag("C")).toThrow("C must be one of 1, true, on, yes or 0, false, off, no.");
  });
});

describe("a field that PUT or PATCH does not know", () => {
  const replacing = endpoints.filter(({ method }) => method === "PUT" || method === "PATCH");

  it.each(replacing.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const))(
    "is refused by %s, with the nearest that it knows",
    (_, endpoint) => {
      for (const known of Object.keys(endpoint.input.shape)) {
        const misspelt = `${known.slice(0, 1)}${known}`;
        expect(problemsOf(endpoint, { [misspelt]: 1 })?.[misspelt]).toEqual([
          `Is not a field of this endpoint; the nearest is "${known}".`,
        ]);
      }
    },
  );

  it("is refused within lists, named by its place", () => {
    const bots = find("PUT", "/devices/{number}/bots");
    expect(problemsOf(bots, { bots: [{ id: "ping", enabled: true, prioritty: 1 }] })).toEqual({
      "bots.0.prioritty": ['Is not a field of this endpoint; the nearest is "priority".'],
    });
  });

  it("is not sought where any name is right: headers of a webhook, the configuration of a bot", () => {
    const webhook = find("PUT", "/devices/{number}/webhook");
    const bots = find("PUT", "/devices/{number}/bots");
    expect(problemsOf(webhook, { url: "https://example.org", headers: { "X-Any": "1" } })).toBeNull();
    expect(
      problemsOf(bots, { bots: [{ id: "ping", enabled: "1", config: { any: { thing: 1 } } }] }),
    ).toBeNull();
  });

  it("is told of a key in the body where it does not count", () => {
    expect(problemsOf(find("PATCH", "/admin/accounts/{id}"), { api_key: "x" })).toEqual({
      api_key: ["Is not read here: send the key as Authorization: Bearer."],
    });
  });

  it("is named like what every object has, or is a megabyte long", () => {
    const patch = find("PATCH", "/admin/accounts/{id}");
    for (const name of ["__proto__", "constructor", "toString"])
      expect(problemsOf(patch, Object.fromEntries([[name, 1]]))).toHaveProperty([name]);
    const long = problemsOf(patch, { ["x".repeat(1_000_000)]: 1 });
    expect(JSON.stringify(long).length).toBeLessThan(300);
  });

  it("is ignored by endpoints that send, ask or make", () => {
    const send = find("POST", "/send-message");
    const fields = { sender: "4915112345678", number: "4915100000001", message: "hi", mesage: "?" };
    expect(problemsOf(send, fields)).toBeNull();
  });
});

/** Values that are wrong nearly everywhere, of every shape that JSON has. */
const MANY = 70_000;
const wrong: [string, unknown][] = [
  ["nothing", undefined],
  ["a number with a fraction", 1.5],
  ["a huge number", 1e300],
  ["a negative number", -1],
  ["no text", ""],
  ["blanks", "   "],
  ["NUL", "\u0000"],
  ["a lone surrogate", "\ud83d"],
  ["a long text", "x".repeat(1_000_000)],
  ["a word", "perhaps"],
  ["an empty list", []],
  ["an empty object", {}],
  ["a list of lists", [[[]]]],
  ["a list of null", [null]],
  ["a list of objects", [{ id: {} }, { enabled: [] }]],
  ["an object of anything", { a: { b: 1 }, "": [], __proto__: 1 }],
  ["an object with bad names", { "bad name": "x", "a:b": 1 }],
  ["a very long list", Array.from({ length: MANY * 4 }, () => 1)],
  ["a very long list of objects", Array.from({ length: MANY }, () => ({ a: 1 }))],
  [
    "an object with very many bad names",
    Object.fromEntries(Array.from({ length: MANY }, (_, i) => [`bad ${i}`, 1])),
  ],
];

/** Words that only a developer of the schema library would know. */
const FOREIGN =
  /zod|invalid (?:input|key|element|string|option|type)|expected|received|\bentries\b(?! long)|\brecord\b|\bundefined\b|\bnan\b|discriminator|union|regex|\bnever\b/i;

describe("what is wrong with a field", () => {
  it.each(wrong)("is said in our own words, at most 20 times, soon: %s", (_, value) => {
    for (const { endpoint, name } of everyField) {
      const started = process.cpuUsage();
      const problems = problemsOf(endpoint, { [name]: value });
      const texts = textsIn(problems);
      const where = `${endpoint.method} ${endpoint.path} ${name}: ${texts.join(" ").slice(0, 300)}`;
      expect(texts.length, where).toBeLessThanOrEqual(20);
      expect(JSON.stringify(problems).length, where).toBeLessThan(10_000);
      expect(
        texts.filter((text) => FOREIGN.test(text)),
        where,
      ).toEqual([]);
      expect(
        texts.filter((text) => !/^["A-Z].*[.*]$/s.test(text)),
        where,
      ).toEqual([]);
      // Of a megabyte and more; a hundred times as long is what checking each of its parts takes.
      expect(process.cpuUsage(started).user / 1_000, where).toBeLessThan(1_000);
    }
  });

  it("counts like people do", () => {
    const schema = z.object({ a: z.string().max(1), b: z.array(z.string()).min(2), c: z.string().min(2) });
    expect(problemsOf({ method: "POST", input: schema }, { a: "ab", b: ["x"], c: "x" })).toEqual({
      a: ["Must be at most 1 character long."],
      b: ["Must be at least 2 entries long."],
      c: ["Must be at least 2 characters long."],
    });
  });
});
