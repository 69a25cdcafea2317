/**
 * What bots cost, without WhatsApp and without HTTP: dispatch among many routes; a bot's reply beside the same fixed reply
 * of a bare answerer on the same durable path (inbox, lanes, one commit, outbox); memory with very many idle chats.
 * `npm run bench -- --bots`.
 */
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { isPackage } from "../../src/build/beside.ts";
import { lazyView } from "../../src/bot/messages/message-view.ts";
import { readBot } from "../../src/bot/routes/define.ts";
import { createRegistry } from "../../src/bot/files/registry.ts";
import { buildTable, type RouteTable } from "../../src/bot/routes/table.ts";
import type { BotDefinition, Routes } from "../../src/bot/types.ts";
import { loadConfig } from "../../src/config.ts";
import { createLogger } from "../../src/log.ts";
import { nothingSaid, type Incoming } from "../../src/model/messages.ts";
import type { Answerer } from "../../src/model/answerer.ts";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { commitIntake } from "../../src/store/write/intake.ts";
import { removeFolder } from "../_setup/folders.ts";
import { joinPath } from "../_setup/path.ts";
import { checkIdleChats, fillIdleChats, idleBot, ownRssMb, type IdleCheck } from "./idle-chats.ts";

const ROUTES = 500;
const LOOK_UPS = 200_000;
const ROUNDS = 15;
const MESSAGES = 1_000;
const CHATS = 200;
/** `BENCH_IDLE_CHATS=334000` makes a million rows. */
const IDLE_CHATS = Number(process.env["BENCH_IDLE_CHATS"] ?? 100_000);
/** Of a flow's turn, against a form's. */
const MOST_OF_A_FORM = 1.3;
/** Of idle flows. */
const MOST_IDLE_MB = 10;
const DEVICE = 1;
const OWN_NUMBER = "491700000001";

const median = (list: number[]): number => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]!;
const jid = (number: number): string => `${number}@s.whatsapp.net`;
// oxlint-disable-next-line typescript/no-explicit-any -- bots of whatever session
type Definition = BotDefinition<any, any> | ((b: Routes) => void);

const tableOf = (definition: Definition): RouteTable => {
  const { bot } = readBot("bench", definition);
  return buildTable([{ bot, priority: bot.priority, config: {} }]);
};

let serial = 0;
function messageFrom(number: number, text: string): Incoming {
  const chat = jid(number);
  return {
    id: `BENCH${++serial}`,
    chat,
    chatKey: chat,
    chatKind: "dm",
    sender: chat,
    number: String(number),
    lid: null,
    participant: null,
    fromMe: false,
    pushName: "",
    timestamp: Math.floor(Date.now() / 1000),
    ...nothingSaid(),
    type: "text",
    text,
  };
}

/** Microseconds for one look-up among many keywords, written as people write them. */
function benchDispatch(): number {
  const table = tableOf((b) => {
    for (let i = 0; i < ROUTES; i++) b.keyword(`orden número ${i}`, () => undefined);
  });
  const messages = Array.from({ length: ROUTES }, (_, i) =>
    messageFrom(4915100000000 + i, i % 2 === 0 ? `orden numero ${i}` : `¡Orden NÚMERO ${i}! 👋`),
  );
  const run = (count: number): number => {
    let found = 0;
    for (let i = 0; i < count; i++) {
      const message = messages[i % ROUTES]!;
      if (!table.candidates(message, lazyView(message)).next().done) found++;
    }
    return found;
  };
  run(20_000);
  // Of the processor: on a busy machine the clock on the wall counts what others do.
  const before = process.cpuUsage();
  if (run(LOOK_UPS) !== LOOK_UPS) throw new Error("A keyword was not found.");
  const { user, system } = process.cpuUsage(before);
  return (user + system) / LOOK_UPS;
}

/** Who answers: a bot, or somebody who is asked like one. */
interface Answering {
  bot?: Definition;
  besides?: Answerer[];
}

interface Path {
  store: Store;
  /** Everybody writes once, and everything that this brings has left. */
  answer(messages: Incoming[]): Promise<void>;
  close(): Promise<void>;
}

