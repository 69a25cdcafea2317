import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import type { LibrarySimulator } from "../../src/simulator/inside.ts";
import { removeFolder } from "../_setup/folders.ts";
import { call } from "./gateway-client.ts";
import { endAll, type BenchGateway } from "./processes.ts";
import { fill, fillOneChat, readFacts, sizeOf, writeFacts, type Facts, type Tenant } from "./year/data.ts";
import { companionOf, costOf, end, openSimulator, startYearGateway } from "./year/gateway.ts";
import { writeAllTheTime } from "./year/load.ts";
import { createTenant } from "./year/tenants.ts";

/** Where the data lies, and what is measured on it. */
interface ConsoleOptions {
  /** Made when it is not there. */
  folder: string;
  /** `index.mjs` of the build under test. */
  entry: string;
  /** Folder of the built console; default: beside the build. */
  consoleDir?: string;
  /** In both directions: of ten in each chat, and again in one conversation a tenth of them. */
  messages: number;
  /** Of that one conversation, when it is not a tenth. */
  conversation?: number;
  /** Pixels of the window. Default 900. */
  height?: number;
  say(text: string): void;
}

/** What a browser went through while it scrolled. */
export interface Scrolled {
  what: string;
  seen: number;
  due: number;
  /** The longest time for which the page did nothing else. */
  longestTaskMs: number;
  /** How many of its tasks took longer than 50 ms. */
  longTasks: number;
  /** Rows in the page at most. */
  rows: number;
  heapMb: number;
  tookMs: number;
}

/** What one feels as a delay: "good" ends there for the time from an interaction to the next paint (web.dev/inp). */
const LONGEST_TASK_MS = 200;
const GUEST = "491799000001";

/**
 * `npm run bench -- --console`: the console in a browser on an account with ten thousand chats and a hundred thousand messages,
 * and on one long conversation, scrolled from one end to the other and back while contacts write.
 */
export async function benchConsole(options: ConsoleOptions): Promise<Scrolled[]> {
  const { folder, entry, consoleDir } = options;
  const facts = readFacts(folder) ?? (await makeFolder(options));
  const copy = `${folder}.run`;
  removeFolder(copy);
  cpSync(folder, copy, { recursive: true });
  const sim = await openSimulator(facts);
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  try {
    const gateway = await startYearGateway(sim, entry, copy, {
      ...(consoleDir && { CONSOLE_DIR: consoleDir }),
    });
    return await look(browser, gateway, sim, facts, options);
  } finally {
    await browser.close();
    endAll();
    await sim.stop();
    removeFolder(copy);
  }
}

/** Everything was seen, and without a stall. */
export const isGood = ({ seen, due, longestTaskMs }: Scrolled): boolean =>
  seen >= due && longestTaskMs <= LONGEST_TASK_MS;

async function makeFolder({
  folder,
  entry,
  messages,
  conversation = messages / 10,
  say,
}: ConsoleOptions): Promise<Facts> {
  removeFolder(folder);
  mkdirSync(folder, { recursive: true });
  const sim = await openSimulator(null);
  const gateway = await startYearGateway(sim, entry, folder);
  const tenants = {
    busy: await createTenant(gateway, sim, "busy", "31620000001"),
    other: await createTenant(gateway, sim, "other", "31620000002"),
    light: await createTenant(gateway, sim, "light", "31620000003"),
  };
  await end(gateway);
  const companions = Object.fromEntries(
    Object.values(tenants).map(({ number }) => [number, companionOf(sim, number)]),
  );
  await sim.stop();
  const size = { ...sizeOf(messages), waitingDeliveries: 0, dialogues: 0 };
  const some = await fill(folder, tenants, size, say);
  await fillOneChat(folder, tenants.light, conversation, say);
  rmSync(join(folder, "ballast"), { force: true });
  const facts = { size, ...tenants, companions, ...some, made: Date.now() };
  writeFacts(folder, facts);
  return facts;
}

