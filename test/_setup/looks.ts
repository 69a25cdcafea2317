import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

/** Widths that every screen is looked at: a phone, a tablet, a desk. */
export const SIZES = {
  phone: { width: 390, height: 844 },
  tablet: { width: 834, height: 1180 },
  desk: { width: 1440, height: 900 },
} as const;

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * The page as it stays: another theme or another state changes colours over some frames, which a busy machine draws late. What
 * turns for as long as something is awaited is not waited for.
 */
async function drawn(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const frame = () => new Promise((next) => requestAnimationFrame(next));
    const moving = () =>
      document
        .getAnimations()
        .filter(
          ({ effect, playState }) =>
            playState === "running" && effect?.getComputedTiming().endTime !== Infinity,
        );
    do {
      await Promise.all(moving().map(({ finished }) => finished.catch(() => undefined)));
      await frame();
      await frame();
    } while (moving().length > 0);
  });
}

/** What keeps somebody from using the page: axe's serious and critical findings, as lines. */
export async function faultsOf(page: Page): Promise<string[]> {
  await drawn(page);
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<AxeResults> } };
    const { violations } = await axe.run({ resultTypes: ["violations"] });
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
      );
  });
}
interface AxeResults {
  violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
}

/** By how many pixels the page is wider than its window. */
export const tooWide = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

const { PARLEY_TEST_LONG, CONSOLE_PICTURES, PARLEY_SHOTS } = process.env;
const isWhole = PARLEY_TEST_LONG === "1" || CONSOLE_PICTURES !== undefined || PARLEY_SHOTS !== undefined;
/** Each width and each theme at least once; every width in every theme is for `npm run test:long`, and for pictures. */
const LOOKS: [size: keyof typeof SIZES, theme: "light" | "dark"][] = isWhole
  ? (["phone", "tablet", "desk"] as const).flatMap((size): typeof LOOKS => [
      [size, "light"],
      [size, "dark"],
    ])
  : [
      ["phone", "dark"],
      ["desk", "light"],
    ];

/**
 * Looks at a page as people see it: on a phone and at a desk, in light and in dark; in the long tests at three widths in both
 * themes.
 *
 * @param look is called for each, with its name
 */
export async function everywhere(page: Page, look: (name: string) => Promise<void>): Promise<void> {
  for (const [size, theme] of LOOKS) {
    await page.setViewportSize(SIZES[size]);
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    await drawn(page);
    await look(`${size}-${theme}`);
  }
}