async function openPath(folder: string, answering: Answering): Promise<Path> {
  const config = loadConfig({
    DATA_DIR: folder,
    LOG_LEVEL: "silent",
    STORE_THREAD: "off",
    LOOP_GUARD_PER_MINUTE: "0",
  });
  const log = createLogger(config, { write: () => undefined });
  const store = await openStore(config, log);
  await store.writer.commit([
    {
      sql: "INSERT OR IGNORE INTO devices (id, account_id, number, state, since, created_at) VALUES (?, 'bench', ?, 'connected', 0, 0)",
      args: [DEVICE, OWN_NUMBER],
    },
  ]);
  let wanted = Infinity;
  let sent = 0;
  let done = (): void => undefined;
  const connection = {
    async send() {
      if (++sent === wanted) done();
      return { kind: "sent" as const };
    },
    caughtUp: async () => undefined,
  };
  const sources = answering.bot ? [{ id: "bench", file: "bench", exported: answering.bot }] : [];
  const path = joinPath({
    store,
    config,
    log,
    connections: { connection: () => connection as never },
    bots: { registry: createRegistry(sources, log) },
    besides: answering.besides ?? [],
  });
  await path.load();
  if (answering.bot) await path.bindings.put(DEVICE, [{ id: "bench", enabled: true }]);
  await path.open(DEVICE);
  return {
    store,
    async answer(messages) {
      const all = new Promise<void>((resolve) => (done = resolve));
      wanted = sent + messages.length;
      for (const message of messages)
        await commitIntake(store.writer, path.receive(DEVICE, OWN_NUMBER, [message]));
      await all;
      await path.online(DEVICE);
    },
    async close() {
      await path.drain(1_000);
      await path.sent();
      await store.close();
    },
  };
}

/** The least that can answer. */
const bareAnswerer: Answerer = {
  name: "bare",
  ignoresTakeover: false,
  answer: async ({ message }) => ({
    kind: "answer",
    by: "bare",
    route: null,
    replies: [{ jid: message.chat, draft: { kind: "text", text: "pong" } }],
    trail: [{ by: "bare", outcome: "answered" }],
  }),
};

const ping = (b: Routes): void => b.keyword("ping", (ctx) => ctx.reply("pong"));

/** CPU of a bot's reply beside the bare one, in turns; milliseconds per message. */
async function benchReplies(): Promise<{ bot: number[]; bare: number[] }> {
  const folders = [0, 1].map(() => mkdtempSync(join(tmpdir(), "parley-bench-")));
  const bot = await openPath(folders[0]!, { bot: ping });
  const bare = await openPath(folders[1]!, { besides: [bareAnswerer] });
  const cpu = async (path: Path): Promise<number> => {
    const messages = Array.from({ length: MESSAGES }, (_, i) =>
      messageFrom(4915100000000 + (i % CHATS), "ping"),
    );
    const before = process.cpuUsage();
    await path.answer(messages);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000 / MESSAGES;
  };
  const figures = { bot: [] as number[], bare: [] as number[] };
  for (let round = -1; round < ROUNDS; round++) {
    // Whoever comes second must not always be the same one.
    const first = round % 2 === 0 ? await cpu(bot) : 0;
    const second = await cpu(bare);
    const ofBot = round % 2 === 0 ? first : await cpu(bot);
    if (round < 0) continue;
    figures.bot.push(ofBot);
    figures.bare.push(second);
  }
  await bot.close();
  await bare.close();
  for (const folder of folders) removeFolder(folder);
  return figures;
}

const QUESTIONS = 40;
const ANSWERED = 30;
const KEYS = Array.from({ length: QUESTIONS }, (_, index) => `question-${index}`);
const asking: BotDefinition = {
  routes(b) {
    const form = b.form(
      "form",
      Object.fromEntries(KEYS.map((key) => [key, b.fields.text(`${key}?`)])),
      () => null,
    );
    const flow = b.flow("flow", async (f) => {
      for (const key of KEYS) await f.text(key, `${key}?`);
    });
    b.keyword("form", (ctx) => ctx.start(form));
    b.keyword("flow", (ctx) => ctx.start(flow));
  },
};

