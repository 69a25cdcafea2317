import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import {
  closeConsole,
  everywhere,
  faultsOf,
  openConsole,
  tooWide,
  type ConsoleWorld,
} from "../_setup/console-world.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { until } from "../_setup/world.ts";
import { HOSTILE, stored } from "./chats-traffic.ts";

const SHOP = "6281234567001";
const SECOND = "6281234567002";
const [ANA, EVE] = ["4915100000001", "4915100000002"] as const;

let world: ConsoleWorld;
beforeAll(async () => {
  world = await openConsole();
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(EVE, { name: HOSTILE.script });
});
afterAll(() => closeConsole(world));

const heading = (page: Page) => page.getByRole("heading", { level: 1, name: "Home" });
const waiting = (page: Page) => page.getByRole("link").filter({ hasText: "Are you open?" });

describe("the first screen", () => {
  it("says what needs somebody, for as long as it is true, and counts it in the title", async () => {
    const page = await world.open("/");
    await heading(page).waitFor();
    await page.getByText("Nothing needs you: every number works.").waitFor();
    expect(await page.title()).toBe("Home · Parley");

    await world.gateway.post("/devices", { device: SECOND }, world);
    await page.reload();
    const needs = page.getByRole("listitem").filter({ hasText: "Not linked to a phone yet" });
    await needs.waitFor();
    await expect.poll(() => page.title()).toBe("(1) Home · Parley");
    await needs.getByRole("link", { name: "See" }).click();
    await page.waitForURL(`**/numbers/${SECOND}`);

    await page.goBack();
    await world.gateway.delete(`/devices/${SECOND}`, world);
    await page.reload();
    await page.getByText("Nothing needs you: every number works.").waitFor();
    await expect.poll(() => page.title()).toBe("Home · Parley");
    await page.context().close();
  });

  it("is not gone to any more when somebody has gone elsewhere before it was found", async () => {
    const page = await world.open("/");
    await heading(page).waitFor();
    const go = async (name: string): Promise<void> => {
      await page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
      await page.getByRole("heading", { level: 1, name }).waitFor();
    };
    await go("API keys");
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route("**/devices", async (route) => {
      await held;
      await route.fallback();
    });
    const asked = page.waitForRequest("**/devices");
    await page.getByTitle("Go to the start").click();
    const first = await asked;

    await go("Account");
    answer();
    await (await first.response())!.finished();
    // What follows from the answer is done in two frames: its screen is here already.
    await page.evaluate(
      () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
    );
    expect(new URL(page.url()).pathname).toBe("/console/account");
    await page.context().close();
  });

  it("shows who waits and how the day goes as it happens, and leads there", async () => {
    const page = await world.open("/home");
    await page.getByText("Everyone has an answer").waitFor();
    const asked = await world.sim.sendText(ANA, SHOP, "Are you open?");
    await world.sim.sendText(EVE, SHOP, HOSTILE.turned);
    await waiting(page).waitFor();
    await page.getByRole("link").filter({ hasText: HOSTILE.script }).getByText("U+202E").waitFor();
    expect(await page.evaluate(() => "__hacked" in window)).toBe(false);
    await everywhere(page, async (name) => {
      expect(await tooWide(page), name).toBeLessThanOrEqual(0);
      expect(await faultsOf(page), name).toEqual([]);
    });

    await waiting(page).click();
    await page.getByRole("feed", { name: "Messages" }).getByText("Are you open?").waitFor();
    await page.goBack();
    await stored(world, asked.id);
    await world.gateway.post("/send-message", { sender: SHOP, number: ANA, message: "Yes." }, world);
    await waiting(page).waitFor({ state: "detached" });
    await page.context().close();
  });

  it("says that the webhook took no message, and leads to what can be posted again", async () => {
    const receiver = await startReceiver("OK");
    receiver.status = 404;
    await world.gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, world);
    const page = await world.open("/home");
    await world.sim.sendText(ANA, SHOP, "anybody?");
    const row = page.getByRole("listitem").filter({ hasText: "The webhook did not take messages" });
    await row.getByRole("link", { name: "See" }).click();
    await page.getByText("HTTP 404").waitFor();

    await page.getByRole("button", { name: /^Details of/ }).click();
    await page.getByRole("dialog").getByText("HTTP 404").waitFor();
    await page.reload();
    const inDialog = page.getByRole("dialog").getByText("HTTP 404");
    await inDialog.waitFor();
    expect(await inDialog.count()).toBe(1);
    await world.gateway.delete(`/devices/${SHOP}/webhook`, world);
    await page.context().close();
  });

  it("shows a key what it may see, and asks for nothing else", async () => {
    const key = { name: "Numbers", permissions: ["devices"] };
    const { body } = await world.gateway.post("/api-keys", key, world);
    const page = await world.open("/home", { key: body["api_key"] });
    const refused: string[] = [];
    page.on("response", (answer) => void (answer.status() === 403 && refused.push(answer.url())));
    await page.reload();
    await page.getByText("Nothing needs you: every number works.").waitFor();
    await page.getByRole("link").filter({ hasText: "+62 812 345 670 01" }).waitFor();
    expect(await page.getByText("Waiting for an answer").count()).toBe(0);
    expect(refused.filter((url) => !url.endsWith("/events"))).toEqual([]);
    await page.context().close();
  });
});

