import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  closeConsole,
  everywhere,
  faultsOf,
  openConsole,
  tooWide,
  type ConsoleWorld,
} from "../_setup/console-world.ts";
import { until } from "../_setup/world.ts";

const SHOP = "6281234567101";
/** Where pictures of every screen go; unset: none are made. */
const { CONSOLE_PICTURES } = process.env;

let world: ConsoleWorld;
beforeAll(async () => {
  world = await openConsole();
  await world.link(SHOP);
  const members = await world.sim.addContacts(2, { prefix: "49151" });
  await world.sim.addGroup({ subject: "Friends of <b>bread</b>", members: [SHOP, ...members] });
});
afterAll(() => closeConsole(world));

/** What is wider than its window, and serious findings, at three widths in both themes. */
async function faults(page: Page, name: string): Promise<string[]> {
  const wide: string[] = [];
  await everywhere(page, async (where) => {
    if ((await tooWide(page)) > 0) wide.push(`${where} is too wide`);
    if (CONSOLE_PICTURES === undefined) return;
    mkdirSync(CONSOLE_PICTURES, { recursive: true });
    await page.screenshot({ path: join(CONSOLE_PICTURES, `${name}-${where}.png`), fullPage: true });
  });
  return [...wide, ...(await faultsOf(page))];
}

const statusOf = async (key: string): Promise<number> =>
  (await world.gateway.get("/messages", { key })).status;

