import { afterAll, beforeAll, expect, it } from "vitest";
import { closeConsole, openConsole, type ConsoleWorld } from "../_setup/console-world.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { until } from "../_setup/world.ts";
import { looksGood } from "./looks-good.ts";

const SHOP = "31600000001";
const [ANA, BEN] = ["4915100000001", "4915100000002"] as const;

let world: ConsoleWorld;
beforeAll(async () => {
  world = await openConsole();
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben" });
});
afterAll(() => closeConsole(world));

const listeners = async (): Promise<Record<string, any>[]> =>
  (await world.gateway.get(`/devices/${SHOP}/webhooks`, { key: world.key })).body["data"];

it("are added, told of what they asked for, changed, and removed", async () => {
  const crm = await startReceiver({ message: "What a listener answers is sent to nobody." });
  const page = await world.open(`/webhooks/${SHOP}`);
  const add = page.getByRole("button", { name: "Add a listener" });
  const dialog = page.getByRole("dialog");

  await add.click();
  await dialog.getByLabel("Address").fill("nowhere");
  await dialog.getByRole("button", { name: "Add a listener" }).click();
  await dialog.getByText("Must be a complete address", { exact: false }).waitFor();
  await dialog.getByLabel("Address").fill(crm.url);
  await dialog.getByLabel("Only these chats").fill("4915100000001");
  await looksGood(page, "listener");
  await dialog.getByRole("button", { name: "Add a listener" }).click();
  await page.getByText(/^whsec_/).waitFor();
  expect(await listeners()).toMatchObject([{ url: crm.url, chats: [ANA], bots: null, enabled: true }]);
  await looksGood(page, "listeners");

  await world.sim.sendText(BEN, SHOP, "not for the listener");
  await world.sim.sendText(ANA, SHOP, "for the listener");
  await until(() => crm.events.length > 0);
  expect(crm.events.map(({ body }) => body["message"])).toEqual(["for the listener"]);

  const actions = page.getByRole("button", { name: `Actions for ${crm.url}` });
  await actions.click();
  await page.getByRole("menuitem", { name: "New secret" }).click();
  await dialog.getByRole("button", { name: "New secret" }).click();
  await dialog.waitFor({ state: "hidden" });

  await actions.click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await dialog.getByLabel("Only these chats").fill("");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "hidden" });
  expect(await listeners()).toMatchObject([{ url: crm.url, chats: null }]);
  await world.sim.sendText(BEN, SHOP, "now for the listener, too");
  await until(() => crm.events.length > 1);
  expect(await world.sim.messages(BEN)).toEqual([]);

  await actions.click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await dialog.waitFor({ state: "hidden" });
  await actions.waitFor({ state: "hidden" });
  expect(await listeners()).toEqual([]);
});
