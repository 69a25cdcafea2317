/**
 * `npm run dev`: the gateway with the bots of `bots/`, over an offline WhatsApp, and a prompt to write to them. A bot that
 * is saved answers at once, on the connection that is open. `PARLEY_DEV_REAL=1 npm run dev` is for real numbers.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createPaint, createSteps, wantsColour } from "./terminal.ts";
import { repositoryRoot } from "../config.ts";
import { createCleanup } from "../demo/cleanup.ts";
import { startConversation } from "../demo/conversation.ts";
import { openPrompt } from "../demo/prompt.ts";
import { showLine } from "../demo/show-line.ts";
import { CONTACT, NUMBER, openStage, type Stage } from "../demo/stage.ts";

const root = repositoryRoot();
const output = process.stdout;
const paint = createPaint(wantsColour(output));
const cleanup = createCleanup();
let write = (row: string): void => void output.write(`${row}\n`);

class Interrupted extends Error {}

/** With the settings of `npm start`: real numbers, `.data`. */
async function runReal(): Promise<number> {
  const nitro = `${root}/node_modules/nitro/dist/cli/index.mjs`;
  const child = spawn(process.execPath, [nitro, "dev"], { cwd: root, stdio: "inherit" });
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

async function runOffline(interrupt: () => void, watch: (crashed: Promise<never>) => void): Promise<never> {
  write(`\n  ${paint.bold("Parley")}  ${paint.dim("bots in development, without a phone or a network")}\n`);
  let stage: Stage | null = null;
  const onGatewayLine = (line: string): void => {
    const text = /^bots: (.*)$/.exec(line)?.[1];
    if (text === undefined) return;
    const added = /^(\S+) added$/.exec(text)?.[1];
    if (added !== undefined && stage !== null) void switchOn(stage, added);
    write(`  ${paint.cyan("↻")} ${text}`);
  };
  stage = await openStage(root, createSteps(output, paint), cleanup, watch, onGatewayLine);
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
    `\n  ${paint.dim(`Type a line to write to the bots as ${CONTACT.name}; save a file in bots/ to change them. Ctrl-C ends.`)}`,
  );
  write(`  ${paint.dim(`REST: ${stage.gateway.baseUrl}, key ${stage.apiKey}`)}\n`);
  const prompt = openPrompt({
    input: process.stdin,
    output,
    paint,
    name: CONTACT.name,
    onEnd: interrupt,
    onLine: (text) =>
      void conversation.say(text).catch((error: Error) => write(`  ${paint.red(error.message)}`)),
  });
  write = prompt.write;
  cleanup.add(async () => prompt.close());
  // Keeps the process alive when there is no terminal to wait for.
  const alive = setInterval(() => {}, 60_000);
  cleanup.add(async () => clearInterval(alive));
  return conversation.lost;
}

/** A new bot that waits to be bound would answer nobody. */
async function switchOn({ gateway }: Stage, id: string): Promise<void> {
  await gateway
    .patch(`/devices/${NUMBER}/bots`, { bots: [{ id, enabled: true }] })
    .catch((error: Error) => write(`  ${paint.red(error.message)}`));
}

async function run(): Promise<number> {
  const interrupted = untilInterrupted();
  let watch!: (crashed: Promise<never>) => void;
  const crash = new Promise<never>((_, reject) => {
    watch = (crashed) => void crashed.catch(reject);
  });
  crash.catch(() => {});
  try {
    return await Promise.race([runOffline(interrupted.interrupt, watch), interrupted.promise, crash]);
  } catch (error) {
    write("");
    if (error instanceof Interrupted) return 0;
    write(`  ${paint.red("✗")} ${(error as Error).message}\n`);
    write(`  ${paint.dim(`What its programs wrote stands in .demo/${process.pid}.`)}\n`);
    return 1;
  }
}

const exitCode = process.env["PARLEY_DEV_REAL"] ? await runReal() : await run();
await cleanup.run(exitCode === 1);
process.exit(exitCode);
