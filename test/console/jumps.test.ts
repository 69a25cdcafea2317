import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closeConsole, openConsole, type ConsoleWorld } from "../_setup/console-world.ts";
import { stored } from "./chats-traffic.ts";

const SHOP = "6281234567001";
const WRITER = "447700900555";
const DAY_S = 86_400;
/** More than the page reads at once. */
const LINES = 140;

let world: ConsoleWorld;
let old: string;
let quoting: string;
beforeAll(async () => {
  world = await openConsole();
  await world.link(SHOP);
  await world.sim.addContact(WRITER, { name: "Talkative" });
  const timestamp = Math.floor(Date.now() / 1_000) - 9 * DAY_S;
  old = (await world.sim.sendText(WRITER, SHOP, "nine days ago", { timestamp })).id;
  for (let n = 1; n <= LINES; n++) await world.sim.sendText(WRITER, SHOP, `line ${n}`);
  const quoted = { id: old, participant: WRITER, text: "nine days ago" };
  quoting = (await world.sim.sendText(WRITER, SHOP, "as I wrote", { quoted })).id;
  await stored(world, quoting);
});
afterAll(() => closeConsole(world));

const message = (page: Page, id: string) => page.locator(`[data-message="${id}"]`);
async function open(): Promise<Page> {
  const page = await world.open(`/chats/${SHOP}/${WRITER}`);
  await message(page, quoting).waitFor();
  expect(await message(page, old).count()).toBe(0);
  return page;
}

describe("a message that is pages away", () => {
  it("is led to by its quote, and the newest by a key", async () => {
    const page = await open();
    await message(page, quoting)
      .getByRole("button", { name: /nine days ago/ })
      .click();
    await message(page, old).waitFor();
    await message(page, quoting).waitFor({ state: "detached" });
    expect(await message(page, old).count()).toBe(1);
    await page.getByRole("feed").press("End");
    await message(page, quoting).waitFor();
    await page.context().close();
  });

  it("stays where it is when the rest up to the newest comes after it", async () => {
    const page = await open();
    // One message alone is its own end: the browser has told the list so by its second frame.
    await page.route(/\/messages\?.*since=/, async (route) => {
      await message(page, quoting).waitFor({ state: "detached" });
      await page.evaluate(
        () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
      );
      await route.continue();
    });
    await message(page, quoting)
      .getByRole("button", { name: /nine days ago/ })
      .click();
    await page.locator(`[role=article]:not([aria-setsize="-1"])`).first().waitFor();
    expect(await message(page, old).count()).toBe(1);
    await page.context().close();
  });
});

describe("a jump to the day of today", () => {
  it("ends at the end, where one is led on by what comes", async () => {
    const friend = "447700900556";
    await world.sim.addContact(friend, { name: "Brief" });
    const first = (await world.sim.sendText(friend, SHOP, "good morning")).id;
    await stored(world, first);
    const page = await world.open(`/chats/${SHOP}/${friend}`);
    await message(page, first).waitFor();
    await page.getByRole("button", { name: "Jump to a date" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Date").fill(await page.evaluate(() => new Date().toLocaleDateString("sv")));
    const newer = page.waitForResponse(/\/messages\?.*since=/);
    await dialog.getByRole("button", { name: "Go" }).click();
    await newer;
    await dialog.waitFor({ state: "detached" });
    for (let n = 1; n < LINES / 4; n++) await world.sim.sendText(friend, SHOP, `line ${n}`);
    const last = (await world.sim.sendText(friend, SHOP, "the last line")).id;
    await message(page, last).waitFor();
    await page.waitForFunction((id) => {
      const feed = document.querySelector("[role=feed]")!.getBoundingClientRect();
      const line = document.querySelector(`[data-message="${id}"]`)?.getBoundingClientRect();
      return line !== undefined && line.top > feed.top && line.bottom <= feed.bottom + 1;
    }, last);
    expect(await page.getByRole("button", { name: /new message|Newest/ }).count()).toBe(0);
    await page.context().close();
  });
});
