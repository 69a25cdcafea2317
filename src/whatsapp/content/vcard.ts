interface ContactCard {
  displayName?: string | null;
  vcard?: string | null;
}

/** Names and numbers of shared contacts. Numbers are digits; WhatsApp's own (`waid`) before the one that is written. */
export function contactsIn(cards: (ContactCard | null | undefined)[]): { name: string; numbers: string[] }[] {
  return cards
    .filter((card) => card !== null && card !== undefined)
    .map(({ displayName, vcard }) => {
      const lines = linesOf(vcard ?? "");
      return { name: displayName || nameIn(lines), numbers: numbersIn(lines) };
    });
}

/** A long line goes on in the next one, which then begins with a blank (RFC 6350 §3.2). */
const linesOf = (vcard: string): string[] => vcard.replaceAll(/\r?\n[ \t]/g, "").split(/\r?\n/);

/** `item1.TEL;type=CELL:+49 …`: what stands before the name groups lines, what stands behind it are parameters. */
const isProperty = (line: string, name: string): boolean =>
  new RegExp(`^(?:[\\w-]+\\.)?${name}[;:]`, "i").test(line);

const valueOf = (line: string): string => line.slice(line.indexOf(":") + 1);

function nameIn(lines: string[]): string {
  const line = lines.find((candidate) => isProperty(candidate, "FN")) ?? "";
  return valueOf(line)
    .replaceAll(/\\([\\,;])/g, "$1")
    .replaceAll(/\\n/gi, " ")
    .trim();
}

function numbersIn(lines: string[]): string[] {
  const numbers = lines
    .filter((line) => isProperty(line, "TEL"))
    .map((line) => /waid=(\d+)/i.exec(line)?.[1] ?? valueOf(line).replaceAll(/\D/g, ""))
    .filter((number) => number !== "");
  return [...new Set(numbers)];
}
