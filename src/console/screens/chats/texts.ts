import type { Message } from "./records.ts";

/** Translates: as `t` of vue-i18n. */
export type Translate = (key: string, values?: Record<string, unknown>) => string;

const WITHOUT_WORDS = new Set([
  "image",
  "video",
  "audio",
  "voice",
  "document",
  "sticker",
  "location",
  "contact",
  "poll",
  "call",
  "channel",
  "unknown",
]);

/** What a message of this type is called where its text does not tell; null: the text is all. */
export const typeText = (type: string, t: Translate): string | null =>
  WITHOUT_WORDS.has(type) ? t(`chats.types.${type}`) : null;

/** Who wrote what went out, or answered what came: `bot`, `webhook`, `person` or `phone`, and which bot. */
export interface Author {
  kind: "bot" | "webhook" | "person" | "phone";
  bot: string | null;
}

/** @param by as `answered_by` and the steps of a way have it; null: nobody that the gateway knows */
export function authorOf(by: string): Author {
  const bot = /^bot:(.+)$/.exec(by)?.[1] ?? null;
  return { kind: bot === null ? (by === "webhook" ? "webhook" : "person") : "bot", bot };
}

/** Of a message that went out. */
export function writerOf({ answered_by: by, state }: Message): Author {
  if (by !== undefined) return authorOf(by);
  return { kind: state === undefined ? "phone" : "person", bot: null };
}

/** In words. */
export const authorText = ({ kind, bot }: Author, t: Translate): string => t(`chats.by.${kind}`, { bot });

/** Bytes, for people. */
export function sizeText(bytes: number, locale: string): string {
  const steps = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;
  let step = 0;
  let size = bytes;
  while (size >= 1000 && step < steps.length - 1) {
    size /= 1000;
    step++;
  }
  return new Intl.NumberFormat(locale, {
    style: "unit",
    unit: steps[step]!,
    unitDisplay: "short",
    maximumFractionDigits: size < 10 && step > 0 ? 1 : 0,
  }).format(size);
}

/** The same file by an address of this origin: the policy of the page allows no other. */
export function ownAddress(url: string): string {
  const { pathname, search } = new URL(url, location.origin);
  return pathname + search;
}
