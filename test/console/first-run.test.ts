import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, expect, it } from "vitest";
import { testConsole } from "../_setup/console.ts";
import { goTo, setWebhook, useKey } from "../_setup/desk.ts";
import { CONTACT, heading, linkAndAnswer, press, SHOP } from "../_setup/first-visit.ts";
import { certificatesOfTests } from "../_setup/gateways-again.ts";
import { startReceiver, type Receiver } from "../_setup/receiver.ts";
import { startOnTerminal } from "../_setup/terminal.ts";
import { until } from "../_setup/world.ts";
import { startSimulator } from "../../src/simulator/index.ts";
import type { Simulator } from "../../src/simulator/types.ts";

/**
 * From `npm start` to a number that answers and a webhook that came back, by clicks alone. With PARLEY_SHOTS it is recorded: the
 * picture with which the README begins.
 */
const ECHO = "The shop has read it.";
const { PARLEY_SHOTS } = process.env;
const SIZE = { width: 1200, height: 750 };
const STEP_MS = 2_200;

let browser: Browser;
beforeAll(async () => {
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
});
afterAll(() => browser.close());

const frames: Buffer[] = [];
const record = async (page: Page): Promise<void> => {
  if (PARLEY_SHOTS !== undefined) frames.push(await page.screenshot());
};
async function keepRecord(): Promise<void> {
  if (PARLEY_SHOTS === undefined) return;
  mkdirSync(PARLEY_SHOTS, { recursive: true });
  await sharp(frames, { join: { animated: true } })
    .webp({ loop: 0, delay: frames.map(() => STEP_MS), quality: 80, effort: 6 })
    .toFile(join(PARLEY_SHOTS, "first-run.webp"));
}

async function seeWhy(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Go to the conversations" }).click();
  await page.getByRole("option", { name: /Ana/ }).click();
  await page.getByText("Answered by: Bot ping").waitFor();
  await page.getByRole("button", { name: /Answered by: Bot ping/ }).click();
  await page.getByText("Accepted by WhatsApp").first().waitFor();
  await record(page);
}

/** The webhook is down: the message is given up, posted again once it is back, and answered. */
async function missAndReplay(page: Page, sim: Simulator, receiver: Receiver): Promise<void> {
  const replies = async () => (await sim.messages(CONTACT)).filter(({ text }) => text === ECHO).length;
  receiver.status = 404;
  await sim.sendText(CONTACT, SHOP, "Do you deliver?");
  await goTo(page, "Home");
  const needs = page.getByRole("listitem").filter({ hasText: "The webhook did not take messages" });
  await needs.waitFor();
  await record(page);
  await needs.getByRole("link", { name: "See" }).click();
  await page.getByText("HTTP 404").first().waitFor();
  await record(page);
  expect(await replies()).toBe(0);

  receiver.status = 200;
  await press(page, "Post again …");
  await page.getByRole("dialog").getByRole("button", { name: "Post again …" }).click();
  await until(async () => (await replies()) === 1);
  await goTo(page, "Conversations");
  await page.getByRole("option", { name: /Ana/ }).click();
  await page.getByRole("feed").getByText(ECHO).waitFor();
  await record(page);
}

it("a gateway started on a terminal leads by its link to a number, a bot, a webhook that came back, and a key", async () => {
  const { certificates, caFile } = certificatesOfTests();
  const sim = await startSimulator({ certificates });
  const receiver = await startReceiver({ message: ECHO });
  const { said } = await startOnTerminal({
    CONSOLE_DIR: await testConsole(),
    WHATSAPP_WS_URL: sim.wsUrl,
    WHATSAPP_NOISE_ROOT: sim.noiseRoot,
    WHATSAPP_CA_FILE: caFile,
    ALLOW_PRIVATE_NETWORK: "1",
  });
  await until(() => said().includes("/console/sign-in#"));
  const page = await browser.newPage({
    viewport: SIZE,
    locale: "en-GB",
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  page.setDefaultTimeout(60_000);

  await page.goto(/http\S+\/console\/sign-in#\S+/.exec(said())![0]);
  await record(page);
  await press(page, "Sign in");
  await heading(page, "Welcome").waitFor();
  await page.getByLabel("Name").fill("Kopi Senja");
  await record(page);
  await press(page, "Next");
  await press(page, "Next");
  await linkAndAnswer(page, sim, async (step) => {
    // A simulator without a playground, which is as good as none here.
    expect(await page.getByText("Open the playground").count()).toBe(0);
    if (step !== "waiting") await record(page);
  });
  await record(page);
  await seeWhy(page);
  await setWebhook(page, receiver.url, ECHO);
  await record(page);
  await missAndReplay(page, sim, receiver);
  await useKey(page, SHOP);
  await record(page);

  await keepRecord();
  await page.context().close();
  expect(await sim.violations()).toEqual([]);
  await sim.stop();
});
