import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { spawnSync } from "node:child_process";
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { Agent, fetch as fetchPatiently } from "undici";
import type { LibrarySimulator } from "../../../src/simulator/inside.ts";
import { root, type BenchGateway } from "../processes.ts";
import type { Facts } from "./data.ts";
import { asOperator, costOf, end, startYearGateway, type Cost } from "./gateway.ts";
import { row } from "./row.ts";
import { adminTokenOf, callForKey } from "./tenants.ts";

/** What a run works with. */
export interface Run {
  sim: LibrarySimulator;
  facts: Facts;
  /** `index.mjs` of the build under test. */
  entry: string;
  /** A copy: it is changed. */
  dataDir: string;
  say(text: string): void;
}

const GUEST = "491799000001";
const LOAD_EVERY_MS = 200;
const DAY_S = 86_400;
/** A webhook that is left alone after failures is tried again within this time. */
const RECEIVER_PATIENCE_MS = 90_000;

/** Every step under the light load of a contact who writes and is answered; each on the data that the ones before left. */
export async function drive({ sim, facts, entry, dataDir, say }: Run): Promise<Cost[]> {
  const costs: Cost[] = [];
  const note = (cost: Cost): void => {
    costs.push(cost);
    say(row(cost));
  };
  await sim.addContact(GUEST, { name: "Guest" });
  let gateway = await startYearGateway(sim, entry, dataDir);
  const token = adminTokenOf(dataDir);
  await callForKey(gateway, facts.light.key)("PUT", `/devices/${facts.light.number}/bots`, {
    bots: [{ id: "ping", enabled: true }],
  });
  note(await firstAnswer(sim, gateway, facts, "first answer after the start"));
  const load = writeAllTheTime(sim, facts.light.number);
  const step = async (what: string, work: () => Promise<unknown>): Promise<void> =>
    note(await costOf(gateway, what, work));

  /** For what goes on behind an answer; a small folder is soon done. */
  const behindMs = facts.size.messages >= 200_000 ? 10_000 : 1_500;
  await step("nothing but the load", () => pause(behindMs / 3));
  for (const [what, work] of requests(gateway, facts, token)) await step(what, work);
  await step("backup", () => backup(gateway, token, `${dataDir}.tar`));
  await step("the connection of the busy number breaks, its queue leaves", () =>
    reconnect({ sim, facts }, behindMs),
  );
  await step("the webhook's receiver is back", () => catchUp(gateway, facts, behindMs));
  await step("the busy number is erased", () => erase(gateway, facts, "number"));
  await step("its rows go in the background", () => pause(behindMs));
  await step("an account is erased", () => erase(gateway, facts, "account"));
  await step("its rows go in the background as well", () => pause(behindMs));
  await load.end();
  await end(gateway);

  gateway = await startYearGateway(sim, entry, dataDir, { RETENTION_DAYS: "30" });
  note(await firstAnswer(sim, gateway, facts, "first answer after a restart, with less to keep"));
  await step("retention in the background", () => pause(behindMs));
  await end(gateway);
  const started = performance.now();
  rotateKey(dataDir);
  say(`key rotation, with the gateway ended: ${(performance.now() - started).toFixed(0)} ms`);
  return costs;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The contact writes as soon as the gateway listens; the step ends with the answer. */
async function firstAnswer(
  sim: LibrarySimulator,
  gateway: BenchGateway,
  { light }: Facts,
  what: string,
): Promise<Cost> {
  return costOf(gateway, what, async () => {
    const since = (await sim.messages(GUEST, { from: light.number })).at(-1)?.seq ?? 0;
    await sim.sendText(GUEST, light.number, "ping");
    await sim.waitForMessage(GUEST, { from: light.number, since }, 60_000);
  });
}

function writeAllTheTime(sim: LibrarySimulator, number: string): { end(): Promise<void> } {
  const stop = new AbortController();
  const done = (async () => {
    while (!stop.signal.aborted) {
      await sim.sendText(GUEST, number, "ping");
      await pause(LOAD_EVERY_MS);
    }
  })();
  return {
    async end() {
      stop.abort();
      await done;
    },
  };
}

/** Every list and record that can be asked for, each with its filters, first pages and one further down. */
function requests(gateway: BenchGateway, facts: Facts, token: string): [string, () => Promise<unknown>][] {
  const { busy, someMessage } = facts;
  const key = callForKey(gateway, busy.key);
  const operator = asOperator(gateway, token);
  const since = new Date(Date.now() - 7 * DAY_S * 1_000).toISOString();
  const decisions = `/devices/${busy.number}/decisions`;
  const lists = [
    "/deliveries",
    `/deliveries?device=${busy.number}`,
    ...["pending", "delivered", "retrying", "dead", "disabled"].map((state) => `/deliveries?state=${state}`),
    `/deliveries?device=${busy.number}&state=delivered`,
    decisions,
    `${decisions}?message=${someMessage}`,
  ];
  const records = [
    "/account",
    "/api-keys",
    "/devices",
    `/devices/${busy.number}`,
    `/devices/${busy.number}/why`,
    `/devices/${busy.number}/webhook`,
    `/devices/${busy.number}/bots`,
    `/devices/${busy.number}/audit?since=${since}`,
    "/bots",
    `/channels?sender=${busy.number}`,
    `/messages/${someMessage}`,
  ];
  return [
    ...lists.map((path): [string, () => Promise<unknown>] => [
      `GET ${path}, three pages`,
      () => pages(key, path),
    ]),
    ...records.map((path): [string, () => Promise<unknown>] => [
      `GET ${path.replace(someMessage, "{id}")}`,
      () => key("GET", path).catch(ignoreNotFound),
    ]),
    ["GET /admin/accounts", () => operator("GET", "/admin/accounts")],
    ["GET /metrics", () => metrics(gateway, token)],
  ];
}

async function pages(key: ReturnType<typeof callForKey>, path: string): Promise<void> {
  let before = "";
  for (let page = 0; page < 3; page++) {
    const answer = await key("GET", `${path}${path.includes("?") ? "&" : "?"}limit=100${before}`);
    if (!answer.next) return;
    before = `&before=${encodeURIComponent(String(answer.next))}`;
  }
}

const ignoreNotFound = (error: Error): void => {
  if (!/ 404 /.test(error.message)) throw error;
};

async function metrics({ url }: BenchGateway, token: string): Promise<void> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new Error(`GET /metrics: ${answer.status}`);
  await answer.text();
}

