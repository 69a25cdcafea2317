import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import Database from "libsql";
import { ok, startApart, until, type Apart } from "./apart.ts";
import { groupBy } from "../../src/demo/judge/group-by.ts";
import { judge, type Verdict } from "../../src/demo/judge/judge.ts";

const SHOP = "31600000001";
/**
 * What the gateway may grow by under any backlog, MB. Of what waits it holds 5,000 short messages at most (some 60 MB with
 * their bookkeeping), 256 requests to the webhook and their answers; the rest is the garbage of a busy process, which Node.js
 * lets grow to a multiple of what is alive before it collects.
 */
export const LARGEST_GROWTH_MB = 512;
/** Requests to the simulator at the same time. */
const WRITERS = 32;

export interface OverloadOptions {
  messages: number;
  contacts: number;
  /** How long the webhook takes to answer. */
  webhookMs: number;
  /** The webhook is away until every message is stored: it refuses connections, or answers 503. Default: never. */
  away?: "refused" | "503";
  /** Its owner configures it anew when it is back; otherwise the gateway finds out by itself, within a minute. */
  configuredAnew?: boolean;
  /** Characters of each message. Default 40. */
  characters?: number;
  /** The gateway's build. Default: the test build of the present sources. */
  entry?: string;
  /** Further settings of the gateway. */
  env?: Record<string, string>;
  /** All must be answered by then, milliseconds after the last message was written. */
  withinMs: number;
}

export interface OverloadReport extends Verdict {
  /** Resident memory of the gateway, MB: linked and idle, and the most while it worked. */
  idleMb: number;
  peakMb: number;
  /** The most calls that one chat got while another had a message waiting and none of its own under way. */
  overtaken: number;
  /** Until the last answer was at its contact. */
  seconds: number;
}

interface Call {
  chat: string;
  id: string;
  at: number;
  /** Its answer went out. */
  endedAt: number;
}

/**
 * Contacts write as fast as they can to one number whose webhook is slow, or away for the first half; everything is
 * answered in the end. The gateway runs with its default limits.
 */
export async function overload(options: OverloadOptions): Promise<OverloadReport> {
  const world = await startApart({ seed: "overload", env: options.env, entry: options.entry });
  const hook = await startHook(options.webhookMs);
  const died = world.gateway.exited().then(({ code, signal }) => {
    // It is stopped in the end.
    if (code === 0) return new Promise<never>(() => undefined);
    throw new Error(`The gateway ended with ${code ?? signal}. It wrote:\n${world.gateway.output()}`);
  });
  try {
    return await Promise.race([drill(world, hook, options), died]);
  } finally {
    await world.close();
    await hook.close();
  }
}

async function drill(world: Apart, hook: Hook, options: OverloadOptions): Promise<OverloadReport> {
  const { sim, gateway, key } = world;
  const { away, withinMs } = options;
  await world.link(SHOP);
  const configure = async () => ok(await gateway.put(`/devices/${SHOP}/webhook`, { url: hook.url }, { key }));
  await configure();
  const people = await sim.addContacts(options.contacts, { prefix: "49155" });
  const each = Math.ceil(options.messages / people.length);
  const first = away ? Math.ceil(each / 2) : each;
  const database = new Database(join(gateway.dataDir, "parley.db"), { readonly: true });
  const memory = watchMemory(gateway.pid);
  const started = Date.now();
  if (away) await hook.leave(away);
  await writeAll(world, people, first, options);
  if (away) {
    const stored = () => count(database, DECIDED) >= people.length * first;
    await until("the first half is stored and decided", stored, withinMs);
    await hook.comeBack();
    if (options.configuredAnew) await configure();
    await writeAll(world, people, each - first, options);
  }
  await until("everything is answered", () => count(database, SENT) >= people.length * each, withinMs);
  const seconds = (Date.now() - started) / 1000;
  await sim.settle(withinMs);
  const { idleMb, peakMb } = memory.stop();
  const overtaken = mostOvertaken(hook.calls, readArrivals(database));
  database.close();
  await gateway.stop();
  const script = { numbers: [SHOP], replies: () => 1, ...(away ? {} : { events: hook.calls }) };
  return {
    ...(await judge({ sim, dataDir: gateway.dataDir }, script)),
    idleMb,
    peakMb,
    overtaken,
    seconds,
  };
}

