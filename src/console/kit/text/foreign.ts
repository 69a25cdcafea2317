/**
 * What changes how the rest looks, or cannot be seen: characters of direction and of no width (line ends and tabs are none of
 * them), joiners that join nothing, and marks that are stacked on one letter until they cover the lines above it.
 */
const UNSEEN =
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]+|[\u200c\u200d]{2,}|(?<=\p{M}{6})\p{M}+/gu;

/** A piece of a text: as it stands, or the name of a character that cannot be seen. */
export interface Piece {
  text: string;
  unseen: boolean;
}

/**
 * Strangers' words in pieces, with what cannot be seen as `U+202E`, or `U+200B×12` for many of it. A single joiner stays: emoji
 * and several scripts need it.
 *
 * @param most of its beginning, in UTF-16 units; the rest is left out
 */
export function pieces(text: string, most: number): Piece[] {
  const shown = text.slice(0, most);
  const found: Piece[] = [];
  let from = 0;
  for (const match of shown.matchAll(UNSEEN)) {
    if (match.index > from) found.push({ text: shown.slice(from, match.index), unseen: false });
    for (const text of named(match[0])) found.push({ text, unseen: true });
    from = match.index + match[0].length;
  }
  if (from < shown.length) found.push({ text: shown.slice(from), unseen: false });
  return found;
}
/** Each character of a run with how often it follows itself; of stacked marks, which may all differ, the first with their number. */
function named(run: string): string[] {
  const names: [code: string, times: number][] = [];
  const isMarks = /^\p{M}/u.test(run);
  for (const character of run) {
    const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
    const last = names.at(-1);
    if (last && (isMarks || last[0] === code)) last[1]++;
    else names.push([code, 1]);
  }
  return names.map(([code, times]) => (times === 1 ? `U+${code}` : `U+${code}×${times}`));
}

/** Somebody else's name for something as a part of a sentence of ours: what cannot be seen is named, what is long is cut. */
export const plain = (name: string): string =>
  pieces(name.replaceAll("\n", " "), 80)
    .map(({ text }) => text)
    .join("");
