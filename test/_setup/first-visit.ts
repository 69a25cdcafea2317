import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { Simulator } from "../../src/simulator/types.ts";
import { scanned } from "./console-world.ts";
import { until } from "./world.ts";

export const SHOP = "6281234567001";
export const CONTACT = "31600000002";

export const heading = (page: Page, name: string) => page.getByRole("heading", { name });
export const press = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name, exact: true }).click();

/** Where the simulator's phones are. */
export const toPlayground = (page: Page) => page.getByRole("link", { name: "Open the playground" });

/**
 * From the number's field to a bot that answers, as somebody does who has never been here.
 *
 * @param seen told of each step while it is on the screen
 */
export async function linkAndAnswer(
  page: Page,
  sim: Simulator,
  seen: (step: string) => Promise<void> = async () => {},
): Promise<void> {
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
  await seen("qr");
  await owner.scan(qr!);

  await heading(page, "Write to it").waitFor();
  await page.getByText("Waiting for a message").waitFor();
  await seen("waiting");
  const contact = await sim.addContact(CONTACT, { name: "Ana" });
  await contact.sendText(SHOP, "is anybody there?");
  await heading(page, "It arrived").waitFor();
  await page.getByText("is anybody there?").waitFor();
  await seen("arrived");
  await press(page, "Next");

  await press(page, "Switch on ping");
  await page.getByText("Switched on.").waitFor();
  await seen("bot");
  await contact.sendText(SHOP, "ping");
  // oxlint-disable-next-line vitest/no-standalone-expect -- it is a step of several tests
  expect(await sim.waitForMessage(CONTACT, { from: SHOP })).toMatchObject({ text: "pong" });
  await press(page, "Next");
  await heading(page, "Your number is ready").waitFor();
}
