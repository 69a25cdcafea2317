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

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";
const SHY = "4915100000003";

let world: ConsoleWorld;
beforeAll(async () => {
  world = await openConsole();
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben" });
  await world.sim.addContact(SHY, { name: "Shy", refusesGroups: true });
});
afterAll(() => closeConsole(world));

const close = (page: Page) => page.context().close();
const member = (page: Page, digits: string) =>
  page.locator("li").filter({ hasText: new RegExp([...digits].join("\\s?")) });

async function actOn(page: Page, digits: string, what: string): Promise<void> {
  await member(page, digits).getByRole("button", { name: "Actions of this member" }).click();
  await page.getByRole("menuitem", { name: what, exact: true }).click();
}

describe("groups", () => {
  it("are made, changed and left, as their members see it", async () => {
    const { sim } = world;
    const page = await world.open(`/groups/${SHOP}`);
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "New group" }).click();
    await dialog.getByLabel("Name").fill("Regulars");
    await dialog.getByLabel("Numbers").fill(`+49 151 0000 0001\n${SHY}`);
    expect(await faultsOf(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Create group" }).click();
    await page.getByRole("heading", { name: "Regulars" }).waitFor();
    await page.getByText(`Not added: ${SHY}`).waitFor();
    const id = decodeURIComponent(new URL(page.url()).pathname.split("/").at(-1)!);
    await member(page, ANA).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    expect(await tooWide(page)).toBeLessThanOrEqual(0);

    await page.getByRole("button", { name: "Add members" }).click();
    await dialog.getByLabel("Numbers").fill(`${BEN}, ${ANA}`);
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await dialog.getByText("already a member").waitFor();
    expect(await dialog.getByLabel("Numbers").inputValue()).toBe(ANA);
    await page.keyboard.press("Escape");
    await member(page, BEN).waitFor();
    await actOn(page, BEN, "Make admin");
    await member(page, BEN).getByText("Admin", { exact: true }).waitFor();
    await actOn(page, ANA, "Remove from group");
    await dialog.getByRole("button", { name: "Remove", exact: true }).click();
    await member(page, ANA).waitFor({ state: "detached" });
    const { members } = await sim.group(id);
    expect(members.map(({ number }) => number).toSorted()).toEqual([SHOP, BEN].toSorted());
    expect(members.find(({ number }) => number === BEN)?.role).toBe("admin");

    await page.getByRole("textbox", { name: "Description" }).fill("For those who come often");
    await page.getByLabel("Disappearing messages").selectOption({ label: "After a week" });
    await page.getByRole("switch", { name: "Only admins write" }).click();
    await page.getByRole("switch", { name: "Admins decide who joins" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved").waitFor();
    const seen = await sim.group(id);
    expect(seen).toMatchObject({ description: "For those who come often", announce: true });
    await page.getByText("Nobody waits").waitFor();

    const link = await page.getByText(/^https:\/\/chat\.whatsapp\.com\//).textContent();
    expect(link).toBe(seen.inviteLink);
    await page.getByRole("button", { name: "New link" }).click();
    await dialog.getByRole("button", { name: "New link" }).click();
    await until(async () => (await sim.group(id)).inviteLink !== link);
    await page.getByText((await sim.group(id)).inviteLink!).waitFor();

    await page.getByRole("button", { name: "Actions of this group" }).click();
    await page.getByRole("menuitem", { name: "Leave group" }).click();
    await dialog.getByRole("button", { name: "Leave group" }).click();
    await page.getByRole("heading", { name: "Groups" }).waitFor();
    expect((await sim.group(id)).members.map(({ number }) => number)).toEqual([BEN]);
    await close(page);
  });

  it("are joined by a link, and who asks to join is let in", async () => {
    const { sim } = world;
    const { id } = await sim.addGroup({ subject: "Open", creator: ANA, members: [ANA] });
    const page = await world.open(`/groups/${SHOP}`);
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Join group" }).click();
    await dialog.getByLabel("Invite link").fill("no link");
    await dialog.getByRole("button", { name: "Join group" }).click();
    await dialog.getByText(/Must be an invite link/).waitFor();
    await dialog.getByLabel("Invite link").fill((await sim.group(id)).inviteLink!);
    await dialog.getByRole("button", { name: "Join group" }).click();
    await page.getByRole("heading", { name: "Open" }).waitFor();
    // A member looks: it changes nothing that is the admins'.
    expect(await page.getByRole("button", { name: "Add members" }).count()).toBe(0);
    expect(await page.getByRole("switch").count()).toBe(0);
    await close(page);
  });

  it("look well on every screen", async () => {
    const { id } = await world.sim.addGroup({
      subject: "Neighbours",
      creator: SHOP,
      members: [SHOP, ANA, BEN],
    });
    const page = await world.open(`/groups/${SHOP}/${encodeURIComponent(id)}`);
    await page.getByText(/^https:\/\/chat\.whatsapp\.com\//).waitFor();
    await everywhere(page, async (where) => {
      expect(await faultsOf(page), where).toEqual([]);
      expect(await tooWide(page), where).toBeLessThanOrEqual(0);
    });
    await close(page);
  });
});

describe("a text for a group", () => {
  it("mentions members who are found by their number, or everybody", async () => {
    const { sim } = world;
    const { id } = await sim.addGroup({ subject: "Crew", creator: SHOP, members: [SHOP, ANA, BEN] });
    const page = await world.open(`/chats/${SHOP}/${encodeURIComponent(id)}`);
    const box = page.getByRole("textbox", { name: "Write a message" });
    await box.pressSequentially("Hello @");
    const list = page.getByRole("listbox", { name: "Mention somebody" });
    await list.getByRole("option").nth(2).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await box.pressSequentially(BEN.slice(-4));
    await until(async () => (await list.getByRole("option").count()) === 1);
    await page.keyboard.press("Enter");
    expect(await box.inputValue()).toBe(`Hello @${BEN} `);
    await page.keyboard.press("Enter");
    const one = await sim.waitForMessage(BEN, { chat: id });
    expect(one.mentions).toHaveLength(1);

    await box.pressSequentially("Lunch @");
    await list.getByRole("option", { name: "Everybody in the group" }).click();
    await box.pressSequentially("is ready");
    await page.keyboard.press("Enter");
    const all = await sim.waitForMessage(BEN, { chat: id, count: 2 });
    expect(all.text).toBe("Lunch is ready");
    expect(all.mentions).toHaveLength(3);
    await close(page);
  });
});
