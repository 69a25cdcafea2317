import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, it, onTestFinished } from "vitest";
import { removeFolder } from "../_setup/folders.ts";
import { isLong } from "../_setup/length.ts";
import { benchYear } from "../bench/year/main.ts";

/**
 * Computing of the event loop's thread between two looks, 2 ms apart: what other processes do does not count. On a quiet
 * machine the limit is 50 ms; a slow one computes for longer.
 */
const LONGEST_COMPUTING_MS = 150;

/** The short form of `npm run bench -- --year`. */
const MESSAGES = isLong ? 20_000 : 6_000;

it(
  "nothing that operators, customers and time do to thousands of messages stops the event loop",
  { timeout: 300_000 },
  async () => {
    const parent = mkdtempSync(join(tmpdir(), "parley-year-"));
    onTestFinished(() => removeFolder(parent));

    const costs = await benchYear({
      folder: join(parent, "data"),
      entry: inject("serverEntry"),
      messages: MESSAGES,
      say: () => undefined,
    });

    expect(costs.length).toBeGreaterThan(30);
    expect(costs.filter(({ computingMs }) => computingMs > LONGEST_COMPUTING_MS)).toEqual([]);
  },
);
