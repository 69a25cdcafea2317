import { canBeViewedOnce, LONGEST_AHEAD_MS } from "../../model/content/manner.ts";
import type { Manner } from "../../model/content/drafts.ts";
import { SECOND_MS } from "../../model/time.ts";
import { milliseconds, type Duration } from "../duration.ts";
import type { SendOptions } from "../types.ts";
import { addressOf, type Wanted } from "./content.ts";

const LONGEST_TYPING = 10;

/**
 * Reads the options of a message.
 *
 * @param call names it in errors
 * @param now Unix milliseconds
 * @throws {TypeError} that says what is wrong with them
 */
export function mannered(wanted: Wanted, options: SendOptions, call: string, now: number): Wanted {
  const manner = mannerOf(options, call, now);
  if (manner.viewOnce && !canBeViewedOnce(kindOf(wanted)))
    throw new TypeError(`${call}: viewOnce is for images, videos and voice notes.`);
  if (Object.keys(manner).length === 0) return wanted;
  return "draft" in wanted ? { draft: { ...wanted.draft, ...manner } } : { ...wanted, manner };
}

function mannerOf(options: SendOptions, call: string, now: number): Manner {
  const { mentions = [], mentionAll, viewOnce, typing, sendAt, expires } = options;
  const leavesAt = sendAt === undefined ? now : timeToCome(sendAt, `${call}: sendAt`, now);
  return {
    ...(sendAt !== undefined && { sendAt: leavesAt }),
    ...(expires !== undefined && { notAfter: timeToCome(expires, `${call}: expires`, leavesAt) }),
    ...(mentions.length > 0 && { mentions: mentions.map((person) => addressOf(person, call)) }),
    ...(mentionAll === true && { mentionsAll: true as const }),
    ...(viewOnce === true && { viewOnce: true as const }),
    ...(typing !== undefined && { typingSeconds: secondsOf(typing, call) }),
  };
}

function secondsOf(typing: NonNullable<SendOptions["typing"]>, call: string): number {
  const seconds = milliseconds(typing, `${call}: typing`) / SECOND_MS;
  if (seconds > LONGEST_TYPING) throw new TypeError(`${call}: typing is at most ${LONGEST_TYPING} s.`);
  return seconds;
}

/** @param from Unix milliseconds; the time must be later, by at most 365 days */
function timeToCome(given: Date | Duration, what: string, from: number): number {
  const at = given instanceof Date ? given.getTime() : from + milliseconds(given, what);
  if (!(at > from)) throw new TypeError(`${what} must be a time to come.`);
  if (at > from + LONGEST_AHEAD_MS) throw new TypeError(`${what} is more than 365 days ahead.`);
  return at;
}

function kindOf(wanted: Wanted) {
  if ("forward" in wanted) return "forward";
  if ("draft" in wanted) return wanted.draft.kind;
  const { mediaType, voice } = wanted.file;
  if (mediaType === "image" || mediaType === "video") return mediaType;
  return voice ? "voice" : "document";
}