describe("keys", () => {
  it("are made with what is ticked, shown once, changed and deleted", async () => {
    const page = await world.open("/keys");
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name").fill("Till <script>");
    expect(await faults(page, "new-key")).toEqual([]);
    await page.getByRole("button", { name: "Make the key" }).click();

    const dialog = page.getByRole("dialog", { name: "The key Till <script>" });
    const secret = (await dialog.locator("code").first().textContent())!.trim();
    expect(await statusOf(secret)).toBe(200);
    expect((await world.gateway.get("/devices", { key: secret })).body.errors.permission).toBe("devices");
    await dialog.getByRole("button", { name: "I have stored it" }).click();
    expect(await page.content()).not.toContain(secret);
    expect(await faults(page, "keys")).toEqual([]);

    await page.getByRole("button", { name: "Actions for Till <script>" }).click();
    await page.getByRole("menuitem", { name: "New secret" }).click();
    await page.getByRole("button", { name: "New secret" }).click();
    const again = page.getByRole("dialog", { name: "The key Till <script>" });
    const other = (await again.locator("code").first().textContent())!.trim();
    expect([await statusOf(secret), await statusOf(other)]).toEqual([401, 200]);
    await again.getByRole("button", { name: "I have stored it" }).click();

    await page.getByRole("button", { name: "Actions for Till <script>" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await until(async () => (await statusOf(other)) === 401);
    await page.context().close();
  });
});

describe("what a number is in", () => {
  it("shows its groups, asks WhatsApp again, and keeps a stranger's words from being anything else", async () => {
    const page = await world.open(`/groups/${SHOP}`);
    await page.getByText("Friends of <b>bread</b>").waitFor();
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByText(/Asked WhatsApp again|WhatsApp was asked a moment ago/).waitFor();
    expect(await faults(page, "groups")).toEqual([]);
    await page.context().close();
  });

  it("refuses what is no channel, in words", async () => {
    const page = await world.open(`/channels/${SHOP}`);
    await page.getByText("No channels yet").waitFor();
    await page.getByLabel("Invite link or id").fill("nonsense");
    await page.getByRole("button", { name: "Add" }).click();
    await page
      .getByRole("alert")
      .getByText(/channel/i)
      .waitFor();
    expect(await faults(page, "channels")).toEqual([]);
    await page.context().close();
  });
});

describe("what an account sees of itself", () => {
  it("is how much of its plan is used, and what was changed by whom", async () => {
    const page = await world.open("/account");
    await page.getByText("Use of the plan").waitFor();
    await page.getByRole("meter", { name: "Numbers" }).waitFor();
    await page.getByText("Changes", { exact: true }).waitFor();
    expect(await faults(page, "account")).toEqual([]);
    await page.context().close();
  });

  it("is its traffic, as the gateway counts it", async () => {
    const [person] = await world.sim.addContacts(1, { prefix: "49152" });
    await world.sim.sendText(person!, SHOP, "hello");
    const page = await world.open("/traffic");
    const received = page.getByRole("listitem").filter({ hasText: "Received" });
    await until(async () => {
      await page.reload();
      await received.waitFor();
      return /[1-9]/.test((await received.textContent())!);
    });
    await page.getByRole("listitem").filter({ hasText: "Answered by bots" }).waitFor();
    expect(await faults(page, "traffic")).toEqual([]);
    await page.context().close();
  });
});

describe("the operator", () => {
  it("sees how the gateway does, all numbers, all accounts and every change", async () => {
    const page = await world.open("/operator", { operator: true });
    await page.getByRole("heading", { name: "Waiting" }).waitFor();
    await page.getByText("Last backup").waitFor();
    expect(await faults(page, "operator")).toEqual([]);

    await page.goto(`${world.gateway.url}/console/operator/numbers`);
    await page.getByRole("row").filter({ hasText: "+62 812" }).getByText("Connected").waitFor();
    await page.getByLabel("Search by digits or account").fill("999999");
    await page.getByText("No number matches").waitFor();
    expect(await faults(page, "operator-numbers")).toEqual([]);

    await page.goto(`${world.gateway.url}/console/operator/accounts`);
    await page.getByRole("button", { name: "Open" }).first().waitFor();
    expect(await faults(page, "operator-accounts")).toEqual([]);

    await page.goto(`${world.gateway.url}/console/operator/log`);
    await page.getByText("Made an account").first().waitFor();
    expect(await faults(page, "operator-log")).toEqual([]);
    await page.context().close();
  });

  it("makes an account, changes its plan, stops it, and deletes it with everything that it has", async () => {
    const page = await world.open("/operator/accounts", { operator: true });
    await page.getByRole("button", { name: "New account" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Bakery");
    await dialog.getByRole("button", { name: "New account" }).click();
    await dialog.getByText("This is its first key").waitFor();
    const key = (await dialog.locator("code").textContent())!.trim();
    expect((await world.gateway.get("/account", { key })).body["data"]).toMatchObject({ name: "Bakery" });
    await dialog.getByRole("button", { name: "Close" }).last().click();

    const row = page.getByRole("listitem").filter({ hasText: "Bakery" });
    const choose = async (action: string): Promise<void> => {
      await row.getByRole("button", { name: "Actions for Bakery" }).click();
      await page.getByRole("menuitem", { name: action, exact: true }).click();
    };
    await choose("Plan: pro");
    await row.getByText("pro", { exact: true }).waitFor();
    await choose("Disable");
    await row.getByText("Disabled").waitFor();
    expect((await world.gateway.get("/account", { key })).status).not.toBe(200);
    await choose("Enable");
    await row.getByText("Disabled").waitFor({ state: "detached" });
    expect((await world.gateway.get("/account", { key })).body["data"]).toMatchObject({ plan: "pro" });

    await choose("Delete");
    const confirm = page.getByRole("dialog");
    expect(await confirm.getByRole("button", { name: "Delete" }).isDisabled()).toBe(true);
    await confirm.getByRole("textbox").fill("Bakery");
    await confirm.getByRole("button", { name: "Delete" }).click();
    // While the dialog is open, nothing behind it has a role.
    await confirm.waitFor({ state: "detached" });
    await row.waitFor({ state: "detached" });
    await expect.poll(async () => (await world.gateway.get("/account", { key })).status).toBe(401);
    await page.context().close();
  });
});
