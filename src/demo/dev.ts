/**
 * `npm run dev`: the gateway with the bots of a folder, over an offline WhatsApp, and phones in the browser to write to them. A bot
 * that is saved answers at once, on the connection that is open. `-- --terminal` is a conversation in the terminal instead, and
 * `PARLEY_DEV_REAL=1 npm run dev` is for real numbers.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, relative } from "node:path";
import { DEV_HELP, readDevOptions, type DevOptions } from "../cli/dev-options.ts";
import { createPaint, createSteps, wantsColour } from "../cli/terminal.ts";
import { repositoryRoot } from "../config.ts";
import { hasDisplay } from "./browser.ts";
import { createCleanup } from "./cleanup.ts";
import { showTerminal } from "./dev-terminal.ts";
import { Interrupted, untilInterrupted } from "./interrupted.ts";
import { showPlayground } from "./playground/show.ts";

const root = repositoryRoot();
const output = process.stdout;
const paint = createPaint(wantsColour(output));
const cleanup = createCleanup();
const write = (row: string): void => void output.write(`${row}\n`);

/** With the settings of `npm start`: real numbers, `.data`. */
async function runReal({ folder }: DevOptions): Promise<number> {
  const nitro = `${root}/node_modules/nitro/dist/cli/index.mjs`;
  const { BOTS_DIR: _, ...env } = process.env;
  const child = spawn(process.execPath, [nitro, "dev"], {
    cwd: root,
    stdio: "inherit",
    env: { ...env, ...(folder !== null && { PARLEY_DEV_BOTS: folder }) },
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, "close")) as [number | null];
  return code ?? 0;
}

function runOffline(
  { folder = join(root, "bots"), how }: { folder?: string; how: DevOptions["how"] },
  interrupt: () => void,
  watch: (crashed: Promise<never>) => void,
): Promise<never> {
  write(`\n  ${paint.bold("Parley")}  ${paint.dim("bots in development, without a phone or a network")}\n`);
  // As whoever called npm would name it.
  const name = relative(process.env["INIT_CWD"] ?? process.cwd(), folder) || ".";
  if (how === "terminal")
    return showTerminal({ root, folder, name, output, paint, cleanup, watch, interrupt });
  return showPlayground({
    root,
    steps: createSteps(output, paint),
    cleanup,
    watch,
    write,
    paint,
    author: { folder, name },
    opens: how === "browser" && hasDisplay(process.platform, process.env),
    hints: [
      `Save a file in ${name}/ to change the bots.`,
      "npm run dev -- --terminal is a conversation here instead.",
    ],
  });
}

async function run({ folder, how }: DevOptions): Promise<number> {
  const interrupted = untilInterrupted(output);
  let watch!: (crashed: Promise<never>) => void;
  const crash = new Promise<never>((_, reject) => {
    watch = (crashed) => void crashed.catch(reject);
  });
  crash.catch(() => {});
  try {
    const given = { how, ...(folder !== null && { folder }) };
    return await Promise.race([runOffline(given, interrupted.interrupt, watch), interrupted.promise, crash]);
  } catch (error) {
    write("");
    if (error instanceof Interrupted) return 0;
    write(`  ${paint.red("✗")} ${(error as Error).message}\n`);
    write(`  ${paint.dim(`The output of its programs is in .demo/${process.pid}.`)}\n`);
    return 1;
  }
}

function readOptions(): DevOptions {
  try {
    return readDevOptions(process.argv.slice(2), process.env, process.cwd(), output.isTTY === true);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${DEV_HELP}\n`);
    process.exit(1);
  }
}

const options = readOptions();
if (options.help) {
  output.write(`${DEV_HELP}\n`);
  process.exit(0);
}
const exitCode = options.real ? await runReal(options) : await run(options);
await cleanup.run(exitCode === 1);
process.exit(exitCode);
