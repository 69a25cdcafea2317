const TRUE_WORDS = ["1", "true", "on", "yes"];
const FALSE_WORDS = ["0", "false", "off", "no"];

/** All of them, as a text for people. */
export const FLAG_WORDS = `${TRUE_WORDS.join(", ")} or ${FALSE_WORDS.join(", ")}`;

/**
 * The one reading of flags, in settings, requests and replies: as boolean, as number, or as a word in any case. An unknown
 * word is not "no".
 *
 * @returns null when it is neither
 */
export function readFlag(value: unknown): boolean | null {
  if (typeof value === "boolean") return value;
  if (typeof value !== "string" && typeof value !== "number") return null;
  const word = String(value).trim().toLowerCase();
  if (TRUE_WORDS.includes(word)) return true;
  return FALSE_WORDS.includes(word) ? false : null;
}
