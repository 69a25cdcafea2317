import type { Page, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closeConsole, openConsole, scanned, type ConsoleWorld } from "../_setup/console-world.ts";
import { until } from "../_setup/world.ts";
import { stored } from "./chats-traffic.ts";

const SHOP = "6281234567001";
const ANA = "6281298765432";
/** Two browsers, and a person's steps in each, on a machine that does much else. */
const PATIENT_MS = 240_000;
const withAna = `/chats/${SHOP}/${ANA}`;

let world: ConsoleWorld;
beforeAll(async () => {
  world = await openConsole();
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await stored(world, (await world.sim.sendText(ANA, SHOP, "the first")).id);
});
afterAll(() => closeConsole(world));

const message = (page: Page, id: string) => page.locator(`[data-message="${id}"]`);
const box = (page: Page) => page.getByRole("textbox", { name: "Write a message" });
/** What is asked for in this moment may not be answered any more. */
async function close(page: Page): Promise<void> {
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.context().close();
}

/** @returns its id, once it has arrived at the contact */
async function send(text: string): Promise<string> {
  const body = { sender: SHOP, number: ANA, message: text };
  const { status } = await world.gateway.post("/send-message", body, { key: world.key });
  expect(status).toBe(200);
  return (await world.sim.waitForMessage(ANA, { text })).id;
}

/** Address of the number's webhook. */
const urlOf = async (): Promise<string> =>
  (await world.gateway.get(`/devices/${SHOP}/webhook`, { key: world.key })).body["data"].url;

/** The gateway says so: its state, and all that was told of it. */
async function becomes(id: string, state: string): Promise<void> {
  await until(async () => {
    const { body } = await world.gateway.get(`/messages/${id}`, { key: world.key });
    return body["data"]?.state === state;
  });
}

/** Answers of the conversation are made, and kept on their way. @returns lets them go */
async function heldAnswers(page: Page) {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  const held = { count: 0 };
  const hold = async (route: Route): Promise<void> => {
    const response = await route.fetch();
    held.count++;
    await opened;
    await route.fulfill({ response });
  };
  await page.route(/\/messages\?/, hold);
  return {
    held,
    letGo: () => open(),
  };
}

describe("what is on the screen", () => {
  it(
    "stands where it left, though it was asked for earlier",
    async () => {
      const page = await world.open(withAna);
      const send_at = new Date(Date.now() + 12_000).toISOString();
      const asked = { sender: SHOP, number: ANA, message: "at its time", send_at };
      const later = (await world.gateway.post("/send-message", asked, { key: world.key })).body["id"];
      await message(page, later).locator('[data-state="scheduled"]').waitFor();
      const { id: between } = await world.sim.sendText(ANA, SHOP, "in between");
      const order = () =>
        page
          .locator("[data-message]")
          .evaluateAll((all: HTMLElement[]) => all.map(({ dataset }) => dataset["message"]));
      await message(page, between).waitFor();
      await becomes(later, "delivered");
      await until(async () => (await order()).at(-1) === later);
      await message(page, later).locator('[data-state="delivered"]').waitFor();
      expect((await order()).slice(-2)).toEqual([between, later]);
      await close(page);
    },
    PATIENT_MS,
  );

  it(
    "stays as new as it was, when an answer that was asked for earlier comes later",
    async () => {
      const id = await send("who overtakes whom");
      await becomes(id, "delivered");
      const page = await world.open(withAna);
      await message(page, id).locator('[data-state="delivered"]').waitFor();
      const { held, letGo } = await heldAnswers(page);
      const next = await world.sim.sendText(ANA, SHOP, "makes it ask");
      await until(() => held.count > 0);

      await world.sim.markRead(ANA, id);
      await message(page, id).locator('[data-state="read"]').waitFor();
      letGo();
      await message(page, next.id).waitFor();
      expect(await message(page, id).locator("[data-state]").getAttribute("data-state")).toBe("read");
      await close(page);
    },
    PATIENT_MS,
  );

  it(
    "has what happened while its first answer was on the way",
    async () => {
      const id = await send("read before it is seen");
      await becomes(id, "delivered");
      const page = await world.open("/chats");
      await page.getByRole("option", { name: /read before it is seen/ }).waitFor();
      const { held, letGo } = await heldAnswers(page);
      await page.getByRole("option").first().click();
      await until(() => held.count > 0);
      const told = page.waitForResponse(/\/chats\?/);
      await world.sim.markRead(ANA, id);
      await becomes(id, "read");
      await told;

      letGo();
      const tick = message(page, id).locator('[data-state="read"]');
      await tick.waitFor();
      expect(await tick.count()).toBe(1);
      await close(page);
    },
    PATIENT_MS,
  );
});

