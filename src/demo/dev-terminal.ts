import { readReloadLine } from "../bot/files/live.ts";
import { failureIn, warningIn } from "../cli/dev-failure.ts";
import { createSteps, type Paint } from "../cli/terminal.ts";
import { stayUp, type Cleanup } from "./cleanup.ts";
import { startConversation } from "./conversation.ts";
import { openPrompt } from "./prompt.ts";
import { takeTyped } from "./save-story.ts";
import { showLine } from "./show-line.ts";
import { CONTACT, NUMBER, openStage, switchOn, type Stage } from "./stage.ts";

const RELOAD = "bots: ";

interface TerminalOptions {
  /** Repository root. */
  root: string;
  /** Of the bots, absolute. */
  folder: string;
  /** How it is shown. */
  name: string;
  output: NodeJS.WriteStream;
  paint: Paint;
  cleanup: Cleanup;
  watch(crashed: Promise<never>): void;
  /** Ctrl-C at the prompt. */
  interrupt(): void;
}

/** `npm run dev -- --terminal`: a conversation with the bots of a folder; what is wrong with them stands between its lines. */
export async function showTerminal(options: TerminalOptions): Promise<never> {
  const { root, folder, name, output, paint, cleanup, watch, interrupt } = options;
  let write = (row: string): void => void output.write(`${row}\n`);
  let stage: Stage | null = null;
  const onLine = (line: string): void => {
    for (const row of rowsOf(line, folder, paint)) write(row);
    const reload = line.startsWith(RELOAD) ? readReloadLine(line.slice(RELOAD.length)) : null;
    if (reload?.what === "added" && stage !== null)
      void switchOn(stage.gateway, reload.name).catch((error: Error) =>
        write(`  ${paint.red(error.message)}`),
      );
  };
  stage = await openStage(root, createSteps(output, paint), cleanup, watch, { folder, onLine });
  for (const row of await brokenRows(stage, paint)) write(row);
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
    `\n  ${paint.dim(`Type a line to write to the bots as ${CONTACT.name}; save a file in ${name}/ to change them. Ctrl-C ends.`)}`,
  );
  write(`  ${paint.dim(`/story ${name}/<id>.story.yaml keeps the conversation as a story.`)}`);
  write(`  ${paint.dim(`REST: ${stage.gateway.baseUrl}, key ${stage.apiKey}`)}\n`);
  const chat = { dataDir: stage.dataDir, contact: CONTACT.number };
  const prompt = openPrompt({
    input: process.stdin,
    output,
    paint,
    name: CONTACT.name,
    onEnd: interrupt,
    onLine: (text) => void takeTyped(text, conversation, chat, (row) => write(`  ${paint.dim(row)}`)),
  });
  write = prompt.write;
  cleanup.add(async () => prompt.close());
  return Promise.race([conversation.lost, stayUp(cleanup)]);
}

/** What an author reads of a line of the gateway. */
function rowsOf(line: string, folder: string, paint: Paint): string[] {
  const failure = failureIn(line, folder);
  if (failure !== null) {
    const title = failure.title.split("\n").join("\n    ");
    return [
      `  ${paint.red("✗")} ${title}`,
      ...failure.places.map((place) => `    ${paint.dim("at")} ${place}`),
    ];
  }
  const said = warningIn(line);
  if (said !== null) return [`  ${said.isError ? paint.red("✗") : paint.yellow("!")} ${said.title}`];
  return line.startsWith(RELOAD) ? [`  ${paint.cyan("↻")} ${line.slice(RELOAD.length)}`] : [];
}

/** What was wrong from the beginning: what is saved later is told when it is saved. */
async function brokenRows({ gateway }: Stage, paint: Paint): Promise<string[]> {
  const { data } = await gateway.get<{ data: { id: string; error?: string; warnings?: string[] }[] }>(
    "/bots",
  );
  return data.flatMap(({ id, error, warnings = [] }) => [
    ...(error === undefined ? [] : [`  ${paint.red("✗")} ${id}: ${error}`]),
    ...warnings.map((warning) => `  ${paint.yellow("!")} ${id}: ${warning}`),
  ]);
}