describe("a browser with many tabs", () => {
  it("has one line to the gateway for all of them, and another tab takes it over when that one is closed", async () => {
    const first = await world.open("/home");
    const context = first.context();
    await first.getByRole("status").filter({ hasText: "Live" }).waitFor();
    let lines = 0;
    context.on("request", (request) => void (request.url().endsWith("/events") && lines++));
    const others: Page[] = [];
    // A browser has six connections to a gateway without HTTP/2: lines of their own would use up all of them.
    for (let tab = 0; tab < 7; tab++) {
      const page = await context.newPage();
      await page.goto(`${world.gateway.url}/console/home`);
      await page.getByRole("status").filter({ hasText: "Live" }).waitFor();
      others.push(page);
    }
    expect(lines).toBe(0);

    await world.sim.sendText(ANA, SHOP, "Are you open?");
    for (const page of [first, ...others]) await waiting(page).waitFor();

    await first.close();
    await until(() => lines === 1);
    const all = await world.sim.sendText(EVE, SHOP, "and you?");
    await stored(world, all.id);
    for (const page of others) await page.getByText("and you?").waitFor();
    expect(lines).toBe(1);
    await context.close();
  });
});

describe("a lost connection", () => {
  it("is told on a phone as well, after a while, and until it is back", async () => {
    const page = await world.open("/home", { size: "phone" });
    await page.getByText("Waiting for an answer").waitFor();
    await page.context().setOffline(true);
    const banner = page.getByText(/^Not connected since \d\d:\d\d\./);
    await banner.waitFor();
    expect(await tooWide(page)).toBeLessThanOrEqual(0);
    expect(await faultsOf(page)).toEqual([]);
    await page.context().setOffline(false);
    await banner.waitFor({ state: "detached" });
    await page.context().close();
  });
});

