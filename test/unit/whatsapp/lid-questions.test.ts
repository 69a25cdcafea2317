import { expect, it } from "vitest";
import type { LIDMapping } from "@whiskeysockets/baileys";
import { createLidQuestions } from "../../../src/whatsapp/signal/lid-questions.ts";
import { manualClock } from "../outbox/harness.ts";

const ANA = "4915001@s.whatsapp.net";
const BEN = "4915002@s.whatsapp.net";
const pairs: LIDMapping[] = [{ pn: ANA, lid: "77@lid" }];

function questions(...answers: (LIDMapping[] | null | Error | Promise<never>)[]) {
  const clock = manualClock();
  const asked: string[][] = [];
  const lookUp = createLidQuestions(clock.time, async (jids) => {
    asked.push(jids);
    const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
    if (answer instanceof Error) throw answer;
    return answer;
  });
  return { clock, asked, lookUp };
}

it("who has no LID is asked about once in an hour", async () => {
  const { clock, asked, lookUp } = questions(pairs);
  expect(await lookUp([ANA, BEN])).toEqual(pairs);
  await clock.advance(59 * 60_000);
  expect(await lookUp([BEN])).toEqual([]);
  await clock.advance(60_000);
  await lookUp([BEN]);
  expect(asked).toEqual([[ANA, BEN], [BEN]]);
});

it.each([
  ["there is no answer", null],
  ["the question fails", new Error("closed")],
  ["the question is never answered", new Promise<never>(() => undefined)],
])("silence is not no: when %s, it is asked again after half a minute", async (_, silence) => {
  const { clock, asked, lookUp } = questions(silence, pairs);
  const first = lookUp([ANA]);
  await clock.advance(8_000);
  expect(await first).toEqual([]);
  // Nobody waits for it a second time while it lasts.
  expect(await lookUp([ANA])).toEqual([]);
  expect(asked).toHaveLength(1);
  await clock.advance(30_000);
  expect(await lookUp([ANA])).toEqual(pairs);
});
