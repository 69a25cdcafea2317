import { z } from "zod";
import { parseDestination } from "../address.ts";
import { GatewayError } from "../errors/errors.ts";
import { flag, integer, list, text } from "../fields.ts";
import type { Draft, Manner } from "./drafts.ts";
import { DAY_MS, SECOND_MS } from "../time.ts";

/** What everybody may say of a message beside its content: requests, webhooks' answers, bots. */

const MOST_MENTIONS = 1_024;
const LONGEST_TYPING = 10;
/** No time of a message is further ahead. */
export const LONGEST_AHEAD_MS = 365 * DAY_MS;

/** A person, by digits or LID, as the address on the wire. */
const person = () =>
  text(1, 100).transform((value, context) => {
    const parsed = parseDestination(value);
    if (parsed !== null && (parsed.kind === "number" || parsed.kind === "lid")) return parsed.jid;
    context.issues.push({
      code: "custom",
      input: value,
      message: "Must be a phone number with the country code, or …@lid.",
    });
    return z.NEVER;
  });

const partsOf = (value: string): string[] => value.split(/[,|]/).filter((part) => part.trim() !== "");

/** In a query or a form the people stand in one text. */
function asPeople(value: unknown): unknown {
  if (typeof value === "string") return partsOf(value);
  return Array.isArray(value) && value.length === 1 && typeof value[0] === "string"
    ? partsOf(value[0])
    : value;
}

const withZone = z.iso.datetime({ offset: true });

/** ISO 8601 with a zone as Unix milliseconds, or whole seconds from now. */
const deadline = () =>
  text(1, 100).transform((value, context): number | { seconds: number } => {
    const given = value.trim();
    if (/^\d{1,12}$/.test(given) && Number(given) > 0) return { seconds: Number(given) };
    if (withZone.safeParse(given).success) return Date.parse(given);
    context.issues.push({
      code: "custom",
      input: value,
      message:
        "Must be a time in ISO 8601 with a time zone, for instance 2030-01-31T12:00:00Z, or whole seconds from now.",
    });
    return z.NEVER;
  });

/** ISO 8601 with a zone, or Unix seconds, as Unix milliseconds. */
const moment = () =>
  text(1, 100).transform((value, context) => {
    const given = value.trim();
    if (/^\d{1,12}$/.test(given)) return Number(given) * SECOND_MS;
    if (withZone.safeParse(given).success) return Date.parse(given);
    context.issues.push({
      code: "custom",
      input: value,
      message:
        "Must be a time in ISO 8601 with a time zone, for instance 2030-01-31T12:00:00Z, or Unix seconds.",
    });
    return z.NEVER;
  });

/** Fields of a message whatever is in it. */
export const mannerFields = {
  mentions: z
    .preprocess(asPeople, list(person(), 0, MOST_MENTIONS))
    .optional()
    .meta({
      id: "Mentions",
      description: `Up to ${MOST_MENTIONS} people, digits or \`…@lid\`; phones show a mention where \`@<digits>\` stands in the text`,
    }),
  mention_all: flag().optional().meta({
    id: "MentionAll",
    description: "Mentions all members of a group, without changing the text; ignored elsewhere",
  }),
  send_at: moment().optional().meta({
    id: "SendAt",
    description:
      "When it is to be sent, up to 365 days ahead: ISO 8601 with a time zone, or Unix seconds. Until then it is `scheduled`",
  }),
  expires: deadline().optional().meta({
    id: "Expires",
    description:
      "What has not left by then never leaves: ISO 8601 with a time zone, or whole seconds from `send_at`, else from now",
  }),
  typing: integer(0, LONGEST_TYPING)
    .optional()
    .meta({ id: "Typing", description: "Seconds for which the chat shows typing before the message leaves" }),
  view_once: flag()
    .optional()
    .meta({ id: "ViewOnce", description: "Can be opened once: images, videos and voice notes" }),
};

/** These fields once they are checked. */
export type MannerInput = z.output<z.ZodObject<typeof mannerFields>>;

/**
 * How a message is said, of its checked fields.
 *
 * @param now Unix milliseconds
 * @throws INVALID_PARAMETERS when it was to be sent before now; TIME_NOT_USABLE when it may not leave by then any more, and for
 *   times that are more than 365 days ahead
 */
export function mannerOf({ send_at: sendAt, expires, ...input }: MannerInput, now: number): Manner {
  const { mentions, mention_all: all, typing, view_once: once } = input;
  if (sendAt !== undefined) requireToCome(sendAt, now);
  return {
    ...(sendAt !== undefined && { sendAt }),
    ...(expires !== undefined && { notAfter: endOf(expires, now, sendAt ?? now) }),
    ...(mentions !== undefined && mentions.length > 0 && { mentions: [...new Set(mentions)] }),
    ...(all && { mentionsAll: true as const }),
    ...(typing && { typingSeconds: typing }),
    ...(once && { viewOnce: true as const }),
  };
}

function requireToCome(sendAt: number, now: number): void {
  if (sendAt <= now)
    throw new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", {
      fields: { send_at: ["Is over."] },
    });
  if (sendAt > now + LONGEST_AHEAD_MS) throw notUsable("send_at", "Is more than 365 days ahead.");
}

/** @param from when it is to leave */
function endOf(expires: NonNullable<MannerInput["expires"]>, now: number, from: number): number {
  const at = typeof expires === "number" ? expires : from + expires.seconds * SECOND_MS;
  if (at <= from) throw notUsable("expires", from === now ? "Is over." : "Is before send_at.");
  if (at > from + LONGEST_AHEAD_MS) throw notUsable("expires", "Is more than 365 days ahead.");
  return at;
}

const notUsable = (field: string, why: string): GatewayError =>
  new GatewayError("TIME_NOT_USABLE", `The time in ${field} cannot be used.`, { fields: { [field]: [why] } });

/** What can be opened once. */
const ONCE: ReadonlySet<Draft["kind"]> = new Set(["image", "video", "voice"]);

/** Whether a message of this kind can be one that is opened once. */
export const canBeViewedOnce = (kind: Draft["kind"]): boolean => ONCE.has(kind);
