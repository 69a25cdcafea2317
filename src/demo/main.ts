/**
 * `npm run demo`: gateway, simulator and the playground in the browser.
 * `npm run demo -- --terminal`: a linked number, a conversation, and a prompt to go on with it; so it is where no browser can open.
 * `npm run demo -- --once`: the same without the prompt; exit code 0 when everything arrived.
 */
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createPaint, createSteps, wantsColour } from "../cli/terminal.ts";
import { repositoryRoot } from "../config.ts";
import { hasDisplay } from "./browser.ts";
import { createCleanup, stayUp } from "./cleanup.ts";
import { startConversation, type Conversation } from "./conversation.ts";
import { Interrupted, untilInterrupted } from "./interrupted.ts";
import { showPlayground } from "./playground/show.ts";
import { openPrompt } from "./prompt.ts";
import { takeTyped } from "./save-story.ts";
import { play, SCRIPT } from "./script.ts";
import { showLine } from "./show-line.ts";
import { CONTACT, NUMBER, openStage, type Stage } from "./stage.ts";

const DEADLINE_MS = 240_000;
const HELP = `Parley over an offline WhatsApp: no phone, no network.

  npm run demo                 phones to play with, in your browser; Ctrl-C ends
  npm run demo -- --no-open    the same, but you open the address yourself
  npm run demo -- --terminal   a conversation in this terminal that you continue as the contact
  npm run demo -- --once       plays that conversation and exits, with code 1 when something did not arrive

  --stories <folder>           where the playground saves stories. Default: bots/
`;

const output = process.stdout;
const paint = createPaint(wantsColour(output));
const cleanup = createCleanup();
let write = (row: string): void => void output.write(`${row}\n`);

/** How the demo is played. */
interface Arguments {
  how: "playground" | "terminal" | "once";
  /** A browser is opened. */
  opens: boolean;
  stories: string | undefined;
  help: boolean;
}

function readArguments(): Arguments {
  const flag = { type: "boolean", default: false } as const;
  const options = {
    once: flag,
    terminal: flag,
    "no-open": flag,
    stories: { type: "string" },
    help: flag,
  } as const;
  try {
    const { values } = parseArgs({ options });
    const display = hasDisplay(process.platform, process.env);
    const inTerminal = values.terminal || (!display && !values["no-open"]);
    return {
      how: values.once ? "once" : inTerminal ? "terminal" : "playground",
      opens: !values["no-open"],
      stories:
        values.stories === undefined ? undefined : resolve(process.env["INIT_CWD"] ?? ".", values.stories),
      help: values.help,
    };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${HELP}`);
    process.exit(2);
  }
}

async function deadline(): Promise<never> {
  await pause(DEADLINE_MS, undefined, { ref: false });
  throw new Error(`The demo did not finish within ${DEADLINE_MS / 1_000} seconds.`);
}

function converse(stage: Stage): Conversation {
  const speakers = [CONTACT.name, "webhook", ...stage.bots.map((id) => `bot ${id}`)];
  const width = Math.max(...speakers.map((name) => name.length));
  const conversation = startConversation({
    simulator: stage.simulator,
    gateway: stage.gateway,
    number: NUMBER,
    contact: CONTACT.number,
    contactName: CONTACT.name,
    onLine: (line) => write(showLine(line, paint, width, output.isTTY ? output.columns : undefined)),
  });
  cleanup.add(async () => conversation.end());
  return conversation;
}

function showAccess(stage: Stage): void {
  const { baseUrl } = stage.gateway;
  const form = [
    ["api_key", stage.apiKey],
    ["sender", NUMBER],
    ["number", CONTACT.number],
    ["message", "'Hello from curl'"],
  ];
  const curl = `curl ${baseUrl}/send-message ${form.map(([name, value]) => `-d ${name}=${value}`).join(" ")}`;
  write("");
  write(`  ${paint.dim("Base URL")}  ${baseUrl}`);
  write(`  ${paint.dim("API key")}   ${stage.apiKey}`);
  write(`  ${paint.dim("Console")}   ${baseUrl}/console ${paint.dim("(sign in with the key)")}`);
  write(`  ${paint.dim("Try")}       ${curl}`);
  write("");
}

/** The gateway ends now: nothing of it can be asked any more. @returns the exit code */
function sayHowToGoOn(missing: number): number {
  write("");
  write(`  ${paint.dim("This gateway has ended. To try one yourself:")} npm run demo`);
  write("");
  return Math.min(1, missing);
}

/** Never ends by itself. */
async function goOn(stage: Stage, conversation: Conversation, interrupt: () => void): Promise<never> {
  write(`  ${paint.dim(`Type a line to write as ${CONTACT.name}. Ctrl-C ends.`)}`);
  write("");
  const prompt = openPrompt({
    input: process.stdin,
    output,
    paint,
    name: CONTACT.name,
    onEnd: interrupt,
    onLine: (text) =>
      void takeTyped(text, conversation, { dataDir: stage.dataDir, contact: CONTACT.number }, (row) =>
        write(`  ${paint.dim(row)}`),
      ),
  });
  write = prompt.write;
  cleanup.add(async () => prompt.close());
  return stayUp(cleanup);
}

async function perform(given: Arguments, interrupt: () => void): Promise<number> {
  const once = given.how === "once";
  write(`\n  ${paint.bold("Parley")}  ${paint.dim("a WhatsApp number without a phone or a network")}\n`);
  if (given.how === "playground")
    return showPlayground({
      root: repositoryRoot(),
      steps: createSteps(output, paint),
      cleanup,
      watch,
      write,
      paint,
      opens: given.opens,
      stories: given.stories,
    });
  const stage = await openStage(repositoryRoot(), createSteps(output, paint), cleanup, watch);
  write("");
  const conversation = converse(stage);
  const talk = async (): Promise<number> => {
    const missing = await play(SCRIPT, {
      conversation,
      gateway: stage.gateway,
      beforeTurn: () => pause(output.isTTY ? 700 : 0),
    });
    for (const sentence of missing) write(`  ${paint.red("✗")} ${sentence}`);
    if (once) return sayHowToGoOn(missing.length);
    showAccess(stage);
    return goOn(stage, conversation, interrupt);
  };
  return Promise.race([talk(), conversation.lost]);
}

/** Rejects with the reason of the first program that ended by itself. */
let watch!: (crashed: Promise<never>) => void;
const crash = new Promise<never>((_, reject) => {
  watch = (crashed) => void crashed.catch(reject);
});

/** A program that ended explains more than the request that it did not answer, but is noticed a moment later. */
async function reasonFor(error: Error): Promise<string> {
  const known = pause(1_000).then(() => error);
  const reason = await Promise.race([crash.catch((crashed: Error) => crashed), known]);
  return reason.message;
}

const given = readArguments();
const once = given.how === "once";
if (given.help) {
  output.write(HELP);
  process.exit(0);
}
const interrupted = untilInterrupted(output);
const ends = [
  perform(given, interrupted.interrupt),
  interrupted.promise,
  crash,
  ...(once ? [deadline()] : []),
];
let exitCode: number;
try {
  exitCode = await Promise.race(ends);
} catch (error) {
  if (error instanceof Interrupted) {
    exitCode = once ? 130 : 0;
    write("");
  } else {
    exitCode = 1;
    write(`\n  ${paint.red("✗")} ${await reasonFor(error as Error)}\n`);
    write(`  ${paint.dim(`The output of its programs is in .demo/${process.pid}.`)}\n`);
  }
}
await cleanup.run(exitCode === 1);
process.exit(exitCode);
