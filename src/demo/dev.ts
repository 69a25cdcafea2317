/**
 * `npm run dev`: the gateway with the bots of a folder, over an offline WhatsApp, and a prompt to write to them. A bot that
 * is saved answers at once, on the connection that is open. `PARLEY_DEV_REAL=1 npm run dev` is for real numbers.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, relative } from "node:path";
import { failureIn } from "../cli/dev-failure.ts";
import { DEV_HELP, readDevOptions, type DevOptions } from "../cli/dev-options.ts";
import { createPaint, createSteps, wantsColour } from "../cli/terminal.ts";
import { repositoryRoot } from "../config.ts";
import { createCleanup } from "./cleanup.ts";
import { startConversation } from "./conversation.ts";
import { openPrompt } from "./prompt.ts";
import { takeTyped } from "./save-story.ts";
import { showLine } from "./show-line.ts";
import { CONTACT, NUMBER, openStage, type Stage } from "./stage.ts";

const root = repositoryRoot();
const output = process.stdout;
const paint = createPaint(wantsColour(output));
const cleanup = createCleanup();
let write = (row: string): void => void output.write(`${row}\n`);

class Interrupted extends Error {}

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

function untilInterrupted(): { promise: Promise<never>; interrupt(): void } {
  let interrupt!: () => void;
  const promise = new Promise<never>((_, reject) => (interrupt = () => reject(new Interrupted())));
  promise.catch(() => {});
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => {
      interrupt();
      process.once(signal, () => process.exit(130));
    });
  output.once("error", interrupt);
  return { promise, interrupt };
}

async function runOffline(
  { folder: given }: DevOptions,
  interrupt: () => void,
  watch: (crashed: Promise<never>) => void,
): Promise<never> {
  const folder = given ?? join(root, "bots");
  write(`\n  ${paint.bold("Parley")}  ${paint.dim("bots in development, without a phone or a network")}\n`);
  let stage: Stage | null = null;
  const onLine = (line: string): void => {
    const failure = failureIn(line, folder);
    if (failure !== null) return showFailure(failure);
    const text = /^bots: (.*)$/.exec(line)?.[1];
    if (text === undefined) return;
    const added = /^(\S+) added$/.exec(text)?.[1];
    if (added !== undefined && stage !== null) void switchOn(stage, added);
    write(`  ${paint.cyan("↻")} ${text}`);
  };
  stage = await openStage(root, createSteps(output, paint), cleanup, watch, { folder, onLine });
  await showBroken(stage);
  const width = Math.max(CONTACT.name.length, ...stage.bots.map((id) => `bot ${id}`.length));
  const conversation = startConversation({
    simulator: stage.simulator,
    gateway: stage.gateway,
    number: NUMBER,
    contact: CONTACT.number,
    contactName: CONTACT.name,
    onLine: (line) => write(showLine(line, paint, width, output.isTTY ? output.columns : undefined)),
  });
  cleanup.add(async () => conversation.end());
  write(
    `\n  ${paint.dim(`Type a line to write to the bots as ${CONTACT.name}; save a file in ${shown(folder)}/ to change them. Ctrl-C ends.`)}`,
  );
  write(`  ${paint.dim(`/story ${shown(folder)}/<id>.story.yaml keeps the conversation as a story.`)}`);
  write(`  ${paint.dim(`REST: ${stage.gateway.baseUrl}, key ${stage.apiKey}`)}\n`);
  const prompt = openPrompt({
    input: process.stdin,
    output,
    paint,
    name: CONTACT.name,
    onEnd: interrupt,
    onLine: (text) =>
      void takeTyped(text, conversation, { dataDir: stage!.dataDir, contact: CONTACT.number }, (row) =>
        write(`  ${paint.dim(row)}`),
      ),
  });
  write = prompt.write;
  cleanup.add(async () => prompt.close());
  // Keeps the process alive when there is no terminal to wait for.
  const alive = setInterval(() => {}, 60_000);
  cleanup.add(async () => clearInterval(alive));
  return conversation.lost;
}

function showFailure({ title, places }: NonNullable<ReturnType<typeof failureIn>>): void {
  const [first = "", ...more] = title.split("\n");
  write(`  ${paint.red("✗")} ${[first, ...more].join("\n    ")}`);
  for (const place of places) write(`    ${paint.dim("at")} ${place}`);
}

/** What was wrong from the beginning: what is saved later is told when it is saved. */
async function showBroken({ gateway }: Stage): Promise<void> {
  const { data } = await gateway.get<{ data: { id: string; error?: string; warnings?: string[] }[] }>(
    "/bots",
  );
  for (const { id, error, warnings = [] } of data) {
    if (error !== undefined) write(`  ${paint.red("✗")} ${id}: ${error}`);
    for (const warning of warnings) write(`  ${paint.yellow("!")} ${id}: ${warning}`);
  }
}

/** As whoever called npm would name it. */
const shown = (folder: string): string => relative(process.env["INIT_CWD"] ?? process.cwd(), folder) || ".";

/** A new bot that waits to be bound would answer nobody. */
async function switchOn({ gateway }: Stage, id: string): Promise<void> {
  await gateway
    .patch(`/devices/${NUMBER}/bots`, { bots: [{ id, enabled: true }] })
    .catch((error: Error) => write(`  ${paint.red(error.message)}`));
}

async function run(options: DevOptions): Promise<number> {
  const interrupted = untilInterrupted();
  let watch!: (crashed: Promise<never>) => void;
  const crash = new Promise<never>((_, reject) => {
    watch = (crashed) => void crashed.catch(reject);
  });
  crash.catch(() => {});
  try {
    return await Promise.race([
      runOffline(options, interrupted.interrupt, watch),
      interrupted.promise,
      crash,
    ]);
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
    return readDevOptions(process.argv.slice(2), process.env, process.cwd());
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
