import { expect, it } from "vitest";
import { z } from "zod";
import { configSchemaOf } from "../../../src/bot/bindings/config-schema.ts";
import { url } from "../../../src/bot/index.ts";
import type { StandardSchema } from "../../../src/bot/standard-schema.ts";

const schemaOf = (schema: unknown) => configSchemaOf(schema as StandardSchema);

it("what a bot takes is written down as it may be given: addresses, defaults, what is required", () => {
  const schema = z.object({
    crmUrl: url().optional(),
    language: z.enum(["en", "es"]).default("en").describe("What it speaks"),
    people: z.coerce.number().int().min(1).max(20),
  });
  expect(schemaOf(schema)).toMatchObject({
    type: "object",
    required: ["people"],
    properties: {
      crmUrl: { type: "string", format: "uri" },
      language: { enum: ["en", "es"], default: "en", description: "What it speaks" },
      people: { minimum: 1, maximum: 20 },
    },
  });
});

it("a part without a JSON form is anything, and does not hide the rest", () => {
  const schema = z.object({ name: z.string(), hook: z.custom(() => true), since: z.date() });
  expect(schemaOf(schema)).toMatchObject({ properties: { name: { type: "string" }, hook: {}, since: {} } });
});

it.each([
  ["no schema", null],
  [
    "a library that does not write its schema down",
    { "~standard": { version: 1, vendor: "own", validate: () => ({}) } },
  ],
  [
    "one whose schema throws",
    {
      "~standard": {
        version: 1,
        vendor: "own",
        validate: () => ({}),
        jsonSchema: {
          input() {
            throw new Error("not for this target");
          },
        },
      },
    },
  ],
  ["one as long as a book", z.object({ text: z.enum(Array.from({ length: 9000 }, (_, n) => `value-${n}`)) })],
])("%s: null", (_what, schema) => {
  expect(schemaOf(schema)).toBeNull();
});

it("another library says its own", () => {
  const own = {
    "~standard": {
      version: 1,
      vendor: "own",
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: () => ({ type: "object", properties: { a: { type: "string" } }, f: () => 1 }) },
    },
  };
  expect(schemaOf(own)).toEqual({ type: "object", properties: { a: { type: "string" } } });
});
