import { regionOf } from "../../kit/text/region.ts";

const two = (value: number): string => String(value).padStart(2, "0");

/** The day in the viewer's zone, as `2026-02-28`. @param at ISO 8601 */
export function dayOf(at: string): string {
  const date = new Date(at);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

const DAY_MS = 24 * 3_600_000;

/** "today", "yesterday", the weekday within a week, else the date. @param day as `dayOf` gives it */
export function dayText(day: string, locale: string, now: number): string {
  const date = new Date(`${day}T12:00:00`);
  const today = new Date(`${dayOf(new Date(now).toISOString())}T12:00:00`);
  const distance = Math.round((today.getTime() - date.getTime()) / DAY_MS);
  if (distance === 0 || distance === 1) {
    const text = new Intl.RelativeTimeFormat(locale, { numeric: "auto" }).format(-distance, "day");
    return text.charAt(0).toLocaleUpperCase(locale) + text.slice(1);
  }
  const weekday = distance > 1 && distance < 7;
  const thisYear = date.getFullYear() === today.getFullYear();
  return new Intl.DateTimeFormat(
    locale,
    weekday
      ? { weekday: "long" }
      : { weekday: "short", day: "numeric", month: "long", ...(thisYear ? {} : { year: "numeric" }) },
  ).format(date);
}

/** In a list: the hour of today, the weekday of this week, else the date. @param at ISO 8601 */
export function shortTime(at: string, locale: string, now: number): string {
  const date = new Date(at);
  const region = regionOf(locale);
  const days = now - date.getTime();
  if (dayOf(at) === dayOf(new Date(now).toISOString()))
    return new Intl.DateTimeFormat(region, { hour: "2-digit", minute: "2-digit" }).format(date);
  if (days < 6 * DAY_MS) return new Intl.DateTimeFormat(region, { weekday: "short" }).format(date);
  return new Intl.DateTimeFormat(region, { dateStyle: "short" }).format(date);
}

/** The end of a day in the viewer's zone, as ISO 8601: what was written until then is older. */
export const endOfDay = (day: string): string =>
  new Date(Date.parse(`${day}T00:00:00`) + DAY_MS).toISOString();

/** `1:05`; of hours `1:02:03`. */
export function lengthText(seconds: number): string {
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}