/** CPU of turns of a form and of a flow, milliseconds: with few answers, and with {@link ANSWERED}. */
async function benchTurns(): Promise<Record<"form" | "flow", { few: number[]; many: number[] }>> {
  const folder = mkdtempSync(join(tmpdir(), "parley-bench-"));
  const path = await openPath(folder, { bot: asking });
  const turn = async (kind: "form" | "flow", text: string): Promise<number> => {
    const first = kind === "form" ? 4_916_000_000_000 : 4_917_000_000_000;
    const messages = Array.from({ length: CHATS }, (_, i) => messageFrom(first + i, text));
    const before = process.cpuUsage();
    await path.answer(messages);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000 / CHATS;
  };
  const figures = {
    form: { few: [] as number[], many: [] as number[] },
    flow: { few: [] as number[], many: [] as number[] },
  };
  for (const kind of ["form", "flow"] as const) await turn(kind, kind);
  // In turns: what the machine does meanwhile concerns both.
  for (let answered = 0; answered < QUESTIONS - 2; answered++)
    for (const kind of answered % 2 === 0 ? (["form", "flow"] as const) : (["flow", "form"] as const)) {
      const took = await turn(kind, `answer ${answered}`);
      if (answered >= 2 && answered < 10) figures[kind].few.push(took);
      if (answered >= ANSWERED) figures[kind].many.push(took);
    }
  await path.close();
  removeFolder(folder);
  return figures;
}

/** Chats in which nobody writes any more. */
async function fillIdle(folder: string): Promise<void> {
  const path = await openPath(folder, { bot: idleBot });
  await fillIdleChats(path.store, DEVICE, IDLE_CHATS);
  await path.close();
}

/** Prints resident memory before and after messages in new chats, as JSON. */
async function measureMemory(folder: string): Promise<void> {
  const path = await openPath(folder, { bot: idleBot });
  await path.answer(Array.from({ length: CHATS }, (_, i) => messageFrom(4915200000000 + i, "ping")));
  globalThis.gc?.();
  const before = ownRssMb();
  await path.answer(Array.from({ length: MESSAGES }, (_, i) => messageFrom(4915300000000 + i, "ping")));
  globalThis.gc?.();
  const after = ownRssMb();
  await path.close();
  process.stdout.write(JSON.stringify({ before, after }));
}

/** Prints what `bots check` finds in everything that is stored, and what it takes, as JSON. */
async function measureCheck(folder: string): Promise<void> {
  const path = await openPath(folder, { bot: idleBot });
  const found = await checkIdleChats(
    path.store,
    createLogger(loadConfig({ DATA_DIR: folder, LOG_LEVEL: "silent" })),
  );
  await path.close();
  process.stdout.write(JSON.stringify(found));
}

async function benchCheck(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "parley-bench-"));
  await alone("fill", folder);
  const found = JSON.parse(await alone("check", folder)) as IdleCheck;
  removeFolder(folder);
  const { seconds, held, memory, goOn, lost } = found;
  if (goOn !== IDLE_CHATS || lost > 0)
    throw new Error(`Of ${IDLE_CHATS} open flows ${goOn} go on, and ${lost} are lost.`);
  return (
    `bots check over ${3 * IDLE_CHATS} rows (a flow, a session and a timer in each of ${IDLE_CHATS} chats): ${seconds.toFixed(1)} s, ` +
    `the event loop held for ${held.toFixed(0)} ms at most, ${memory.toFixed(0)} MB more memory; all go on`
  );
}

/** This file in a process of its own: what one part holds must not count for another. */
async function alone(part: "fill" | "memory" | "check", folder: string): Promise<string> {
  const args = ["--expose-gc", fileURLToPath(import.meta.url), part, folder];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`The part "${part}" of the bench ended with ${String(code)}.`);
  return text;
}

async function benchMemory(): Promise<Record<"empty" | "idle", { before: number; after: number }>> {
  const folders = {
    empty: mkdtempSync(join(tmpdir(), "parley-bench-")),
    idle: mkdtempSync(join(tmpdir(), "parley-bench-")),
  };
  await alone("fill", folders.idle);
  const empty = JSON.parse(await alone("memory", folders.empty)) as { before: number; after: number };
  const idle = JSON.parse(await alone("memory", folders.idle)) as { before: number; after: number };
  for (const folder of Object.values(folders)) removeFolder(folder);
  return { empty, idle };
}