/** Each contact writes its messages one after another, all contacts by turns, as fast as the simulator takes them. */
async function writeAll(world: Apart, people: string[], each: number, options: OverloadOptions) {
  const text = "x".repeat(options.characters ?? 40);
  const write = async (some: string[]): Promise<void> => {
    for (let i = 0; i < each; i++) for (const person of some) await world.sim.sendText(person, SHOP, text);
  };
  const hands = groupBy(people.entries(), ([index]) => index % WRITERS).values();
  await Promise.all([...hands].map((some) => write(some.map(([, person]) => person))));
}

const DECIDED = "SELECT count(*) AS n FROM inbox WHERE state = 'done'";
const SENT = "SELECT count(*) AS n FROM outbox WHERE state <> 'queued'";

function count(database: Database.Database, sql: string): number {
  return (database.prepare(sql).get() as { n: number }).n;
}

/** When each message was stored, by its id. */
function readArrivals(database: Database.Database): Map<string, number> {
  const rows = database.prepare("SELECT wa_id AS id, received_at AS at FROM inbox").all();
  return new Map((rows as { id: string; at: number }[]).map(({ id, at }) => [id, at]));
}

/**
 * How unfair it was, by order and not by time: while a chat has a message stored and no call under way, how many calls
 * does another chat get? Chats that take turns get one each, two when one ends just before the other begins to wait.
 *
 * @returns the most over all chats and all waits
 */
export function mostOvertaken(calls: Call[], storedAt: Map<string, number>): number {
  let most = 0;
  for (const own of groupBy(calls, ({ chat }) => chat).values())
    for (const [index, call] of own.entries()) {
      const from = Math.max(own[index - 1]?.endedAt ?? 0, storedAt.get(call.id) ?? 0);
      const meanwhile = new Map<string, number>();
      for (const { chat, at } of calls)
        if (at > from && at < call.at) meanwhile.set(chat, (meanwhile.get(chat) ?? 0) + 1);
      meanwhile.delete(call.chat);
      most = Math.max(most, ...meanwhile.values());
    }
  return most;
}

/** A customer's server that takes its time, and may be away. */
interface Hook {
  url: string;
  /** Calls that were answered with a reply, in the order in which they came. */
  calls: Call[];
  leave(how: "refused" | "503"): Promise<void>;
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

async function startHook(webhookMs: number): Promise<Hook> {
  const calls: Call[] = [];
  let refusing = false;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (refusing) return void response.writeHead(503).end();
    const { chat, id } = JSON.parse(Buffer.concat(chunks).toString()) as { chat: string; id: string };
    const call = { chat, id, at: Date.now(), endedAt: Number.POSITIVE_INFINITY };
    calls.push(call);
    setTimeout(() => {
      call.endedAt = Date.now();
      response.end(JSON.stringify({ message: `re ${id}` }));
    }, webhookMs);
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  const stop = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    calls,
    async leave(how) {
      if (how === "refused") await stop();
      else refusing = true;
    },
    async comeBack() {
      refusing = false;
      if (!server.listening) await listen(port);
    },
    close: stop,
  };
}

function watchMemory(pid: number): { stop(): { idleMb: number; peakMb: number } } {
  const idleMb = residentMb(pid);
  let peakMb = idleMb;
  const sampling = setInterval(() => (peakMb = Math.max(peakMb, residentMb(pid))), 100);
  return {
    stop() {
      clearInterval(sampling);
      return { idleMb, peakMb: Math.max(peakMb, residentMb(pid)) };
    },
  };
}

/** 0 when the process is gone. */
function residentMb(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
