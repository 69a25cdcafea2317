import { milliseconds } from "../../bot/duration.ts";

/** @returns Unix milliseconds; 0 when it is absent @throws Error when it is no time */
export function readSince(text: string | undefined, now = Date.now()): number {
  if (text === undefined) return 0;
  if (/^\d+(\.\d+)?\s*[a-z]+$/.test(text)) return now - milliseconds(text, "--since");
  if (text === "yesterday") return new Date(now).setHours(-24, 0, 0, 0);
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const at = new Date(isDay ? `${text}T00:00` : text).getTime();
  if (Number.isNaN(at))
    throw new Error(
      `--since ${text} is not a time. Use 24h, 7d, yesterday, 2030-01-31 or 2030-01-31T12:00:00Z.`,
    );
  return at;
}

/** @throws Error when it is no count */
export function readCount(name: string, text: string | undefined, usual: number): number {
  if (text === undefined) return usual;
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new Error(`--${name} must be a whole number from 1 to 9999.`);
}

/** `Rosa=Eva,Bonn=Berlin` @throws Error when it is not of that form */
export function readReplacements(text: string | undefined): Record<string, string> {
  const pairs = (text ?? "").split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const [word, instead, ...rest] = pair.split("=").map((part) => part.trim());
      if (!word || instead === undefined || rest.length > 0)
        throw new Error(`--replace ${pair} must have the form <word>=<other word>.`);
      return [word, instead];
    }),
  );
}
