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

/** Who wrote what went out, or answered what came. */
export interface Author {
  /** `person`: through the console or the API, nothing more is known. */
  kind: "bot" | "webhook" | "listeners" | "console" | "api" | "person" | "phone";
  /** Of the bot its id, of `api` what the key is called. */
  name: string | null;
}

const ALONE = ["webhook", "listeners", "console", "phone"] as const;

/** @param by as `by`, `answered_by` and the steps of a way have it; null: nobody that the gateway knows */
export function authorOf(by: string): Author {
  const [, kind, name] = /^(bot|api):(.+)$/s.exec(by) ?? [];
  if (kind !== undefined) return { kind: kind as "bot" | "api", name: name! };
  return { kind: ALONE.find((one) => one === by) ?? "person", name: null };
}

/** Of a message that went out: one that was stored just now has no `by` yet. */
export function writerOf({ by, state }: Message): Author {
  if (by !== undefined) return authorOf(by);
  return { kind: state === undefined ? "phone" : "person", name: null };
}

/** In words. */
export const authorText = ({ kind, name }: Author, t: Translate): string => t(`chats.by.${kind}`, { name });

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