describe("two people", () => {
  it(
    "see what the other takes over and writes, each message once",
    async () => {
      const [one, other] = [await world.open(withAna), await world.open(withAna)];
      await Promise.all([box(one).waitFor(), box(other).waitFor()]);
      await one.getByRole("button", { name: "Take over" }).click();
      await one.getByRole("menuitem", { name: "For an hour" }).click();
      await other.getByText(/You answer/).waitFor();
      await box(one).fill("from one");
      await box(other).fill("from the other");
      await Promise.all([box(one).press("Enter"), box(other).press("Enter")]);
      const ids = [
        await world.sim.waitForMessage(ANA, { text: "from one" }),
        await world.sim.waitForMessage(ANA, { text: "from the other" }),
      ].map(({ id }) => id);
      for (const page of [one, other]) {
        for (const id of ids) await message(page, id).waitFor();
        await until(async () => (await page.locator("[data-outgoing]").count()) === 0);
        expect(await page.getByText("from one", { exact: true }).count()).toBeGreaterThan(0);
        for (const id of ids) expect(await message(page, id).count()).toBe(1);
      }
      await other.getByRole("button", { name: "Hand back" }).click();
      await one.getByRole("button", { name: "Take over" }).waitFor();
      await Promise.all([close(one), close(other)]);
    },
    PATIENT_MS,
  );

  it(
    "do not undo each other's settings unawares",
    async () => {
      const path = `/webhooks/${SHOP}`;
      const set = { url: "https://example.com/first" };
      await world.gateway.put(`/devices/${SHOP}/webhook`, set, { key: world.key });
      const [one, other] = [await world.open(path), await world.open(path)];
      const address = (page: Page) => page.getByLabel("Address", { exact: true });
      const save = (page: Page) => page.getByRole("button", { name: "Save", exact: true });
      await Promise.all([address(one).waitFor(), address(other).waitFor()]);
      await address(one).fill("https://example.com/by-one");
      await address(other).fill("https://example.com/by-the-other");
      await save(one).click();
      await until(async () => (await urlOf()) === "https://example.com/by-one");

      // It looks every now and then, and once more before it saves.
      await other.getByText("Someone else has changed this in the meantime").waitFor({ timeout: 90_000 });
      expect(await urlOf()).toBe("https://example.com/by-one");
      await other.getByRole("button", { name: "Show theirs" }).click();
      await until(async () => (await address(other).inputValue()) === "https://example.com/by-one");
      await address(other).fill("https://example.com/by-both");
      await save(other).click();
      await until(async () => (await urlOf()) === "https://example.com/by-both");
      await Promise.all([close(one), close(other)]);
    },
    PATIENT_MS,
  );
});

