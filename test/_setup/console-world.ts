import jsqr from "jsqr";
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from "playwright-core";
import { PNG } from "pngjs";
import { expect } from "vitest";
import { testConsole } from "./console.ts";
import { SIZES } from "./looks.ts";
import { closeWorld, keepWorld, type World, type WorldOptions } from "./world.ts";

export { everywhere, faultsOf, SIZES, tooWide } from "./looks.ts";

/** How a page is opened. */
export interface Viewer {
  size?: keyof typeof SIZES;
  theme?: "light" | "dark";
  /** Of the browser; default English. */
  locale?: string;
  /** Signed in with this key; null: not signed in. Default the world's. */
  key?: string | null;
  /** Signed in with the operator's token instead. */
  operator?: boolean;
}

/** One gateway with the built console, one offline WhatsApp and one Chromium: for all tests of a file. */
export interface ConsoleWorld extends World {
  browser: Browser;
  /** The folder that the console was built into. */
  folder: string;
  /**
   * A page of a browser of its own (cookies, storage), at a path below `/console`. When its context is closed, the next one may
   * get the page, with nothing left in it: a new one costs three times as much.
   */
  open(path?: string, viewer?: Viewer): Promise<Page>;
}

const complaints = new WeakMap<Browser, string[]>();

/** In `beforeAll`; {@link closeConsole} in `afterAll`. */
export async function openConsole(options: WorldOptions = {}): Promise<ConsoleWorld> {
  const folder = await testConsole();
  const [world, browser] = await Promise.all([
    keepWorld({ ...options, env: { CONSOLE_DIR: folder, ...options.env } }),
    chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] }),
  ]);
  const said: string[] = [];
  complaints.set(browser, said);
  const idle: IdlePages = new Map();
  const made = Object.assign(world, {
    browser,
    folder,
    async open(path = "/", viewer: Viewer = {}) {
      const page = await pageFor(browser, idle, viewer);
      listenTo(page, said);
      await signIn(page.context(), world, viewer);
      await page.goto(`${world.gateway.url}/console${path}`);
      return page;
    },
  });
  return made;
}

/** Ends all; a page that broke its policy, or threw, has failed. */
export async function closeConsole(world: ConsoleWorld | undefined): Promise<void> {
  if (world === undefined) return;
  await world.browser.close();
  await closeWorld(world);
  // oxlint-disable-next-line vitest/no-standalone-expect -- this is the promise of every test with it
  expect(complaints.get(world.browser)).toEqual([]);
}

/** Pages that nobody looks at, by the language of their browser. */
type IdlePages = Map<string, Page[]>;

async function pageFor(browser: Browser, idle: IdlePages, viewer: Viewer): Promise<Page> {
  const { size = "desk", theme = "light", locale = "en-GB" } = viewer;
  const pages = idle.get(locale) ?? [];
  idle.set(locale, pages);
  const page = pages.pop() ?? (await newPage(browser, locale, pages));
  await page.setViewportSize(SIZES[size]);
  await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
  return page;
}

async function newPage(browser: Browser, locale: string, idle: Page[]): Promise<Page> {
  const context = await browser.newContext({
    locale,
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const close = context.close.bind(context);
  context.close = async (options) => {
    const isAlone = context.pages().length === 1 && !page.isClosed();
    const isEmpty = isAlone && (await emptied(page).catch(() => false));
    if (isEmpty) idle.push(page);
    else await close(options);
  };
  return page;
}

/** Nothing is left of who looked at it. */
async function emptied(page: Page): Promise<boolean> {
  const context = page.context();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await context.setOffline(false);
  await page.evaluate(() => {
    localStorage.clear();
    sessionStorage.clear();
  });
  await page.goto("about:blank");
  for (const event of ["request", "response", "console", "pageerror"]) page.removeAllListeners(event);
  await context.clearCookies();
  return true;
}

/** The cookie is got by HTTP: what the form does is tried by the tests of signing in. */
async function signIn(context: BrowserContext, { gateway, key }: World, viewer: Viewer): Promise<void> {
  if (viewer.key === null) return;
  const data = viewer.operator ? { token: gateway.adminToken } : { key: viewer.key ?? key };
  const answer = await context.request.post(`${gateway.url}/console/session`, { data });
  // oxlint-disable-next-line vitest/no-standalone-expect -- nothing can be tried without it
  expect(answer.status()).toBe(200);
}

/** Refused requests are answers, which the console shows; everything else that a browser complains of is a fault. */
function listenTo(page: Page, said: string[]): void {
  page.on("console", (message) => {
    const isAnswer = message.text().startsWith("Failed to load resource");
    if (["error", "warning"].includes(message.type()) && !isAnswer) said.push(message.text());
  });
  page.on("pageerror", (error) => void said.push(`${error.message}\n${error.stack ?? ""}`));
}

/** What a phone's camera reads of an image on the screen; null: nothing. */
export async function scanned(image: Locator): Promise<string | null> {
  const { data, width, height } = PNG.sync.read(await image.screenshot());
  return jsqr(new Uint8ClampedArray(data), width, height)?.data ?? null;
}
