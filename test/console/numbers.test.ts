import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  closeConsole,
  everywhere,
  faultsOf,
  openConsole,
  scanned,
  tooWide,
  type ConsoleWorld,
} from "../_setup/console-world.ts";
import { createAuthenticator } from "../../src/demo/authenticator.ts";
import type { PasskeyRequest } from "../../src/model/passkey.ts";
import { until } from "../_setup/world.ts";

let world: ConsoleWorld;
beforeAll(async () => {
  world = await openConsole({ env: { PASSKEY_LINKING: "1" } });
});
afterAll(() => closeConsole(world));

/** The owner's phone points at what the screen shows. */
async function scanFrom(page: Page, phone: { scan(qr: string): Promise<unknown> }): Promise<void> {
  const image = page.getByRole("img", { name: "QR code to scan with WhatsApp" });
  let text: string | null = null;
  await until(async () => {
    await image.waitFor();
    text = await scanned(image);
    return text !== null;
  });
  await phone.scan(text!);
}

describe("the first number", () => {
  it("is linked in three steps, by scanning what is on the screen", async () => {
    const owner = await world.sim.addNumber("6281234567001");
    const page = await world.open("/numbers");
    await page.getByRole("heading", { name: "Link your first number" }).waitFor();
    await page.getByLabel("Your WhatsApp number").fill("12345");
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("7 to 15 digits").waitFor();

    await page.getByLabel("Your WhatsApp number").fill("+62 812-3456-7001");
    await page.getByRole("button", { name: "Next" }).click();
    await scanFrom(page, owner);

    await page.getByRole("heading", { name: "Linked" }).waitFor();
    await page.getByRole("link", { name: "Go to the number" }).click();
    await page.getByRole("heading", { name: "+62 812 345 670 01" }).waitFor();
    await page.getByText("Connected", { exact: true }).waitFor();
    await page.getByText("0 lost").waitFor();
    expect(await page.getByText("Link this number").count()).toBe(0);
    await page.context().close();
  });

  it("says which number scanned when it was another one", async () => {
    const other = await world.sim.addNumber("6281234567002");
    const page = await world.open("/numbers/new");
    await page.getByLabel("Your WhatsApp number").fill("6281234567003");
    await page.getByRole("button", { name: "Next" }).click();

    await scanFrom(page, other);

    await page.getByText("This was another number").waitFor();
    expect(await page.getByRole("alert").textContent()).toContain("+62 812 345 670 02");
    await page.context().close();
  });
});

/** What the screen would have the owner run on WhatsApp's page, as the question that stands in it. */
async function questionOn(page: Page): Promise<PasskeyRequest> {
  const script = await page.locator("details code").textContent();
  return JSON.parse(/\{"challenge".*\}/.exec(script!)![0]) as PasskeyRequest;
}

