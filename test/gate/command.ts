import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

/** What a command ended with. */
export interface Ended {
  command: string;
  /** Null: a signal ended it. */
  code: number | null;
  output: string;
}

/** Keeps the beginning and the end of what a command prints; all of it is in the log. */
const MOST_KEPT = 200_000;

/** Prints to the terminal and to the log. */
export function print(log: string, text: string): void {
  appendFileSync(log, text);
  process.stdout.write(text);
}

/** Runs a command of the gate in the present folder, and shows what it prints. */
export async function runCommand(
  command: string,
  log: string,
  env: Record<string, string> = {},
): Promise<Ended> {
  print(log, `\n\x1b[1m$ ${command}\x1b[0m\n`);
  const child = spawn("bash", ["-c", command], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      print(log, text);
      if (output.length < MOST_KEPT) output += text;
    });
  const [code] = (await once(child, "close")) as [number | null];
  return { command, code, output };
}

/** Lines that name a file, or a rule that was broken. */
const TELLING = /error TS\d+|^\s*[×✖✗!]\s|\.(?:ts|vue|mjs|js|json|md|yaml|yml)\b.*(?:\d|ms\))|[Ee]rror/;
const MOST_LINES = 5;

/** Why a command failed: how it ended, and the first lines that tell. */
export function whyItFailed({ code, output }: Ended): string[] {
  const lines = stripVTControlCharacters(output)
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "" && !line.startsWith("npm warn"));
  const telling = lines.filter((line) => TELLING.test(line));
  return [
    `ended with ${code ?? "a signal"}`,
    ...(telling.length > 0 ? telling : lines.slice(-MOST_LINES)).slice(0, MOST_LINES),
  ];
}
