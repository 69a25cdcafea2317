import jsqr from "jsqr";

const SCALE = 8;
const QUIET_ZONE = 4;

/**
 * Reads the last QR code in a terminal's text, as a phone in front of the screen does: two modules per character cell,
 * a block is dark.
 *
 * @throws Error when there is none that can be read
 */
export function readTerminalQr(text: string): string {
  const last = lastCode(text.split("\n"));
  const modules = last.flatMap((row) => [toModules(row, "▀"), toModules(row, "▄")]);
  const size = Math.max(modules.length, ...modules.map((row) => row.length)) + 2 * QUIET_ZONE;
  const pixels = new Uint8ClampedArray((size * SCALE) ** 2 * 4).fill(255);
  modules.forEach((row, y) => row.forEach((dark, x) => dark && paint(pixels, size, x, y)));
  const code = jsqr(pixels, size * SCALE, size * SCALE);
  if (!code) throw new Error(`No QR code can be read in:\n${last.join("\n")}`);
  return code.data;
}

const isPart = (row: string | undefined): boolean => row !== undefined && /^[ ▀▄█]*[▀▄█][ ▀▄█]*$/.test(row);

/** The last run of rows that are made of blocks. */
function lastCode(rows: string[]): string[] {
  const end = rows.findLastIndex(isPart);
  let start = end;
  while (isPart(rows[start - 1])) start -= 1;
  return rows.slice(start, end + 1);
}

function toModules(row: string, half: string): boolean[] {
  return [...row].map((character) => character === "█" || character === half);
}

function paint(pixels: Uint8ClampedArray, size: number, x: number, y: number): void {
  const width = size * SCALE;
  for (let row = 0; row < SCALE; row++) {
    const start = ((y + QUIET_ZONE) * SCALE + row) * width + (x + QUIET_ZONE) * SCALE;
    for (let column = 0; column < SCALE; column++)
      pixels.fill(0, (start + column) * 4, (start + column) * 4 + 3);
  }
}