async function backup({ url }: BenchGateway, token: string, into: string): Promise<void> {
  // It answers when the copy is made, which takes minutes where others have the processor.
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const answer = await fetchPatiently(`${url}/admin/backup`, {
    method: "POST",
    dispatcher,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: "{}",
  });
  if (!answer.ok || answer.body === null) throw new Error(`POST /admin/backup: ${answer.status}`);
  await pipeline(answer.body, createWriteStream(into));
  await dispatcher.close();
}

/** The queue is long: its first thousand messages are enough to see what each of them costs. */
async function reconnect({ sim, facts }: Pick<Run, "sim" | "facts">, behindMs: number): Promise<void> {
  const { number } = facts.busy;
  const before = await sim.countStanzas({ tag: "success", direction: "out" });
  await sim.faults.dropSocket({ number });
  while ((await sim.countStanzas({ tag: "success", direction: "out" })) <= before) await pause(20);
  await pause(behindMs);
}

async function catchUp(gateway: BenchGateway, { busy }: Facts, behindMs: number): Promise<void> {
  const seen = { events: 0 };
  const receiver = createServer((request, response) => {
    seen.events++;
    request.resume();
    response.writeHead(204).end();
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const { port } = receiver.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/webhook`;
  await callForKey(gateway, busy.key)("PUT", `/devices/${busy.number}/webhook`, { url, mode: "always" });
  const deadline = performance.now() + RECEIVER_PATIENCE_MS;
  while (seen.events === 0 && performance.now() < deadline) await pause(20);
  await pause(behindMs);
  receiver.close();
  receiver.closeAllConnections();
  if (seen.events === 0) throw new Error("The webhook's receiver was asked for nothing.");
}

async function erase(
  gateway: BenchGateway,
  { busy, other }: Facts,
  what: "number" | "account",
): Promise<void> {
  if (what === "number") await callForKey(gateway, busy.key)("DELETE", `/devices/${busy.number}`);
  else await asOperator(gateway, adminTokenOf(gateway.dataDir))("DELETE", `/admin/accounts/${other.account}`);
}

function rotateKey(dataDir: string): void {
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--import", "tsx", "src/cli/main.ts", "rotate-key"],
    { cwd: root, env: { ...process.env, DATA_DIR: dataDir }, encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`rotate-key ended with ${status}: ${stderr}`);
}