describe("the keyboard alone", () => {
  it("goes to screens, numbers and chats by a few letters, also while one writes", async () => {
    const page = await world.open("/home");
    await heading(page).waitFor();
    await page.keyboard.press("Control+k");
    const dialog = page.getByRole("dialog", { name: "Go to …" });
    const box = dialog.getByRole("combobox");
    const chosen = dialog.locator('[role="option"][aria-selected="true"]');
    await expect.poll(() => box.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await faultsOf(page)).toEqual([]);
    await page.keyboard.type("deliv");
    await expect.poll(() => chosen.textContent()).toContain("Deliveries");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Deliveries" }).waitFor();

    await page.keyboard.press("Control+k");
    await page.keyboard.type("345 670");
    await expect.poll(() => chosen.textContent()).toContain("+62 812 345 670 01");
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/numbers/${SHOP}`);

    await page.keyboard.press("Control+k");
    // What strangers call themselves is shown as words here as well.
    await page.keyboard.type("onerror");
    await dialog.getByRole("option").filter({ hasText: HOSTILE.script }).waitFor();
    await box.fill("");
    await page.keyboard.type("ana");
    await dialog.getByRole("option").filter({ hasText: "+49 151 000 000 01" }).waitFor();
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.getByRole("feed", { name: "Messages" }).getByText("Are you open?").first().waitFor();
    await page.getByRole("textbox", { name: "Write a message" }).focus();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("zzz");
    await dialog.getByText("Nothing found").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.context().close();
  });

  it("goes from chat to chat, asks why, replies, takes over and copies", async () => {
    const page = await world.open("/chats");
    await page.getByRole("option").nth(1).waitFor();
    const names = await page.getByRole("option").allTextContents();
    const open = page.locator('[role="option"][aria-selected="true"]');
    const isOpen = async (nth: number) =>
      await expect.poll(async () => (await open.textContent())?.slice(0, 12)).toBe(names[nth]!.slice(0, 12));
    await page.keyboard.press("j");
    await isOpen(0);
    await page.getByRole("feed").getByRole("article").first().waitFor();
    await page.keyboard.press("j");
    await isOpen(1);
    await page.getByRole("feed").getByRole("article").first().waitFor();
    await page.keyboard.press("k");
    await isOpen(0);
    await page.getByRole("feed").getByRole("article").first().waitFor();

    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await page.keyboard.press("c");
    await expect.poll(copied).toContain(`/messages?sender=${SHOP}`);
    await page.keyboard.press("w");
    const why = page.getByRole("complementary", { name: "The way of this message" });
    await why.locator("[data-line]").waitFor();
    await page.keyboard.press("c");
    await expect.poll(copied).toContain("/trace");
    await page.keyboard.press("w");
    await why.waitFor({ state: "detached" });

    await page.keyboard.press("t");
    await page.getByRole("menuitem", { name: "For an hour" }).waitFor();
    await page.keyboard.type("For an");
    await page.keyboard.press("Enter");
    await page.getByText(/You answer/).waitFor();
    await page.getByRole("feed").focus();
    await page.keyboard.press("t");
    await page.getByText(/You answer/).waitFor({ state: "detached" });

    await page.getByRole("feed").focus();
    await page.keyboard.press("ArrowUp");
    await page.getByRole("article").and(page.locator(":focus")).waitFor();
    await page.keyboard.press("r");
    await page.getByRole("button", { name: "Do not quote" }).waitFor();
    await page.keyboard.type("jkw?");
    expect(await page.getByRole("textbox", { name: "Write a message" }).inputValue()).toBe("jkw?");
    await page.context().close();
  });
});

describe("single keys", () => {
  it("lead to screens and to the search, are listed, and can be switched off", async () => {
    const page = await world.open("/home");
    await heading(page).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("c");
    await page.getByRole("heading", { level: 1, name: "Conversations" }).waitFor();
    await page.keyboard.press("/");
    const search = page.getByRole("searchbox");
    await expect.poll(() => search.evaluate((box) => box === document.activeElement)).toBe(true);
    // While words are written, keys are letters.
    await page.keyboard.type("gh?");
    expect(await search.inputValue()).toBe("gh?");
    await search.blur();

    await page.keyboard.press("?");
    const list = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await list.getByText("Deliveries").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await list.getByRole("switch").click();
    await page.keyboard.press("Escape");
    await list.waitFor({ state: "detached" });
    await page.keyboard.press("g");
    await page.keyboard.press("h");
    await page.keyboard.press("?");
    expect(await list.count()).toBe(0);
    expect(new URL(page.url()).pathname).toBe("/console/chats");

    await page.getByRole("button", { name: "Account and settings" }).click();
    await page.getByRole("menuitem", { name: "Keyboard shortcuts" }).click();
    await list.getByRole("switch").click();
    await page.keyboard.press("Escape");
    await list.waitFor({ state: "detached" });
    await page.keyboard.press("g");
    await page.keyboard.press("h");
    await heading(page).waitFor();
    await page.context().close();
  });
});
