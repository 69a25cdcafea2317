/** What a file may be called, wherever the name comes from and wherever it goes. */

/** Longest name, its extension included, in UTF-16 units. */
export const LONGEST_NAME = 255;
/** An extension has a letter in it: "Report 2024.10" has none, and "archive.7z" has one. */
const EXTENSION = /\.(?=[a-z0-9]{0,8}[a-z])[a-z0-9]{1,8}$/i;
/** Controls, line breaks, what turns the direction of writing, and what takes no room: nothing of it can be seen. */
const UNSEEN =
  /[\p{Cc}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;
/** More of a name is not looked at. */
const LOOKED_AT = 65_536;

/**
 * A name of somebody else's, as a name only: the last part of a path, without anything that cannot be seen, at most
 * {@link LONGEST_NAME} long with its extension kept.
 *
 * @returns "" when nothing is left
 */
export function plainName(name: string): string {
  const visible = name.slice(0, LOOKED_AT).replace(UNSEEN, "");
  const last = visible.slice(Math.max(visible.lastIndexOf("/"), visible.lastIndexOf("\\")) + 1).trim();
  return last === "." || last === ".." ? "" : shortName(last.toWellFormed());
}

/** The same for words that somebody gave as a name: what parts a path is part of the words. */
export function nameOfWords(words: string): string {
  return plainName(words.slice(0, LOOKED_AT).trim().replace(/[/\\]/g, "_"));
}

/** @param extension without the dot; appended when the name has none, unless it is "" */
export function withExtension(name: string, extension: string): string {
  if (extension === "" || EXTENSION.test(name)) return name;
  let end = name.length;
  while (name[end - 1] === ".") end--;
  return shortName(`${name.slice(0, end) || "file"}.${extension}`);
}

function shortName(name: string): string {
  if (name.length <= LONGEST_NAME) return name;
  const extension = EXTENSION.exec(name.slice(-9))?.[0] ?? "";
  const start = name.slice(0, LONGEST_NAME - extension.length);
  // Not half of a sign.
  return (start.isWellFormed() ? start : start.slice(0, -1)) + extension;
}
