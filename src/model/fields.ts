import { z } from "zod";
import { parseDestination, parseDestinations, parseNumber, parseRecipient } from "./address.ts";
import { MOST_UNASKED, NO_PLACE, readPlace } from "./page.ts";
import { readFlag } from "./flags.ts";

/**
 * The kinds of fields that requests are made of. Callers send forms, query strings and JSON from many languages, so a
 * number or boolean is read as its text where text is wanted, and flags are words, see `flags.ts`.
 */

/** A flag or a whole number as its text; everything else stays what it is, and is refused where text is wanted. */
export function asText(value: unknown): unknown {
  if (typeof value === "boolean") return String(value);
  // Beyond 2^53 the digits that the caller wrote are lost already, and of a fraction the point would be: a message would go to
  // somebody else.
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  return value;
}

function asInteger(value: unknown): unknown {
  return typeof value === "string" && /^\s*-?\d{1,15}\s*$/.test(value) ? Number(value) : value;
}

/** What is no flag stays as it is, and is refused. */
const asFlag = (value: unknown): unknown => readFlag(value) ?? value;

/** Something that can be seen: no white space, control or format character, nor one that has no shape of its own. */
const VISIBLE = /[^\s\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Nothing in it can be seen. */
export const isBlank = (text: string): boolean => !VISIBLE.test(text);

const wellFormed = (text: string): boolean => text.isWellFormed();
/** What is said of half a character. */
export const NOT_UNICODE = "Is not valid Unicode text (a lone surrogate).";

/** Text of `min` to `max` UTF-16 units, unchanged. */
export const text = (min: number, max: number) =>
  z.preprocess(asText, z.string().min(min).max(max).refine(wellFormed, NOT_UNICODE));

const isBase64 = (value: string): boolean => value.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(value);

/** Bytes in base64, as one text without line breaks. @param max characters */
export const base64 = (max: number) => text(1, max).refine((value) => isBase64(value), "Must be base64.");

/** The id of a message to quote. What no message can be called is known nowhere, and quotes nothing. */
export const quotedId = () =>
  text(0, 65_536).optional().meta({ description: "Id of a message to quote; ignored when it is unknown" });

/** Text that says something: more than white space and what cannot be seen. */
export const visibleText = (max: number) =>
  text(1, max).refine((value) => !isBlank(value), "Must not be blank.");

/** Text trimmed before it is measured; what cannot be seen alone is none, unless none is needed. */
export const trimmedText = (min: number, max: number) =>
  z.preprocess(
    (value) => {
      const asked = asText(value);
      return typeof asked === "string" ? asked.trim() : asked;
    },
    z
      .string()
      .min(min)
      .max(max)
      .refine((value) => min === 0 || value === "" || !isBlank(value), "Must not be blank.")
      .refine(wellFormed, NOT_UNICODE),
  );

/** Exactly one of these words, letter case included. */
export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) => z.enum(values);

/** A whole number from `min` to `max`, both included; digits as text pass, as forms and queries send them. */
export const integer = (min: number, max: number) => z.preprocess(asInteger, z.int().min(min).max(max));

/** As phones offer them: never, a day, a week, ninety days. */
const TIMERS = [0, 86_400, 604_800, 7_776_000];

/** After how many seconds messages of a chat disappear. */
export const timer = () =>
  integer(0, 7_776_000)
    .refine((seconds) => TIMERS.includes(seconds), `Must be one of ${TIMERS.join(", ")}.`)
    .meta({ description: "Seconds: 0, 86400, 604800 or 7776000" });

/** `1`, `true`, `on`, `yes` and `0`, `false`, `off`, `no`, in any case, as boolean, number or text. */
export const flag = () => z.preprocess(asFlag, z.boolean());

/** A phone number, normalised to digits. */
export const phoneNumber = () =>
  text(1, 100).transform((value, context) => {
    const number = parseNumber(value);
    if (number !== null) return number;
    context.issues.push({
      code: "custom",
      input: value,
      message: "Must be a phone number: 7 to 15 digits with the country code.",
    });
    return z.NEVER;
  });

/** A phone number of this gateway (`sender`, `device`), normalised to digits. */
export const ownNumber = () =>
  phoneNumber().meta({ description: "A number of this account, digits with the country code" });

