import { isAbsolute, relative, sep } from "node:path";

/** What is known of a bot that was made, and of where its author stands. */
export interface MadeWhere {
  id: string;
  /** The folder that BOTS_DIR names; null: the bot lies in `bots/`. */
  botsDir: string | null;
  root: string;
  /** Where the author typed the command. */
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** A number of the gateway that runs, digits; null: none runs, or it has no number. */
  number: string | null;
}

/** What a command needs to find the gateway. */
const GATEWAY = ["DATA_DIR", "HOST", "PORT", "PUBLIC_URL"];

/** What an author may type next: every line that begins with two spaces is a command, as it is. */
export function linesAfterMaking({ id, botsDir, root, cwd, env, number }: MadeWhere): string[] {
  const away = relative(root, cwd);
  const isInside = !isAbsolute(away) && away.split(sep)[0] !== "..";
  const npm = isInside ? "npm" : `npm --prefix ${quoted(root)}`;
  const bots = botsDir === null ? "" : `BOTS_DIR=${quoted(botsDir)} `;
  const set = GATEWAY.filter((name) => env[name] !== undefined).map(
    (name) => `${name}=${quoted(env[name]!)} `,
  );
  const gateway = set.join("");
  const parley = (args: string): string => `  ${gateway}${npm} run parley -- ${args}`;
  return [
    "Test it:",
    `  ${bots}${npm} run parley -- bots test ${id}`,
    "Write to it without a phone:",
    `  ${bots}${npm} run dev`,
    ...(botsDir === null
      ? ["Build the gateway with it, and start it:", `  ${gateway}${npm} start`]
      : number === null
        ? ["Start the gateway with it:", `  ${gateway}${bots}${npm} start`]
        : ["Load it into the running gateway that uses this folder:", parley("bots reload")]),
    ...(number === null
      ? ["Link a number, then switch it on there:", parley("link --help"), parley("bots bind --help")]
      : ["Switch it on:", parley(`bots bind ${number} ${id}`)]),
  ];
}

/** As a shell takes it for one word. */
const quoted = (text: string): string =>
  /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
