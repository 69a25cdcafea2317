import { expect, inject, it } from "vitest";
import { soak } from "./soak.ts";

it("random kills, broken sockets and repeated stanzas lose nothing, repeat nothing, mix nothing up", async () => {
  const report = await soak({ seed: "short", kills: 6, killsPerRound: 6, entry: inject("serverEntry") });

  expect(report.problems).toEqual([]);
  expect(report).toMatchObject({ kills: 6, lost: 0, duplicated: 0, outOfOrder: 0 });
  expect(report.messages).toBeGreaterThan(50);
}, 600_000);
