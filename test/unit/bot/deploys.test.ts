import { expect, it } from "vitest";
import { lookAhead } from "../../../src/bot/forecast/look-ahead.ts";
import type { ConversationForecast } from "../../../src/bot/forecast/types.ts";
import { createRegistry } from "../../../src/bot/files/registry.ts";
import { STORIES } from "../../crash/deploys/stories.ts";
import { startBots, type Bots } from "./harness.ts";
import { listeningLog } from "./messages.ts";

const load = async (path: string): Promise<never> =>
  ((await import(/* @vite-ignore */ path)) as { default: never }).default;

// The long form, with the built gateway and 200 people, is `npm run crash -- --deploys`.
it("everybody in the middle of a question gets the answer that fits what was shown, as bots check has said", async () => {
  const before: Bots = { salon: await load("../../crash/deploys/before/salon.mjs") };
  const after: Bots = { barber: await load("../../crash/deploys/after/barber.mjs") };
  const bots = await startBots(before, { env: { LOOP_GUARD_PER_MINUTE: "0" } });
  const personOf = (index: number): number => 4_915_100 + index;
  for (const [index, story] of STORIES.entries())
    for (const text of story.before) await bots.say(text, personOf(index));
  // Flows beside the chat have begun, and sleep under the ids that they have.
  await bots.later(31_000);
  await bots.kill();

  const sources = Object.entries(after).map(([id, exported]) => ({ id, file: id, exported }));
  const registry = createRegistry(sources, listeningLog().log);
  const each: ConversationForecast[] = [];
  await lookAhead(bots.run.store, { registry, locales: new Map() }, { onEach: (one) => void each.push(one) });
  for (const [index, { name, foreseen }] of STORIES.entries()) {
    const mine = each.filter(({ scope }) => scope.startsWith(`${personOf(index)}@`));
    const said = mine.map(({ dialogue, outcome, key }) => [dialogue, outcome, key]);
    expect({ name, foreseen: said.toSorted() }).toEqual({ name, foreseen });
  }

  const rounds = Math.max(...STORIES.map((story) => story.after.length));
  bots.heard();
  for (let round = 0; round < rounds; round++) {
    await bots.kill(after);
    for (const [index, { name, after: turns }] of STORIES.entries()) {
      const [text, ...answers] = turns[round] ?? [];
      if (text === undefined) continue;
      await bots.say(text, personOf(index));
      // What a flow beside the chat asks comes by itself.
      await bots.later(0);
      expect({ name, round, answers: bots.heard() }).toEqual({ name, round, answers });
    }
  }
});
