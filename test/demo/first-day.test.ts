import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createPaint, createSteps } from "../../src/cli/terminal.ts";
import { repositoryRoot } from "../../src/config.ts";
import { createCleanup } from "../../src/demo/cleanup.ts";
import { openPlayground, type OpenPlayground } from "../../src/demo/playground/open.ts";
import { goTo, setWebhook, useKey } from "../_setup/desk.ts";
import { startReceiver, type Receiver } from "../_setup/receiver.ts";

/** A first day with Parley in the playground, by clicks alone: nothing is asked of the gateway but by what stands on the screen. */
const SHOP = "31600000001";
const ANA = "31600000002";
const CARMEN = "31600000004";
const ECHO = "The shop has read it.";
/** Where pictures of each step go, for the README; unset: none are made. */
const { PARLEY_SHOTS } = process.env;

const cleanup = createCleanup();
const stories = mkdtempSync(join(tmpdir(), "parley-first-day-"));
let opened: OpenPlayground;
let browser: Browser;

beforeAll(async () => {
  const paper = { write: () => {} };
  opened = await openPlayground({
    root: repositoryRoot(),
    steps: createSteps(paper, createPaint(false)),
    cleanup,
    watch: (crashed) => void crashed.catch(() => undefined),
    stories,
    onTrouble: () => undefined,
  });
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await cleanup.run(false);
  rmSync(stories, { recursive: true });
});

const handset = (page: Page, phone: string) => page.locator(`[data-phone="${phone}"]`);
const bubble = (page: Page, phone: string, text: string) =>
  handset(page, phone).locator("[data-message]", { hasText: text }).first();
async function type(page: Page, phone: string, text: string): Promise<void> {
  await handset(page, phone).getByRole("textbox").fill(text);
  await handset(page, phone).getByRole("textbox").press("Enter");
}
async function picture(page: Page, name: string): Promise<void> {
  if (PARLEY_SHOTS === undefined) return;
  mkdirSync(PARLEY_SHOTS, { recursive: true });
  await page.screenshot({ path: join(PARLEY_SHOTS, `${name}.png`) });
}
async function linkAndTalk(play: Page): Promise<void> {
  await play.getByRole("button", { name: "Scan with the shop's phone" }).click();
  await play.getByText("Connected", { exact: true }).waitFor();
  await type(play, ANA, "hours");
  await bubble(play, ANA, "Our opening hours").waitFor();
  await bubble(play, ANA, "hours").getByText("Answered by opening-hours").waitFor();
  await picture(play, "playground");
}

async function openConsole(play: Page): Promise<Page> {
  const popup = play.context().waitForEvent("page");
  await play.getByRole("button", { name: "Open the console" }).click();
  await play.getByRole("menuitem", { name: "As the account" }).click();
  const desk = await popup;
  await desk.getByRole("navigation").getByRole("link", { name: "Webhooks" }).waitFor();
  return desk;
}

async function seeWhy(desk: Page): Promise<void> {
  await goTo(desk, "Conversations");
  await desk
    .getByRole("option", { name: /Ana/ })
    .or(desk.getByRole("link", { name: /Ana/ }))
    .first()
    .click();
  await desk.getByText("Our opening hours").first().waitFor();
  await picture(desk, "console");
}

async function missAndReplay(play: Page, desk: Page, receiver: Receiver): Promise<void> {
  receiver.status = 404;
  await type(play, CARMEN, "is anybody there?");
  await goTo(desk, "Deliveries");
  await desk.getByText("HTTP 404").first().waitFor();
  await picture(desk, "deliveries");
  expect(await bubble(play, CARMEN, ECHO).count()).toBe(0);

  receiver.status = 200;
  await desk.getByRole("button", { name: "Post again …" }).click();
  await desk.getByRole("dialog").getByRole("button", { name: "Post again …" }).click();
  await bubble(play, CARMEN, ECHO).waitFor();
}

async function killAndJudge(play: Page): Promise<void> {
  await type(play, ANA, "ping");
  await play.getByRole("button", { name: "Kill the gateway" }).click();
  await type(play, CARMEN, "ping");
  await play.getByText("Connected", { exact: true }).waitFor({ timeout: 60_000 });
  await bubble(play, CARMEN, "pong").waitFor({ timeout: 60_000 });
  await bubble(play, ANA, "pong").waitFor();
  await play.getByRole("button", { name: "Judge now" }).click();
  await play.locator("[data-verdict]", { hasText: "Nothing is missing" }).waitFor({ timeout: 60_000 });
  await picture(play, "verdict");
}

it("from a QR code to a kill without loss, by clicks alone", { timeout: 240_000 }, async () => {
  const receiver = await startReceiver({ message: ECHO });
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    locale: "en-GB",
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const play = await context.newPage();
  play.setDefaultTimeout(60_000);
  await play.goto(opened.url);

  await linkAndTalk(play);
  const desk = await openConsole(play);
  desk.setDefaultTimeout(60_000);
  await seeWhy(desk);
  await setWebhook(desk, receiver.url, ECHO);
  await picture(desk, "webhook");
  await missAndReplay(play, desk, receiver);
  await useKey(desk, SHOP);
  await killAndJudge(play);

  for (const count of ["lost", "doubled", "outOfOrder"])
    expect(await play.locator(`[data-count="${count}"] dd`).innerText()).toBe("0");
  await context.close();
});

it("the console's address that is printed opens it signed in", { timeout: 120_000 }, async () => {
  const context = await browser.newContext({ locale: "en-GB" });
  const desk = await context.newPage();
  await desk.goto(opened.consoleUrl);
  await desk.getByRole("navigation").getByRole("link", { name: "Webhooks" }).waitFor();
  // Nobody reads the token over a shoulder, or finds it in the history.
  expect(desk.url()).toMatch(new RegExp(`:${new URL(opened.baseUrl).port}/console`));
  expect(desk.url()).not.toMatch(/token/);
  await context.close();
});
