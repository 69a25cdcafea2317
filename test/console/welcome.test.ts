import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testConsole } from "../_setup/console.ts";
import {
  closeConsole,
  everywhere,
  faultsOf,
  openConsole,
  scanned,
  tooWide,
  type ConsoleWorld,
} from "../_setup/console-world.ts";
import { certificatesOfTests } from "../_setup/gateways-again.ts";
import { startOnTerminal } from "../_setup/terminal.ts";
import { until } from "../_setup/world.ts";
import { startSimulator } from "../../src/simulator/index.ts";
import type { Simulator } from "../../src/simulator/types.ts";

const SHOP = "6281234567001";
const CONTACT = "31600000002";

const heading = (page: Page, name: string) => page.getByRole("heading", { name });
const press = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true }).click();

/** From the number's field to a bot that answers, as somebody does who has never been here. */
async function linkAndAnswer(page: Page, sim: Simulator): Promise<void> {
  const owner = await sim.addNumber(SHOP);
  await page.getByLabel("Your WhatsApp number").fill(SHOP);
  await press(page, "Next");
  const image = page.getByRole("img", { name: "QR code to scan with WhatsApp" });
  let qr: string | null = null;
  await until(async () => {
    await image.waitFor();
    qr = await scanned(image);
    return qr !== null;
  });
  await owner.scan(qr!);

  await heading(page, "Write to it").waitFor();
  await page.getByText("Waiting for a message").waitFor();
  const contact = await sim.addContact(CONTACT, { name: "Ana" });
  await contact.sendText(SHOP, "is anybody there?");
  await heading(page, "It arrived").waitFor();
  await page.getByText("is anybody there?").waitFor();
  await press(page, "Next");

  await press(page, "Switch on ping");
  await page.getByText("Switched on.").waitFor();
  await contact.sendText(SHOP, "ping");
  expect(await sim.waitForMessage(CONTACT, { from: SHOP })).toMatchObject({ text: "pong" });
  await press(page, "Next");
  await heading(page, "Your number is ready").waitFor();
}

describe("the first visit", () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await openConsole();
  });
  afterAll(() => closeConsole(world));

  it("begins with an account for an operator who has chosen none", async () => {
    const page = await world.open("/welcome", { operator: true });
    await page.getByLabel("Name").fill("Kopi Senja");
    await press(page, "Next");
    await page.getByText("It is shown only now").waitFor();
    await press(page, "Next");
    await heading(page, "Which number answers?").waitFor();
    const { body } = await world.gateway.get("/admin/accounts", { key: world.gateway.adminToken });
    expect(body["data"]).toContainEqual(expect.objectContaining({ name: "Kopi Senja", plan: "pro" }));
    await page
      .getByRole("button", { name: /Kopi Senja/ })
      .first()
      .waitFor();
    await page.context().close();
  });

  it("leads from a number to its first answer", async () => {
    const page = await world.open("/");
    await heading(page, "Welcome").waitFor();
    await linkAndAnswer(page, world.sim);
    await page.getByRole("link", { name: "Go to the conversations" }).click();
    await page.getByText("pong").first().waitFor();

    // What is done is not asked again.
    await page.goto(`${world.gateway.url}/console/`);
    await page.getByRole("heading", { name: "Conversations" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/console/chats");
    await page.context().close();
  });

  it("fits three widths in two themes at each step, and axe finds nothing serious", async () => {
    const page = await world.open("/welcome", { operator: true });
    const fits = () =>
      everywhere(page, async (name) => {
        expect(await tooWide(page), name).toBeLessThanOrEqual(0);
        expect(await faultsOf(page), name).toEqual([]);
      });
    await page.getByLabel("Name").waitFor();
    await fits();
    await page.goto(`${world.gateway.url}/console/choose`);
    await page.getByRole("button", { name: /^Test/ }).first().click();
    await heading(page, "Conversations").waitFor();
    await page.goto(`${world.gateway.url}/console/welcome`);
    await heading(page, "It arrived").waitFor();
    await fits();
    await press(page, "Next");
    await page.getByText("Answers to").first().waitFor();
    await fits();
    await page.context().close();
  });

  it("says that a link was used, and asks for the token instead", async () => {
    const page = await world.open(`/sign-in#${"A".repeat(43)}`, { key: null });
    await page.getByText("It works once.").waitFor();
    await press(page, "Sign in");
    await page.getByText("was used or has ended").waitFor();
    expect(page.url()).toBe(`${world.gateway.url}/console/sign-in`);
    await page.getByLabel("Operator's token").last().fill(world.gateway.adminToken);
    await page.keyboard.press("Enter");
    await heading(page, "Choose an account").waitFor();
    await page.context().close();
  });
});

describe("a gateway started on a terminal for the first time", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  });
  afterAll(() => browser.close());

  it("leads by its link to an account, a linked number and a bot that answers", async () => {
    const { certificates, caFile } = certificatesOfTests();
    const sim = await startSimulator({ certificates });
    const { said } = await startOnTerminal({
      CONSOLE_DIR: await testConsole(),
      WHATSAPP_WS_URL: sim.wsUrl,
      WHATSAPP_NOISE_ROOT: sim.noiseRoot,
      WHATSAPP_CA_FILE: caFile,
    });
    await until(() => said().includes("/console/sign-in#"));
    const page = await browser.newPage({ locale: "en-GB" });
    page.setDefaultTimeout(60_000);

    await page.goto(/http\S+\/console\/sign-in#\S+/.exec(said())![0]);
    await press(page, "Sign in");
    await heading(page, "Welcome").waitFor();
    await page.getByLabel("Name").fill("Kopi Senja");
    await press(page, "Next");
    await press(page, "Next");
    await linkAndAnswer(page, sim);

    await page.context().close();
    expect(await sim.violations()).toEqual([]);
    await sim.stop();
  });
});
