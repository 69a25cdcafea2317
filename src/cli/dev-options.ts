import { statSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

/** What `npm run dev` was called with. */
export interface DevOptions {
  /** Folder of the bots, absolute; null: `bots/` of the repository. */
  folder: string | null;
  help: boolean;
  /** `browser` and `page`: phones in a browser, which is opened or not; `terminal`: a conversation in the terminal. */
  how: "browser" | "page" | "terminal";
  /** The gateway as `npm start` has it, with real numbers. */
  real: boolean;
}

/** What `npm run dev -- --help` shows. */
export const DEV_HELP = `npm run dev [-- folder]

The gateway over an offline WhatsApp, and phones in your browser to write to its bots: no phone, no network. A saved bot
answers at once, and the page says so. Errors of bots appear below the message that caused them, with file and line.

  folder       of bots, in TypeScript or JavaScript; default: BOTS_DIR, or bots/ of the repository
  --no-open    prints the address of the page; you open it yourself
  --terminal   a conversation in the terminal instead; so it is as well when the output is no terminal
  -h, --help   shows this

  BOTS_DIR=…          the same folder, as npm start takes it
  PARLEY_DEV_REAL=1   the settings of npm start instead: real numbers, .data`;

/**
 * @param env with `INIT_CWD`, where npm was called: a folder in the arguments is named from there
 * @param cwd BOTS_DIR is named from here, as for \`npm start\`
 * @param isTerminal whether a person reads the output
 * @throws Error that says what cannot be used
 */
export function readDevOptions(
  args: string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
  isTerminal: boolean,
): DevOptions {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      help: { type: "boolean", short: "h", default: false },
      terminal: { type: "boolean", default: false },
      "no-open": { type: "boolean", default: false },
    },
  });
  const [named, ...more] = positionals;
  if (more.length > 0)
    throw new Error(`Give one folder of bots, not ${positionals.length}: ${positionals.join(", ")}`);
  const folder =
    named !== undefined
      ? resolve(env["INIT_CWD"] ?? cwd, named)
      : env["BOTS_DIR"]
        ? resolve(cwd, env["BOTS_DIR"])
        : null;
  if (folder !== null && !statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(
      `${named === undefined ? "BOTS_DIR: " : ""}${folder} is not a folder. Create it, or name another.`,
    );
  const inTerminal = values.terminal || (!isTerminal && !values["no-open"]);
  const how = inTerminal ? "terminal" : values["no-open"] ? "page" : "browser";
  return { folder, help: values.help, how, real: Boolean(env["PARLEY_DEV_REAL"]) };
}
