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

const SHOP = "31600000001";

let world: ConsoleWorld;
beforeAll(async () => {
  world = await openConsole();
  await world.link(SHOP);
});
afterAll(() => closeConsole(world));

/** A page of a key with these rights, and what the gateway refused it. */
async function openWith(
  permissions: string[],
  limits: { devices?: string[]; recipients?: string[] } = {},
): Promise<{ page: Page; refused: string[]; go(path: string): Promise<void> }> {
  const { body } = await world.gateway.post("/api-keys", { name: "Some", permissions, ...limits }, world);
  const page = await world.open("/", { key: body["api_key"] });
  const refused: string[] = [];
  page.on("response", (answer) => void (answer.status() === 403 && refused.push(answer.url())));
  return {
    page,
    refused,
    async go(path) {
      await page.goto(`${world.gateway.url}/console${path}`);
      await page.locator("h1").first().waitFor();
      await expect.poll(() => page.locator(".skeleton").count()).toBe(0);
    },
  };
}
const adds = (page: Page) => page.getByRole("link", { name: /Add a number/ });
const makesLinks = (page: Page) => page.getByRole("button", { name: "Make a link" });

it("a key that may see numbers is offered no link and no new number", async () => {
  const { page, refused, go } = await openWith(["devices"]);
  for (const path of ["/home", "/numbers", "/numbers/links", `/numbers/${SHOP}`]) {
    await go(path);
    expect(await adds(page).count(), path).toBe(0);
    expect(await makesLinks(page).count(), path).toBe(0);
  }
  for (const path of ["/numbers/new", "/welcome"]) {
    await go(path);
    expect(new URL(page.url()).pathname, path).not.toBe(`/console${path}`);
  }
  expect(refused).toEqual([]);
  await page.context().close();
});

it("a key for one number links no other one, and makes a link for its own", async () => {
  const { page, refused, go } = await openWith(["devices", "qr", "webhooks", "keys"], { devices: [SHOP] });
  for (const path of ["/home", "/numbers"]) {
    await go(path);
    expect(await adds(page).count(), path).toBe(0);
  }
  await go("/account");
  await page.getByRole("meter", { name: "Numbers" }).waitFor();
  expect(await page.getByText("Changes", { exact: true }).count()).toBe(0);
  await go(`/numbers/${SHOP}`);
  await makesLinks(page).click();
  await page.getByRole("dialog").getByRole("button", { name: "Make a link" }).click();
  await page
    .getByRole("dialog")
    .getByText(/\/console\/link#/)
    .waitFor();
  expect(refused).toEqual([]);
  await page.context().close();
});

it("a key for some recipients is shown no changes of the account", async () => {
  const rights = ["devices", "messages", "keys"];
  const { page, refused, go } = await openWith(rights, { recipients: ["49151*"] });
  for (const path of ["/home", "/numbers", "/chats"]) await go(path);
  await go("/account");
  await page.getByRole("meter", { name: "Numbers" }).waitFor();
  expect(await page.getByText("Changes", { exact: true }).count()).toBe(0);
  expect(refused).toEqual([]);
  await page.context().close();
});

it("a key that may not list numbers names the one that it works with", async () => {
  const { page, refused, go } = await openWith(["webhooks"]);
  await go("/webhooks");
  expect(await page.getByText("No number yet").count()).toBe(0);
  await page.getByLabel("Number", { exact: true }).fill("+31 6 0000 0001");
  await everywhere(page, async (name) => {
    expect(await tooWide(page), name).toBeLessThanOrEqual(0);
    expect(await faultsOf(page), name).toEqual([]);
  });
  await page.getByRole("button", { name: "Open" }).click();
  await page.waitForURL(`**/webhooks/${SHOP}`);
  await page.getByLabel("Address").fill("https://example.com/hook");
  await page.getByRole("button", { name: "Set webhook" }).click();
  await page.getByText(/^whsec_/).waitFor();
  expect(refused).toEqual([]);
  await page.context().close();
});
