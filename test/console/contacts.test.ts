import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  closeConsole,
  everywhere,
  faultsOf,
  openConsole,
  tooWide,
  type ConsoleWorld,
} from "../_setup/console-world.ts";
import { until } from "../_setup/world.ts";
import { stored } from "./chats-traffic.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const SMITH = "4915100000002";

let world: ConsoleWorld;
beforeAll(async () => {
  world = await openConsole();
  const { sim } = world;
  await world.link(SHOP);
  await sim.addContact(ANA, { name: "Ana <b>María</b>" });
  await sim.addContact(SMITH, { name: "Smith" });
  await sim.setAbout(ANA, "At the beach");
  await sim.setBusiness(SMITH, { name: "Smith & Sons", description: "We mend locks." });
  for (const from of [ANA, SMITH]) await stored(world, (await sim.sendText(from, SHOP, "Hello")).id);
});
afterAll(() => closeConsole(world));

const close = (page: Page) => page.context().close();

it("lists whom a number has met, finds them, and shows what WhatsApp says of them", async () => {
  const page = await world.open(`/contacts/${SHOP}`);
  const row = (name: RegExp) => page.getByRole("row", { name });
  await row(/Ana/).waitFor();
  await row(/Smith.*Business/).waitFor();
  expect(await row(/Ana/).textContent()).not.toContain("false");
  await everywhere(page, async (where) => {
    expect(await faultsOf(page), where).toEqual([]);
    expect(await tooWide(page), where).toBeLessThanOrEqual(0);
  });
  await page.getByRole("searchbox", { name: "Search name or number" }).fill("smi");
  await row(/Ana/).waitFor({ state: "detached" });
  await row(/Smith/).getByRole("link").click();
  await page.getByText("We mend locks.").waitFor();
  await page.goBack();
  await row(/Ana/).getByRole("link").click();
  await page.getByRole("heading", { name: "Ana <b>María</b>" }).waitFor();
  await page.getByText("At the beach").waitFor();
  await everywhere(page, async (where) => {
    expect(await faultsOf(page), where).toEqual([]);
    expect(await tooWide(page), where).toBeLessThanOrEqual(0);
  });
  await page.getByRole("link", { name: "Open chat" }).click();
  await page.getByRole("feed").getByText("Hello").waitFor();
  await page.getByRole("heading", { name: /Ana/ }).getByRole("link").click();
  await page.getByText("At the beach").waitFor();
  await close(page);
});

it("blocks somebody on the phone, too, and lets them in again", async () => {
  const page = await world.open(`/contacts/${SHOP}/${ANA}`);
  const choose = async (what: string): Promise<void> => {
    await page.getByRole("button", { name: "Actions of this contact" }).click();
    await page.getByRole("menuitem", { name: what, exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: what, exact: true }).click();
    await page.getByText("WhatsApp took the change").first().waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  };
  await choose("Block");
  const lost = await world.sim.sendText(ANA, SHOP, "Can you hear me?");
  await choose("Unblock");
  const { id } = await world.sim.sendText(ANA, SHOP, "And now?");
  await stored(world, id);
  const seen = await world.gateway.get(`/messages/${lost.id}`, { key: world.key });
  expect(seen.status).toBe(404);
  await until(async () => (await world.gateway.get(`/messages/${id}`, { key: world.key })).status === 200);
  await close(page);
});

it("says what one can do about a refusal", async () => {
  const page = await world.open(`/contacts/${SHOP}/4915100000099`);
  const refusal = page.getByRole("alert");
  await refusal.getByText("It may have been removed in the meantime. Go back and look again.").waitFor();
  await refusal.waitFor();
  expect(await refusal.textContent()).toMatch(/request.*req_|req_|Request/i);
  await close(page);
});