describe("a number that is linked", () => {
  const NUMBER = "6281234567010";

  it("may also be linked by letters that are typed on the phone", async () => {
    const owner = await world.sim.addNumber(NUMBER);
    const page = await world.open("/numbers/new");
    await page.getByLabel("Your WhatsApp number").fill(NUMBER);
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByRole("button", { name: "Type a code instead" }).click();
    const letters = page.getByLabel(/^(\w ){7}\w$/);
    const code = (await letters.getAttribute("aria-label"))!.replaceAll(" ", "");

    await owner.enterPairingCode(code);

    await page.getByRole("heading", { name: "Linked" }).waitFor();
    expect((await world.gateway.get(`/devices/${NUMBER}`, { key: world.key })).body["data"].state).toBe(
      "connected",
    );
    await page.context().close();
  });

  it("is linked by a customer who was sent a link, which then opens nothing more", async () => {
    const number = "6281234567004";
    const owner = await world.sim.addNumber(number);
    await world.gateway.post("/generate-qr", { device: number }, { key: world.key });
    const made = await world.gateway.post(`/devices/${number}/magic-link`, {}, { key: world.key });
    const link = `${world.gateway.url}/console/link${new URL(made.body["url"]).hash}`;

    const customer = await world.open("/sign-in", { key: null });
    await customer.goto(link);
    await customer.getByText("+62 812 345 670 04").first().waitFor();
    await scanFrom(customer, owner);
    await customer.getByRole("heading", { name: "Linked" }).waitFor();
    // The webhook can be set with the session that the link has opened.
    await customer.getByLabel("Address of your webhook").fill("https://example.com/hook");
    await customer.getByRole("button", { name: "Save" }).click();
    await customer.getByText("Copy this secret now").waitFor();
    await customer.context().close();

    const other = await world.open("/sign-in", { key: null });
    await other.goto(link);
    await other.getByText("This link does not work any more").waitFor();
    expect((await world.gateway.get(`/devices/${number}`, { key: world.key })).body["data"].state).toBe(
      "connected",
    );
    await other.context().close();
  });

  it("asks for its owner's passkey where WhatsApp does", async () => {
    const number = "6281234567011";
    const owner = await world.sim.addNumber(number);
    const authenticator = createAuthenticator();
    await world.sim.requirePasskey(number, authenticator.passkey);
    const page = await world.open("/numbers/new");
    await page.getByLabel("Your WhatsApp number").fill(number);
    await page.getByRole("button", { name: "Next" }).click();
    const image = page.getByRole("img", { name: "QR code to scan with WhatsApp" });
    await image.waitFor();
    const linked = owner.scan((await scanned(image))!);
    linked.catch(() => undefined);

    await page.getByText("WhatsApp asks for the passkey of this account").last().waitFor();
    expect(await faultsOf(page)).toEqual([]);
    const answer = authenticator.assert(await questionOn(page));
    await page.getByLabel("Paste here what the console printed").fill("nonsense");
    await page.getByRole("button", { name: "Send the answer" }).click();
    await page.getByText("This is not the printed line").waitFor();
    await page.getByLabel("Paste here what the console printed").fill(JSON.stringify(answer));
    await page.getByRole("button", { name: "Send the answer" }).click();

    await page.getByRole("heading", { name: "Linked" }).waitFor();
    await linked;
    await page.context().close();
  });

  it("shows what WhatsApp allows it, and what keeps it", async () => {
    await world.sim.faults.newChatQuota({ number: NUMBER, total: 20, used: 5 });
    const page = await world.open(`/numbers/${NUMBER}`);
    await page.getByRole("heading", { name: "+62 812 345 670 10" }).waitFor();
    await page.getByText("0 lost").waitFor();
    await page.getByText("5 of 20 used").waitFor();
    await everywhere(page, async (name) => {
      expect(await tooWide(page), name).toBeLessThanOrEqual(0);
      expect(await faultsOf(page), name).toEqual([]);
    });
    await page.context().close();
  });

  it("names the messages that are missing, why, and what became of each", async () => {
    const writer = "4915100000081";
    await world.sim.addContact(writer, { name: "Ana <b>" });
    await world.online(NUMBER);
    await world.sim.faults.placeholders({ number: NUMBER, n: 1, phone: "silent" });
    await world.sim.sendText(writer, NUMBER, "never comes");
    const page = await world.open(`/numbers/${NUMBER}`);

    await until(async () => {
      await page.reload();
      const shows = page.getByRole("button", { name: "Show the message that was missing" });
      await page.getByText("0 lost").waitFor();
      return (await shows.isVisible()) && (await shows.click().then(() => true));
    });

    const missing = page.getByRole("list", { name: "Messages that were missing" });
    await missing.getByText("Asked for again").waitFor();
    expect(await missing.textContent()).toContain("It came without its content.");
    expect(await faultsOf(page)).toEqual([]);
    await missing.getByRole("link", { name: /\+49/ }).click();
    await page.waitForURL(`**/chats/${NUMBER}/${writer}`);
    await page.context().close();
  });

  it("has a link with which its owner sets the webhook, and sees nothing else", async () => {
    const page = await world.open(`/numbers/${NUMBER}`);
    await page.getByRole("button", { name: "Make a link" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Make a link" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Copy the link" }).click();
    const url = await page.getByRole("dialog").locator("code").textContent();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(url!.trim());
    await page.getByRole("dialog").getByRole("button", { name: "Done" }).click();

    const customer = await world.open("/sign-in", { key: null });
    await customer.goto(`${world.gateway.url}/console/link${new URL(url!).hash}`);
    await customer.getByRole("heading", { name: "Link your number" }).waitFor();
    expect(new URL(customer.url()).hash).toBe("");
    await customer.getByLabel("Address of your webhook").fill("https://example.com/hook");
    await customer.getByRole("button", { name: "Save" }).click();
    await customer.getByText("Copy this secret now").waitFor();
    const { body } = await world.gateway.get(`/devices/${NUMBER}/webhook`, { key: world.key });
    expect(body["data"].url).toBe("https://example.com/hook");
    await everywhere(customer, async (name) => expect(await tooWide(customer), name).toBeLessThanOrEqual(0));
    expect(await faultsOf(customer)).toEqual([]);

    await customer.goto(`${world.gateway.url}/console/numbers`);
    await customer.getByRole("heading", { name: "Link your number" }).waitFor();

    await page.goto(`${world.gateway.url}/console/numbers/links`);
    const row = page.getByRole("listitem").filter({ hasText: "+62 812 345 670 10" });
    await row.getByText(/Made by First key, .*opened/).waitFor();
    await everywhere(page, async (name) => expect(await tooWide(page), name).toBeLessThanOrEqual(0));
    expect(await faultsOf(page)).toEqual([]);
    await row.getByRole("button", { name: "Withdraw" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Withdraw" }).click();
    await page.getByText("No link is open").waitFor();
    await customer.reload();
    await customer.getByText("This link does not work any more").waitFor();
    await customer.context().close();
    await page.context().close();
  });

  it("is logged out, and removed once its digits were typed", async () => {
    const page = await world.open(`/numbers/${NUMBER}`);
    const actions = page.getByRole("button", { name: "More for this number" });
    await actions.click();
    await page.getByRole("menuitem", { name: "Log out" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Log out" }).click();
    await page.getByText("Link this number").waitFor();
    // It may be told of the logout before the answer comes: a dialog that closes takes the focus out of an open menu.
    await page.getByRole("dialog").waitFor({ state: "hidden" });

    await actions.click();
    await page.getByRole("menuitem", { name: "Remove" }).click();
    const remove = page.getByRole("dialog").getByRole("button", { name: "Remove" });
    expect(await remove.isDisabled()).toBe(true);
    await page.getByLabel(`Type ${NUMBER} to confirm`).fill(NUMBER);
    await remove.click();

    await page.getByRole("heading", { name: "Numbers", exact: true }).waitFor();
    await expect
      .poll(async () => (await world.gateway.get(`/devices/${NUMBER}`, { key: world.key })).status)
      .toBe(404);
    await page.context().close();
  });

  it("gives every action as curl, with the key left out", async () => {
    const page = await world.open("/numbers");
    await page.getByRole("button", { name: "Copy as curl" }).first().click();
    await page.getByText("Copied as a curl command").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      `curl '${world.gateway.url}/devices' \\\n  -H "Authorization: Bearer $PARLEY_API_KEY"`,
    );
    await everywhere(page, async (name) => {
      expect(await tooWide(page), name).toBeLessThanOrEqual(0);
      expect(await faultsOf(page), name).toEqual([]);
    });
    await page.context().close();
  });
});
