import { defineCommand } from "citty";
import { command } from "../command.ts";
import { answersOf, asBots, sayBroken, sayWarnings, type Bot } from "../bots/gateway-bots.ts";
import { findOperator } from "../operator.ts";
import { paint, say } from "../plainly.ts";
import { showNumber, showTable } from "../terminal.ts";

const account = { type: "string", description: "Id or name of the account" } as const;

interface RouteTable {
  routes: { bot: string; priority: number; chats: string[]; kind: string; pattern: string }[];
  conflicts: { text: string }[];
}

interface BoundBot extends Bot {
  enabled: boolean;
  config: object | null;
}

const onWhere = ({ enable, needs = [] }: Bot): string =>
  (enable === "bound" ? "where bound" : "every number") +
  (needs.length > 0 ? `, once its config has ${needs.join(", ")}` : "");

const list = command({
  meta: { name: "list", description: "Bots that the gateway loaded, and bots that it could not load" },
  args: { account },
  async run({ args }) {
    const { data } = await asBots(args.account, (gateway) => gateway.get<{ data: Bot[] }>("/bots"));
    const rows = data.map((bot) => [bot.id, String(bot.priority ?? ""), onWhere(bot), answersOf(bot)]);
    say(showTable(paint, ["BOT", "PRIORITY", "ON", "ANSWERS"], rows) || "No bot is loaded.");
    sayWarnings(data);
    return data;
  },
});

const routes = command({
  meta: {
    name: "routes",
    description: "Routes in the order in which they are asked, and where bots conflict",
  },
  args: {
    number: {
      type: "positional",
      description: "The number, digits; default: a number without bindings",
      required: false,
    },
    account,
  },
  async run({ args }) {
    const path = args.number ? `/devices/${encodeURIComponent(args.number)}/bots/routes` : "/bots/routes";
    const { data } = await asBots(args.account, (gateway) => gateway.get<{ data: RouteTable }>(path));
    const rows = data.routes.map(({ bot, priority, chats, kind, pattern }) => [
      String(priority),
      bot,
      kind,
      pattern,
      chats.join(", "),
    ]);
    const where = args.number ? `at ${showNumber(args.number)}` : "at a number without bindings";
    const none = `No bot is on ${where}. Switch one on: npm run parley -- bots bind <number> <id>`;
    say(showTable(paint, ["PRIORITY", "BOT", "KIND", "PATTERN", "CHATS"], rows) || none);
    if (data.conflicts.length === 0) return data;
    say();
    for (const { text } of data.conflicts) say(`${paint.yellow("!")} ${text}`);
    return data;
  },
});

const bind = command({
  meta: { name: "bind", description: "Switch a bot on or off at a number; other bots stay as they are" },
  args: {
    number: { type: "positional", description: "The number, digits", required: true },
    id: { type: "positional", description: "Id of the bot", required: true },
    priority: {
      type: "string",
      description: "0 (asked first) to 100 (asked last); own: the bot's own priority",
    },
    config: {
      type: "string",
      description: "Configuration of the bot at this number, a JSON object; none: no configuration",
    },
    off: { type: "boolean", description: "Switch it off" },
    account,
  },
  async run({ args }) {
    const change = {
      id: args.id,
      enabled: !args.off,
      ...(args.priority !== undefined && { priority: readPriority(args.priority) }),
      ...(args.config !== undefined && { config: readConfig(args.config) }),
    };
    const path = `/devices/${encodeURIComponent(args.number)}/bots`;
    const { data } = await asBots(args.account, (gateway) =>
      gateway.patch<{ data: BoundBot[] }>(path, { bots: [change] }),
    );
    const bot = data.find(({ id }) => id === args.id)!;
    const number = showNumber(args.number);
    if (args.off) say(`${bot.id} is off at ${number}.`);
    else if (bot.enabled) say(`${bot.id} answers at ${number}, with priority ${bot.priority}.`);
    else throw new Error(`${bot.id} is bound to ${number}, and off until its file is fixed: ${bot.error}`);
    return bot;
  },
});

const reload = command({
  meta: { name: "reload", description: "Load the bots of BOTS_DIR again; connections stay" },
  async run() {
    const { gateway } = await findOperator();
    const { data } = await gateway.post<{ data: Bot[] }>("/admin/bots/reload");
    say(`Loaded again: ${data.map(({ id }) => id).join(", ") || "no bot"}.`);
    if (sayBroken(data)) process.exitCode = 1;
    return data;
  },
});

function readPriority(text: string): number | null {
  if (text === "own") return null;
  if (/^\d{1,3}$/.test(text) && Number(text) <= 100) return Number(text);
  throw new Error(
    "--priority must be a whole number from 0 (asked first) to 100 (asked last), or own: the bot's own priority.",
  );
}

function readConfig(text: string): object | null {
  if (text === "none") return null;
  try {
    const config: unknown = JSON.parse(text);
    if (typeof config === "object" && config !== null && !Array.isArray(config)) return config;
  } catch {
    // Said below: the parser's own words do not help whoever has lost a quotation mark to the shell.
  }
  throw new Error(`--config must be a JSON object in single quotes, for instance '{"city":"Berlin"}'.`);
}

export default defineCommand({
  meta: { name: "bots", description: "Bots of this gateway" },
  subCommands: {
    list,
    check: () => import("./bots-check.ts").then((module) => module.default),
    new: () => import("./bots-new.ts").then((module) => module.default),
    test: () => import("./bots-test.ts").then((module) => module.default),
    record: () => import("./bots-record.ts").then((module) => module.default),
    replay: () => import("./bots-replay.ts").then((module) => module.default),
    routes,
    bind,
    reload,
  },
});
