import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runInThisContext } from "node:vm";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";
import { botLines, withSourceMaps } from "../../../src/build/bot-lines.ts";
import { temporaryFolder } from "../store/temporary.ts";

/** In TypeScript, with lines that no script has, and beside a module that is no bot's. */
const SOURCES = {
  "bots/shop.ts": `import { total } from "./shop/_cart.ts";
interface Order {
  prices: number[];
}

export const shop = (order: Order): number => total(order.prices);
`,
  "bots/shop/_cart.ts": `import { sum } from "../../sum.ts";

/** The prices together. */
export function total(prices: number[]): number {

  if (prices.length === 0) throw new RangeError("nothing bought");
  return sum(prices);
}
`,
  "sum.ts": `export const sum = (all: number[]): number => all.reduce((some, one) => some + one, 0);
`,
  "main.ts": `import { shop } from "./bots/shop.ts";
(globalThis as Record<string, unknown>)["shop"] = shop;
`,
};

it("names the lines that authors of bots wrote, in the script of a build that is a bundle of bundles", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "bots/shop"), { recursive: true });
  for (const [name, text] of Object.entries(SOURCES)) writeFileSync(join(folder, name), text);
  const first = await rolldown({ input: join(folder, "main.ts"), logLevel: "warn" });
  await first.write({ dir: join(folder, "out"), sourcemap: true });

  const second = await rolldown({
    input: join(folder, "out/main.js"),
    plugins: [withSourceMaps(join(folder, "out"))],
    logLevel: "warn",
  });
  const { output } = await second.generate({ format: "iife", dir: join(folder, "out"), sourcemap: true });
  const [{ code, map }] = output;
  const lines = botLines(code, map!, join(folder, "out"), join(folder, "bots"), 1);

  runInThisContext(`\n${code}`, { filename: "script.cjs" });
  const shop = (globalThis as unknown as { shop(order: { prices: number[] }): number }).shop;
  const places: (string | undefined)[] = [];
  try {
    shop({ prices: [] });
  } catch (error) {
    for (const [, row] of (error as Error).stack!.matchAll(/script\.cjs:(\d+)/g)) places.push(lines[row!]);
  }
  expect(places).toEqual(["shop/_cart.ts:6", "shop.ts:6"]);
  expect(Object.values(lines).filter((place) => !place.startsWith("shop"))).toEqual([]);
});
