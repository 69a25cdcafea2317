import { statSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

/** What `npm run dev` was called with. */
export interface DevOptions {
  /** Folder of the bots, absolute; null: `bots/` of the repository. */
  folder: string | null;
  help: boolean;
  /** The gateway as `npm start` has it, with real numbers. */
  real: boolean;
}

/** What `npm run dev -- --help` shows. */
export const DEV_HELP = `npm run dev [-- folder]

The gateway over an offline WhatsApp, and a prompt to write to its bots: no phone, no network. A saved bot answers at
once. Errors of bots appear below the message that caused them, with file and line.

  folder       of bots, in TypeScript or JavaScript; default: BOTS_DIR, or bots/ of the repository
  -h, --help   shows this

  BOTS_DIR=…          the same folder, as npm start takes it
  PARLEY_DEV_REAL=1   the settings of npm start instead: real numbers, .data`;

/**
 * @param env with `INIT_CWD`, where npm was called: a folder in the arguments is named from there
 * @param cwd BOTS_DIR is named from here, as for \`npm start\`
 * @throws Error that says what cannot be used
 */
export function readDevOptions(args: string[], env: NodeJS.ProcessEnv, cwd: string): DevOptions {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { help: { type: "boolean", short: "h", default: false } },
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
  return { folder, help: values.help, real: Boolean(env["PARLEY_DEV_REAL"]) };
}
