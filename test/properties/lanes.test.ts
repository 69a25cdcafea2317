import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Environment } from "../../src/config.ts";
import { findSqld, startSqld } from "../_setup/sqld.ts";
import { NODE_SETTINGS } from "../unit/store/temporary-config.ts";
import { steps, tryOut } from "./lanes-run.ts";
import { runs, TIME_LIMIT_MS } from "./runs.ts";

const sequences = fc.array(steps, { minLength: 3, maxLength: 14, size: "max" });

const property = (env?: Environment) =>
  fc.asyncProperty(sequences, async (sequence) => {
    const { written, decided, forgotten } = await tryOut(sequence, env);
    expect({ decided, forgotten }).toEqual({ decided: written, forgotten: [] });
  });

describe("every stored message without a decision is in a lane, whatever commits were lost or not heard of", () => {
  it("with a database file", { timeout: TIME_LIMIT_MS }, async () => {
    await expect(fc.assert(property(), runs(40))).resolves.toBeUndefined();
  });

  it.skipIf(findSqld() === null)("with a libSQL server", { timeout: TIME_LIMIT_MS }, async () => {
    const server = await startSqld(findSqld()!);
    const env = { ...NODE_SETTINGS, DATABASE_URL: server.url };
    await expect(fc.assert(property(env), runs(10))).resolves.toBeUndefined();
  });
});
