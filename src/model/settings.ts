import { StartError } from "./errors/errors.ts";
import { FLAG_WORDS, readFlag } from "./flags.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "./time.ts";

const UNITS: Record<string, number> = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** Variables of the process, or what a test puts in their place. */
export type Environment = Record<string, string | undefined>;

/** Typed reads of single settings. Each throws a `StartError` that names the setting and what it may be. */
export interface Settings {
  /** Trimmed; null when absent or empty. */
  text(name: string): string | null;
  /** @param fallback default: off */
  flag(name: string, fallback?: boolean): boolean;
  integer(name: string, fallback: number, min: number, max: number): number;
  /** Such as `30m`, `1h` or `2d`. @returns milliseconds; null when absent */
  duration(name: string, minMs: number, maxMs: number): number | null;
  oneOf<T extends string, F extends T | null>(name: string, allowed: readonly T[], fallback: F): T | F;
  /**
   * As written, once it is known to parse and to have one of the schemes.
   *
   * @param other what else the setting may be, for the message: the caller has seen that it is not
   */
  url(name: string, schemes: string[], other?: string): string | null;
}

/** Reads settings by name. An empty or blank variable counts as not set. */
export function createSettings(env: Environment): Settings {
  const text = (name: string): string | null => env[name]?.trim() || null;

  return {
    text,

    flag(name, fallback = false) {
      const word = text(name);
      if (word === null) return fallback;
      const value = readFlag(word);
      if (value === null) throw new StartError(`${name} must be one of ${FLAG_WORDS}.`);
      return value;
    },

    integer(name, fallback, min, max) {
      const written = text(name);
      if (written === null) return fallback;
      const value = /^\d{1,15}$/.test(written) ? Number(written) : Number.NaN;
      if (value >= min && value <= max) return value;
      throw new StartError(`${name} must be a whole number from ${min} to ${max}.`);
    },

    duration(name, minMs, maxMs) {
      const written = text(name);
      if (written === null) return null;
      const [, count, unit] = /^(\d{1,6})\s*([mhd])$/i.exec(written) ?? [];
      const ms = Number(count) * UNITS[(unit ?? "").toLowerCase()]!;
      if (ms >= minMs && ms <= maxMs) return ms;
      throw new StartError(
        `${name} must be a number with m, h or d, such as 30m, 1h or 1d, from ${minMs / MINUTE_MS} minutes to ${maxMs / DAY_MS} days.`,
      );
    },

    oneOf(name, allowed, fallback) {
      const written = text(name);
      if (written === null) return fallback;
      const word = allowed.find((candidate) => candidate === written.toLowerCase());
      if (word !== undefined) return word;
      throw new StartError(`${name} must be one of ${allowed.join(", ")}.`);
    },

    url(name, schemes, other) {
      const written = text(name);
      if (written === null) return null;
      // The value stays out of the message: addresses of databases and caches carry passwords.
      const parsed = URL.canParse(written) ? new URL(written) : null;
      if (parsed !== null && schemes.includes(parsed.protocol) && parsed.hostname !== "") return written;
      const allowed = schemes.map((scheme) => `${scheme}//`).join(" or ");
      const either = other === undefined ? "" : `${other}, or `;
      throw new StartError(`${name} must be ${either}a complete address that starts with ${allowed}.`);
    },
  };
}
