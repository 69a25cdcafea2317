import type { Paint } from "../cli/terminal.ts";
import type { Line, Speaker } from "./conversation.ts";

const INDENT = "  ";
const TIME_WIDTH = "12:34:56".length;

/**
 * A line of the conversation: local time, who says it, the text. Further rows of a text stand below its first.
 *
 * @param speakerWidth width of the middle column
 * @param columns      width of the terminal; longer rows are broken between words. Absent: never
 */
export function showLine(line: Line, paint: Paint, speakerWidth: number, columns?: number): string {
  const margin = INDENT.length + TIME_WIDTH + 2 + speakerWidth + 2;
  const room = columns === undefined ? Infinity : Math.max(20, columns - margin - 1);
  const rows = line.text.split("\n").flatMap((row) => wrap(row, room));
  const time = paint.dim(new Date(line.at).toTimeString().slice(0, TIME_WIDTH));
  const speaker = colourOf(line.speaker, paint)(line.speaker.name.padEnd(speakerWidth));
  return rows
    .map((row, index) => (index === 0 ? `${INDENT}${time}  ${speaker}  ${row}` : " ".repeat(margin) + row))
    .map((row) => row.trimEnd())
    .join("\n");
}

function colourOf(speaker: Speaker, paint: Paint): (text: string) => string {
  switch (speaker.kind) {
    case "contact":
      return paint.cyan;
    case "bot":
      return paint.green;
    case "webhook":
      return paint.magenta;
    case "api":
    case "unknown":
      return paint.yellow;
  }
}

function wrap(row: string, room: number): string[] {
  const rows: string[] = [];
  let rest = row;
  while (rest.length > room) {
    const space = rest.lastIndexOf(" ", room);
    const cut = space > 0 ? space : room;
    rows.push(rest.slice(0, cut));
    rest = rest.slice(cut).trimStart();
  }
  return [...rows, rest];
}