/**
 * This file compiled as the build compiles the gateway. `tsx` writes its name into each function that is made while code
 * runs, which costs more than what is measured, and which no gateway does.
 *
 * @returns where it is: as deep in the folders as the sources, which look for others from where they are
 */
async function compiled(): Promise<string> {
  const file = fileURLToPath(new URL("../.bench/bots.mjs", import.meta.url));
  const build = await rolldown({
    input: fileURLToPath(import.meta.url),
    platform: "node",
    external: (id) => isPackage(id),
    logLevel: "warn",
  });
  await build.write({ file, format: "es", codeSplitting: false });
  await build.close();
  return file;
}

export async function benchBots(): Promise<void> {
  const child = spawn(process.execPath, ["--expose-gc", await compiled(), "all"], { stdio: "inherit" });
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`The bench of bots ended with ${String(code)}.`);
}

/** What a flow may not cost, in words; none when all is well. */
function missedGoals(turn: number, idleMb: number): string[] {
  const turns = `a turn of a flow costs ${turn.toFixed(2)} × a form's, at most ${MOST_OF_A_FORM} is allowed`;
  const idle = `${IDLE_CHATS} idle flows cost ${idleMb.toFixed(1)} MB, less than ${MOST_IDLE_MB} is allowed`;
  return [...(turn > MOST_OF_A_FORM ? [turns] : []), ...(idleMb >= MOST_IDLE_MB ? [idle] : [])];
}

async function measureAll(): Promise<void> {
  console.log(
    `Dispatch among ${ROUTES} keywords: ${benchDispatch().toFixed(2)} µs per look-up (goal: under 5)`,
  );
  const { bot, bare } = await benchReplies();
  const more = (median(bot) / median(bare) - 1) * 100;
  const spread = (list: number[]): string =>
    `${Math.min(...list).toFixed(2)}–${Math.max(...list).toFixed(2)}`;
  console.log(
    `A bot's reply ${median(bot).toFixed(3)} ms CPU (${spread(bot)}), the same without the framework ` +
      `${median(bare).toFixed(3)} ms (${spread(bare)}): ${more.toFixed(1)} % more, medians of ${ROUNDS} rounds of ${MESSAGES} (goal: at most 15)`,
  );
  const { form, flow } = await benchTurns();
  const ratio = (one: number[], other: number[]): string => (median(one) / median(other)).toFixed(2);
  console.log(
    `A turn of a flow with ${ANSWERED} answers ${median(flow.many).toFixed(3)} ms CPU (${spread(flow.many)}), of a form with as many ` +
      `${median(form.many).toFixed(3)} ms (${spread(form.many)}): ${ratio(flow.many, form.many)}; of a form with a few ` +
      `${median(form.few).toFixed(3)} ms (${spread(form.few)}): ${ratio(flow.many, form.few)} (goal: at most ${MOST_OF_A_FORM})`,
  );
  const turn = median(flow.many) / median(form.few);
  const { empty, idle } = await benchMemory();
  const idleMb = idle.before - empty.before;
  const show = ({ before, after }: { before: number; after: number }): string =>
    `${before.toFixed(0)} MB, ${after.toFixed(0)} MB after ${MESSAGES} messages in new chats`;
  console.log(
    `Memory with ${IDLE_CHATS} idle chats in the database, a flow open in each: ${show(idle)}; with none: ${show(empty)}: ` +
      `${idleMb.toFixed(1)} MB more (goal: under ${MOST_IDLE_MB})`,
  );
  console.log(await benchCheck());
  const missed = missedGoals(turn, idleMb);
  for (const goal of missed) console.error(`Missed: ${goal}`);
  if (missed.length > 0) process.exitCode = 1;
}

const [, script, part, folder = ""] = process.argv;
if (script === fileURLToPath(import.meta.url))
  await (part === "fill"
    ? fillIdle(folder)
    : part === "memory"
      ? measureMemory(folder)
      : part === "check"
        ? measureCheck(folder)
        : measureAll());
