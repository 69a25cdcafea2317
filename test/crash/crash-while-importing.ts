import { until } from "./apart.ts";
import { ANA, BEN, SHOP } from "./arena.ts";
import type { CrashPoint, Provoke } from "./points.ts";

/** Several commits. */
const MESSAGES = 120;
let rounds = 0;

/**
 * The phone tells of the time before the linking, and people write meanwhile; the process ends when some of it is stored. Whatever
 * is not comes with the next start, each once, and nobody answers it.
 */
export const crashWhileImporting = (meanwhile: Provoke): CrashPoint => ({
  name: "in-import",
  failpoint: "in-import",
  where: "some of a piece of history stored; the rest not",
  async run(arena, random) {
    const { sim } = arena.world;
    // Several gateways are killed at the same time.
    const round = ++rounds;
    const names: string[] = [];
    const yesterday = Math.floor(Date.now() / 1000) - 86_400;
    arena.arm("in-import", 1 + Math.floor(random() * 4));
    await arena.expectDeath("in-import", async (attempt) => {
      if (attempt > 0) return;
      const chats = [ANA, BEN].map((contact, which) => ({
        with: contact,
        messages: Array.from({ length: MESSAGES }, (_, n) => {
          const id = `3AHISTORY${round}X${which}X${n}`;
          names.push(id);
          return { id, text: "order", timestamp: yesterday - n };
        }),
      }));
      await sim.sendHistory(SHOP, { type: "recent", chats, inline: false });
      await meanwhile(arena, random);
    });
    await arena.revive();
    const count = (): number =>
      arena.left(`SELECT wa_id AS id FROM inbox WHERE id < 0 AND wa_id LIKE '3AHISTORY${round}X%'`).length;
    await until("all of the history is there", () => count() === names.length);
    const verdict = await arena.settle();
    if (count() !== names.length) verdict.problems.push(`${count()} of ${names.length} imported messages`);
    for (const id of arena.left("SELECT inbox_id AS id FROM decisions WHERE inbox_id < 0"))
      verdict.problems.push(`the imported message ${id} was decided`);
    return verdict;
  },
});
