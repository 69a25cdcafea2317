import type { ContactCard } from "../../model/content/drafts.ts";

interface SharedCard {
  displayName?: string | null;
  vcard?: string | null;
}

/** Names and numbers of shared contacts. Numbers are digits; WhatsApp's own (`waid`) before the one that is written. */
export function contactsIn(cards: (SharedCard | null | undefined)[]): { name: string; numbers: string[] }[] {
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

/** A person as a vCard 3.0, as phones write it: a number with `waid` can be written to at once. Lines end as RFC 2426 says. */
export function vcardOf({ name, numbers, organization, email }: ContactCard): string {
  const lines = [
    "BEGIN:VCARD",
    "VERSION:3.0",
    `N:;${escaped(name)};;;`,
    `FN:${escaped(name)}`,
    ...(organization === undefined ? [] : [`ORG:${escaped(organization)}`]),
    ...numbers.map((number) => `TEL;type=CELL;waid=${number}:+${number}`),
    ...(email === undefined ? [] : [`EMAIL;type=INTERNET:${escaped(email)}`]),
    "END:VCARD",
  ];
  return lines.join("\r\n");
}

const escaped = (text: string): string =>
  text.replaceAll(/[\\,;]/g, (sign) => `\\${sign}`).replaceAll(/\r?\n|\r/g, "\\n");
