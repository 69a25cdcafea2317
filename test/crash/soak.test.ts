import { expect, inject, it } from "vitest";
import { testConsole } from "../_setup/console.ts";
import { soak } from "./soak.ts";

it("random kills, broken sockets and repeated stanzas lose nothing, repeat nothing, mix nothing up, and the console shows what is", async () => {
  const report = await soak({
    seed: "short",
    kills: 4,
    killsPerRound: 4,
    entry: inject("serverEntry"),
    console: await testConsole(),
  });

  expect(report.problems).toEqual([]);
  expect(report).toMatchObject({ kills: 4, lost: 0, duplicated: 0, outOfOrder: 0 });
  expect(report.messages).toBeGreaterThan(50);
  expect(report.shown).toBeGreaterThan(30);
}, 600_000);
