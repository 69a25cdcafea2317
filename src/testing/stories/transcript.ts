import type { Said, StoryLine, StoryReply } from "./story.ts";

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
] as const;

/** A time as stories write it: `90s`, `20m`, `2h`, `3d`. */
export function writeDuration(ms: number): string {
  const fitting = UNITS.find(([, unit]) => ms >= unit && ms % unit === 0);
  return fitting === undefined ? `${ms}ms` : `${ms / fitting[1]}${fitting[0]}`;
}

/** A story as people read it, a line or more for each thing that happened. */
export const transcriptOf = (lines: readonly StoryLine[]): string[] => lines.flatMap(showLine);

function showLine(line: StoryLine): string[] {
  switch (line.who) {
    case "time":
      return [`(${writeDuration(line.ms)} later)`];
    case "owner":
      return said("owner", line.text);
    case "user":
      return line.says.flatMap((one) => said(line.as ?? "user", showSaid(one)));
    default:
      return said(line.who, showReply(line.reply));
  }
}

/** The second line of a text stands under the first. */
function said(who: string, text: string): string[] {
  const indent = " ".repeat(who.length + 2);
  return text.split("\n").map((row, index) => `${index === 0 ? `${who}: ` : indent}${row}`);
}

/** What somebody did, for people. */
export function showSaid(one: Said): string {
  switch (one.kind) {
    case "text":
      return one.quote === null ? one.text : `${one.text} [quoting]`;
    case "file":
      return showFile(one);
    case "vote":
      return `[vote] ${one.options.join(" / ") || "withdrawn"}`;
    case "react":
      return `[reaction] ${one.emoji}`;
    case "edit":
      return `[edit] ${one.text}`;
    case "location":
      return `[location] ${one.latitude}, ${one.longitude}`;
    case "card":
      return `[contact] ${one.name}`;
    case "other":
      return `[${one.type}]`;
  }
}

/** What was shown, for people. */
export function showReply(reply: StoryReply): string {
  switch (reply.kind) {
    case "text":
      return `${reply.text}${reply.quotes ? " [quoting]" : ""}`;
    case "poll":
      return `[poll] ${reply.question} (${reply.options.join(" / ")})${reply.multiple ? " [several]" : ""}`;
    case "react":
      return `[reaction] ${reply.emoji}`;
    case "file":
      return showFile(reply);
  }
}

const showFile = ({ file, caption, name }: { file: string; caption: string; name: string }): string =>
  `[${file}${name === "" ? "" : ` ${name}`}] ${caption}`.trim();