function refuseLists(value: unknown, context: z.RefinementCtx): unknown {
  if (typeof value !== "object" || value === null) return value;
  context.addIssue({
    code: "custom",
    message:
      "Must be one text: 1 to 10 destinations separated by |, for instance 4915112345678|120363000000000000@g.us.",
  });
  return z.NEVER;
}

/** 1 to 10 destinations separated by `|`. */
export const destinations = () =>
  z
    .preprocess(refuseLists, text(1, 10_000))
    .transform((value, context) => {
      const parsed = parseDestinations(value);
      if (parsed.ok) return parsed.destinations;
      context.issues.push({ code: "custom", input: value, message: parsed.problem });
      return z.NEVER;
    })
    .meta({
      description: "1 to 10 destinations separated by `|`: digits, `…@g.us`, `…@newsletter`, `…@lid`",
    });

/** One destination, in any form of its address. */
export const destination = () =>
  text(1, 100)
    .transform((value, context) => {
      const parsed = parseDestination(value);
      if (parsed !== null) return parsed;
      const message = "Must be digits with the country code, or …@g.us, …@newsletter, …@lid.";
      context.issues.push({ code: "custom", input: value, message });
      return z.NEVER;
    })
    .meta({ description: "Digits, `…@g.us`, `…@newsletter` or `…@lid`" });

/** A destination, or a pattern of one kind of destination. */
export const recipient = () =>
  text(1, 100)
    .transform((value, context) => {
      const entry = parseRecipient(value);
      if (entry !== null) return entry;
      context.issues.push({
        code: "custom",
        input: value,
        message:
          "Must be a destination, or a pattern: 4915* for phone numbers, 120363*@g.us for groups, *@newsletter for channels, *@lid, or * for everybody.",
      });
      return z.NEVER;
    })
    .meta({
      description:
        "A destination, or a pattern of one kind: `4915*` (phone numbers only), `120363*@g.us`, `*@newsletter`, `*@lid`; `*` is everybody",
    });

/** A list; one value alone is a list of one, as forms send it. */
export const list = <T extends z.ZodType>(item: T, min: number, max: number) =>
  z.preprocess((value) => {
    // One more than may be is enough to know: each further entry would be checked, and told of.
    if (Array.isArray(value)) return value.length > max ? value.slice(0, max + 1) : value;
    return value === undefined || typeof value === "object" ? value : [value];
  }, z.array(item).min(min).max(max));

/**
 * An object whose names and values are both checked.
 *
 * @param tooMany what is said of more than `max` entries; none of them is looked at then
 */
export const entries = <K extends z.ZodString, V extends z.ZodType>(
  name: K,
  value: V,
  max: number,
  tooMany: string,
) =>
  z.preprocess(
    (given, context) => {
      if (typeof given !== "object" || given === null || Object.keys(given).length <= max) return given;
      context.issues.push({ code: "custom", input: given, message: tooMany });
      return z.NEVER;
    },
    z.record(name, value),
  );

/** ISO 8601 with a time zone, as Unix milliseconds. */
export const time = () =>
  z
    .preprocess(
      // Whatever it is instead, how times are written is what helps.
      (value) => (value === undefined || typeof value === "string" ? value : ""),
      z.iso.datetime({
        offset: true,
        error: "Must be a time in ISO 8601 with a time zone, for instance 2030-01-31T12:00:00Z.",
      }),
    )
    .transform((value) => Date.parse(value));

/** How many records a page of a list that grows has. */
export const limit = () => integer(1, 100).default(50);

/** Where a page of such a list begins. */
export const before = () =>
  text(1, 255)
    .optional()
    .meta({ description: "`next` of the previous page, the id of a record, or a time in ISO 8601" });

/** The same for a list whose records have no place of their own. */
export const beforePlace = () =>
  text(1, 255)
    .refine((value) => readPlace(value) !== null, NO_PLACE)
    .optional()
    .meta({ description: "`next` of the previous page, or a time in ISO 8601" });

/** Which page of a list of what came and went is wanted. */
export const pageOfMany = () => ({ limit: limit(), before: beforePlace() });

/** The same of what people make one by one: without `limit` nearly everybody is told all of it. */
export const pageOfFew = () => ({
  limit: integer(1, 100)
    .optional()
    .meta({ description: `Maximum number of records on a page; default: ${MOST_UNASKED}` }),
  before: beforePlace(),
});

/** A time in an answer: ISO 8601, UTC. */
export const isoTime = () => z.iso.datetime();
