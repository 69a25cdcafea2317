import { canBeViewedOnce } from "../../model/content/manner.ts";
import type { Manner } from "../../model/messages.ts";
import { SECOND_MS } from "../../model/time.ts";
import { milliseconds } from "../duration.ts";
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
  return "file" in wanted ? { ...wanted, manner } : { draft: { ...wanted.draft, ...manner } };
}

function mannerOf(
  { mentions = [], mentionAll, viewOnce, typing, expires }: SendOptions,
  call: string,
  now: number,
): Manner {
  return {
    ...(mentions.length > 0 && { mentions: mentions.map((person) => addressOf(person, call)) }),
    ...(mentionAll === true && { mentionsAll: true as const }),
    ...(viewOnce === true && { viewOnce: true as const }),
    ...(typing !== undefined && { typingSeconds: secondsOf(typing, call) }),
    ...(expires !== undefined && { notAfter: endOf(expires, call, now) }),
  };
}

function secondsOf(typing: NonNullable<SendOptions["typing"]>, call: string): number {
  const seconds = milliseconds(typing, `${call}: typing`) / SECOND_MS;
  if (seconds > LONGEST_TYPING) throw new TypeError(`${call}: typing is at most ${LONGEST_TYPING} s.`);
  return seconds;
}

function endOf(expires: NonNullable<SendOptions["expires"]>, call: string, now: number): number {
  const at = expires instanceof Date ? expires.getTime() : now + milliseconds(expires, `${call}: expires`);
  if (!(at > now)) throw new TypeError(`${call}: expires must be a time to come.`);
  return at;
}

function kindOf(wanted: Wanted) {
  if (!("file" in wanted)) return wanted.draft.kind;
  const { mediaType, voice } = wanted.file;
  if (mediaType === "image" || mediaType === "video") return mediaType;
  return voice ? "voice" : "document";
}
