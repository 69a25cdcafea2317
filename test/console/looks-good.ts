import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { everywhere, faultsOf, tooWide } from "../_setup/looks.ts";

/** Folder for pictures of each screen; undefined: none are made. */
export const SHOTS = process.env["PARLEY_SHOTS"];

/** Fits phones and desks in both themes, and keeps nobody from using it. */
export async function looksGood(page: Page, name: string): Promise<void> {
  await everywhere(page, async (at) => {
    if (SHOTS) await page.screenshot({ path: join(SHOTS, `${name}-${at}.png`), fullPage: true });
    expect(await tooWide(page), `${name} at ${at}`).toBeLessThanOrEqual(0);
  });
  await page.setViewportSize({ width: 1440, height: 900 });
  expect(await faultsOf(page), name).toEqual([]);
}
