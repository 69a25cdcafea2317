/** Characters that change how what follows looks, or that cannot be seen; line ends and tabs are none of them. */
const UNSEEN =
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** A piece of a text: as it stands, or the name of a character that cannot be seen. */
export interface Piece {
  text: string;
  unseen: boolean;
}

/**
 * Strangers' words in pieces, with what cannot be seen as `U+202E`. Zero-width joiners stay: emoji and several scripts need them.
 *
 * @param most of its beginning, in UTF-16 units; the rest is left out
 */
export function pieces(text: string, most: number): Piece[] {
  const shown = text.slice(0, most);
  const found: Piece[] = [];
  let from = 0;
  for (const match of shown.matchAll(UNSEEN)) {
    if (match.index > from) found.push({ text: shown.slice(from, match.index), unseen: false });
    const code = match[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    found.push({ text: `U+${code}`, unseen: true });
    from = match.index + match[0].length;
  }
  if (from < shown.length) found.push({ text: shown.slice(from), unseen: false });
  return found;
}
