import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** What an owner does at the console, by clicks alone. */

/** The console's own way from screen to screen; the one that is left stays until the other one is there. */
export async function goTo(desk: Page, name: string, heading: string = name): Promise<void> {
  await desk.getByRole("navigation").getByRole("link", { name, exact: true }).click();
  await desk.getByRole("heading", { level: 1, name: heading }).waitFor();
}

/** Sets the webhook of the only number, and posts a sample. @param answer what the webhook answers to it */
export async function setWebhook(desk: Page, url: string, answer: string): Promise<void> {
  await goTo(desk, "Webhooks", "Webhook");
  await desk.getByLabel("Address").fill(url);
  await desk.getByRole("button", { name: /^(Set webhook|Save)$/ }).click();
  await desk
    .getByText(/^Saved|^whsec_/)
    .first()
    .waitFor();
  await desk.getByRole("button", { name: "Post a sample" }).click();
  await desk.getByText(answer).first().waitFor();
}

/** Makes a key; a command that a screen copies works with it in a shell. @param device the only number */
export async function useKey(desk: Page, device: string): Promise<void> {
  await goTo(desk, "API keys");
  await desk.getByRole("button", { name: "New key" }).click();
  await desk.getByLabel("Name").fill("Till");
  await desk.getByLabel("Numbers", { exact: true }).check();
  await desk.getByRole("button", { name: "Make the key" }).click();
  const secret = (await desk.getByRole("dialog").locator("code").first().textContent())!.trim();
  await desk.getByRole("button", { name: "I have stored it" }).click();

  await goTo(desk, "Numbers");
  await desk.getByRole("button", { name: "Copy as curl" }).first().click();
  const command = await desk.evaluate(() => navigator.clipboard.readText());
  // oxlint-disable-next-line vitest/no-standalone-expect -- it is a step of several tests
  expect(command).not.toContain(secret);
  const { stdout } = await promisify(execFile)("sh", ["-c", command], {
    env: { ...process.env, PARLEY_API_KEY: secret },
  });
  // oxlint-disable-next-line vitest/no-standalone-expect -- the same
  expect(JSON.parse(stdout)).toMatchObject({ status: true, data: [{ device, state: "connected" }] });
}