/** Tab, until what has the focus is such an element with such a name: `BUTTON Save`. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const focused = (): Promise<string> =>
    page.evaluate(() => {
      const element = document.activeElement as HTMLInputElement | null;
      const name = element?.ariaLabel ?? element?.labels?.[0]?.textContent ?? element?.textContent ?? "";
      return `${element?.tagName} ${name.trim()}`;
    });
  for (let presses = 0; presses < 80; presses++) {
    if (name.test(await focused())) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not come to ${name}`);
}

describe("somebody without a mouse", () => {
  it(
    "signs in, opens a chat, writes, takes it over and hands it back",
    async () => {
      const page = await world.open("/sign-in", { key: null });
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      await tabTo(page, /^INPUT API key/);
      await page.keyboard.type(world.key);
      await page.keyboard.press("Enter");
      await page.getByRole("link", { name: "Conversations" }).first().waitFor();
      await tabTo(page, /^A Conversations$/);
      await page.keyboard.press("Enter");
      await page.getByRole("option").first().waitFor();
      await tabTo(page, /^DIV Chats, newest/);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await box(page).waitFor();
      await until(() => box(page).evaluate((element) => element === document.activeElement));
      await page.keyboard.type("by keys alone");
      await page.keyboard.press("Enter");
      await world.sim.waitForMessage(ANA, { text: "by keys alone" });

      await tabTo(page, /^BUTTON Take over$/);
      await page.keyboard.press("Enter");
      await page.getByRole("menuitem").first().waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.getByText(/You answer/).waitFor();
      await tabTo(page, /^BUTTON Hand back$/);
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Take over" }).waitFor();
      const { body } = await world.gateway.get(`/chats?chat=${ANA}`, { key: world.key });
      expect(body["data"][0].taken_over_until).toBeNull();
      await close(page);
    },
    PATIENT_MS,
  );

  it(
    "sets a webhook, makes a key and links a number",
    async () => {
      const page = await world.open(`/webhooks/${SHOP}`);
      await page.getByLabel("Address", { exact: true }).waitFor();
      await tabTo(page, /^INPUT Address/);
      await page.keyboard.press("Control+A");
      await page.keyboard.type("https://example.com/by-keys");
      await page.keyboard.press("Enter");
      await until(async () => (await urlOf()) === "https://example.com/by-keys");

      await page.goto(`${world.gateway.url}/console/keys`);
      await page.getByRole("button", { name: "New key" }).first().waitFor();
      await tabTo(page, /^BUTTON New key$/);
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor();
      await tabTo(page, /^INPUT Name/);
      await page.keyboard.type("By keys");
      await page.keyboard.press("Enter");
      await page.getByRole("dialog", { name: "The key By keys" }).waitFor();

      const owner = await world.sim.addNumber("6281234567009");
      await page.goto(`${world.gateway.url}/console/numbers/new`);
      await page.getByLabel("Your WhatsApp number").waitFor();
      await tabTo(page, /^INPUT Your WhatsApp number/);
      await page.keyboard.type("6281234567009");
      await page.keyboard.press("Enter");
      const image = page.getByRole("img", { name: "QR code to scan with WhatsApp" });
      await until(async () => {
        await image.waitFor();
        const qr = await scanned(image);
        if (qr === null) return false;
        await owner.scan(qr);
        return true;
      });
      await page.getByRole("heading", { name: "Linked" }).waitFor();
      const { body } = await world.gateway.get("/devices/6281234567009", { key: world.key });
      expect(body["data"].state).toBe("connected");
      await close(page);
    },
    PATIENT_MS,
  );
});

describe("a connection that is lost", () => {
  it(
    "is said so, and what came meanwhile is shown once it is back",
    async () => {
      const id = await send("read while nobody is told");
      await becomes(id, "delivered");
      const page = await world.open(withAna);
      await message(page, id).waitFor();
      const mark = page.getByRole("status").filter({ hasText: "Live" });
      await mark.waitFor();
      await page.context().setOffline(true);
      await page.getByRole("status").filter({ hasText: "Connection lost" }).waitFor();
      const meanwhile = await world.sim.sendText(ANA, SHOP, "while you were away");
      await stored(world, meanwhile.id);
      await world.sim.markRead(ANA, id);
      await becomes(id, "read");
      expect(await message(page, meanwhile.id).count()).toBe(0);

      await page.context().setOffline(false);
      await mark.waitFor();
      await message(page, meanwhile.id).waitFor();
      await message(page, id).locator('[data-state="read"]').waitFor();
      expect(await message(page, meanwhile.id).count()).toBe(1);
      await close(page);
    },
    PATIENT_MS,
  );

  it(
    "comes back with a gateway that was killed",
    async () => {
      const page = await world.open(withAna);
      const mark = page.getByRole("status").filter({ hasText: "Live" });
      await mark.waitFor();
      await box(page).fill("half a sentence");
      await world.gateway.kill();
      await page.getByRole("status").filter({ hasText: "Connection lost" }).waitFor();
      const meanwhile = await world.sim.sendText(ANA, SHOP, "while it was dead");
      await world.gateway.restart();
      await mark.waitFor();
      await message(page, meanwhile.id).waitFor();
      expect(await message(page, meanwhile.id).count()).toBe(1);
      expect(await box(page).inputValue()).toBe("half a sentence");
      await close(page);
    },
    PATIENT_MS,
  );
});
