/** Longer texts are no keyword, and are not worth normalising. */
const LONGEST_KEYWORD_MESSAGE = 4096;

// Letters of other scripts keep their marks: there a mark makes another letter or vowel (が, й, ि), not an accent.
const ACCENT = /([\p{Script=Latin}\p{Script=Greek}])[\u0300-\u036f]+/gu;
const ASCII = /^[\x20-\x7e]*$/;
const LETTER = /^[a-z0-9]$/;
const PLAIN = /^[a-z0-9]+(?: [a-z0-9]+)*$/;
// Signs of sums and money stay ("c++", "5€"); emoji are So, their skin tones Sk, their joiners and selectors C and M.
const AROUND = /[\p{P}\p{So}\p{Sk}\p{Z}\p{C}\p{Extended_Pictographic}\ufe0e\ufe0f\u20e3]/u;

/**
 * A text as keywords are compared: Unicode form, case, accents and white space made equal, punctuation and emoji around
 * it removed. A text that is nothing but signs ("👍", "?") stays what it is.
 *
 * @returns null for a text that can be no keyword: blank, or longer than 4,096 characters
 */
export function normalise(text: string): string | null {
  if (text.length > LONGEST_KEYWORD_MESSAGE) return null;
  if (PLAIN.test(text)) return text;
  const folded = foldCase(text);
  const inner = stripAround(folded);
  if (inner !== "") return inner.replace(/[\p{Z}\s]+/gu, " ");
  // Whatever colour a hand has, it means the same.
  const signs = folded.replace(/[\p{Z}\p{C}\s\p{Emoji_Modifier}\ufe0e\ufe0f]+/gu, "");
  return signs === "" ? null : signs;
}

function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase().replaceAll("`", "'");
  return (
    text
      .normalize("NFKD")
      .replace(ACCENT, "$1")
      // Up and down again: ß becomes ss, ı becomes i. The sigma at the end of a word is the same letter.
      .toUpperCase()
      .toLowerCase()
      .replaceAll("ς", "σ")
      .replace(/[‘’ʼ`´]/g, "'")
      .normalize("NFC")
  );
}

/** From both ends by hand: a pattern anchored at the end takes quadratic time on a long row of signs. */
function stripAround(text: string): string {
  let start = 0;
  let end = text.length;
  for (let point = pointAt(text, start); start < end && isAround(point); point = pointAt(text, start))
    start += point.length;
  for (let point = pointBefore(text, end); end > start && isAround(point); point = pointBefore(text, end))
    end -= point.length;
  return text.slice(start, end);
}

const isAround = (point: string): boolean => !LETTER.test(point) && AROUND.test(point);
const pointAt = (text: string, at: number): string =>
  at < text.length ? String.fromCodePoint(text.codePointAt(at)!) : "";

function pointBefore(text: string, end: number): string {
  const two = text.slice(Math.max(0, end - 2), end);
  return two.length === 2 && two.codePointAt(0)! > 0xffff ? two : text.slice(Math.max(0, end - 1), end);
}
