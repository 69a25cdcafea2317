/** What a text lists, one per line or separated by commas; null when it lists nothing. */
export function listed(text: string): string[] | null {
  const parts = text.split(/[\n,]/).map((part) => part.trim());
  const some = parts.filter((part) => part !== "");
  return some.length === 0 ? null : some;
}
