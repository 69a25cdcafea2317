/** What WhatsApp lets somebody write. */
const LONGEST = 65_536;
const filled = (part: string): string => part.repeat(Math.floor((LONGEST - 100) / part.length));

/**
 * Texts that patterns with more than one way to read them take for ever with.
 *
 * @param word one that a bot listens to
 * @returns what each is, and the text
 */
export const hostileTexts = (word: string): [what: string, text: string][] => [
  ["blanks in the middle", `${word} 1${filled(" ")}x`],
  ["blanks in the middle of two lines", `${word} 1${filled(" ")}z\ny`],
  ["many short words", `${word} ${filled("a ")}!`],
  ["the word again and again", filled(`${word} `)],
  ["digits", `${word} ${filled("1")}`],
  ["dots", `${word} ${filled(".")}_`],
  ["at signs", filled("a@")],
  ["marks on one letter", `${word} e${filled("\u0301")}`],
  ["nothing that can be seen", `${word} ${filled("\u200d")}x`],
  ["hands of all colours", `${word} ${filled("👍🏽")}`],
];