async function look(
  browser: Browser,
  gateway: BenchGateway,
  sim: LibrarySimulator,
  { busy, light, size }: Facts,
  { conversation: due = size.messages / 10, height = 900, say }: ConsoleOptions,
): Promise<Scrolled[]> {
  await sim.addContact(GUEST, { name: "Guest" });
  await sim.waitOnline(busy.number, 60_000);
  // Bots that come with Parley are off until they are bound; the load waits for answers.
  const bots = [{ id: "ping", enabled: true }];
  await call(gateway, "PUT", `/devices/${busy.number}/bots`, { bots }, busy.key);
  const load = writeAllTheTime(sim, GUEST, busy.number);
  const results: Scrolled[] = [];
  const measure = async (what: string, page: Page, due: number, list: List, by: 1 | -1): Promise<void> => {
    let found!: Scrolled;
    const { computingMs } = await costOf(gateway, what, async () => {
      found = await scrollThrough(what, page, due, list, by);
    });
    results.push(found);
    say(lineOf(found, computingMs));
  };
  const chats = await signedIn(browser, gateway, busy, height);
  await chats.goto(`${gateway.url}/console/chats`);
  await measure(`${size.chats} chats, down`, chats, size.chats, CHATS, 1);
  await measure("and up again", chats, size.chats, CHATS, -1);
  await chats.context().close();
  const one = await signedIn(browser, gateway, light, height);
  const { data } = await call(gateway, "GET", "/chats", undefined, light.key);
  await one.goto(`${gateway.url}/console/chats/${light.number}/${encodeURIComponent(data[0].chat)}`);
  await measure(`a conversation of ${due} messages, to its beginning`, one, due, FEED, -1);
  await measure("and to its end again", one, due, FEED, 1);
  await load.end();
  return results;
}

async function signedIn(
  browser: Browser,
  gateway: BenchGateway,
  { key }: Tenant,
  height: number,
): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height }, locale: "en-GB" });
  // What is evaluated in the page has been compiled by `tsx`, which names functions by one that a page does not have.
  await context.addInitScript("globalThis.__name = (named) => named");
  await context.addInitScript(() => {
    const tasks: number[] = [];
    Object.assign(globalThis, { tasks });
    new PerformanceObserver((list) =>
      tasks.push(...list.getEntries().map(({ duration }) => duration)),
    ).observe({ type: "longtask", buffered: true });
  });
  await context.request.post(`${gateway.url}/console/session`, { data: { key } });
  return context.newPage();
}

/** Where rows stand, and how one is told from another. */
interface List {
  list: string;
  row: string;
}
const CHATS: List = { list: '[role="listbox"]', row: '[role="option"]' };
const FEED: List = { list: '[role="feed"]', row: "[data-message]" };

/** At an end one looks a few times more: a page may be on its way. */
const LOOKS_AT_THE_END = 30;

async function scrollThrough(
  what: string,
  page: Page,
  due: number,
  list: List,
  by: 1 | -1,
): Promise<Scrolled> {
  await page.waitForSelector(list.row);
  await page.evaluate(() => void (globalThis as unknown as { tasks: number[] }).tasks.splice(0));
  const seen = new Set<string>();
  const started = performance.now();
  let rows = 0;
  // What stands there before anything has moved.
  for (const id of (await page.evaluate(step, { ...list, by: 0 as number })).ids) seen.add(id);
  for (let still = 0; still < LOOKS_AT_THE_END;) {
    const { ids, moved } = await page.evaluate(step, { ...list, by });
    for (const id of ids) seen.add(id);
    rows = Math.max(rows, ids.length);
    still = moved ? 0 : still + 1;
    if (!moved) await page.waitForTimeout(100);
  }
  const { tasks, heap } = await page.evaluate(() => ({
    tasks: (globalThis as unknown as { tasks: number[] }).tasks,
    heap: (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize,
  }));
  return {
    what,
    seen: seen.size,
    due,
    longestTaskMs: Math.max(0, ...tasks),
    longTasks: tasks.length,
    rows,
    heapMb: heap / 1024 ** 2,
    tookMs: performance.now() - started,
  };
}

/** Runs in the page: most of a window on, and what stands there then. */
async function step({ list, row, by }: List & { by: number }): Promise<{ ids: string[]; moved: boolean }> {
  const place = document.querySelector(list)!;
  const before = place.scrollTop;
  place.scrollBy(0, by * 0.8 * place.clientHeight);
  await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  const ids = [...document.querySelectorAll<HTMLElement>(row)].map((one) => one.dataset["message"] ?? one.id);
  return { ids, moved: place.scrollTop !== before || place.getAttribute("aria-busy") === "true" };
}

function lineOf(found: Scrolled, computingMs: number): string {
  const { what, seen, due, longestTaskMs, longTasks, rows, heapMb, tookMs } = found;
  const over = isGood(found) ? "" : "  OVER ITS LIMIT: everything, in tasks of 200 ms";
  return (
    `${what.padEnd(52)} ${seen} of ${due} seen in ${(tookMs / 1000).toFixed(0)} s; longest task ${longestTaskMs.toFixed(0)} ms, ` +
    `${longTasks} over 50; ${rows} rows, ${heapMb.toFixed(0)} MB; the gateway computed ${computingMs.toFixed(0)} ms at most${over}`
  );
}
