/** Undoes `%XX` in a part of an address. A `%` that begins no escape leaves the text as it is. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
