import { expect, it } from "vitest";
import type { Query } from "../../../src/store/query.ts";
import type { Store } from "../../../src/store/store.ts";
import { fullScans, recordingStore } from "../../_setup/query-plan.ts";
import { OWN_NUMBER } from "../outbox/harness.ts";
import { startPipeline, text } from "../pipeline/harness.ts";
import { conversationsOn, OWN } from "./harness.ts";

const ANA = "4915100000001";
const MALLORY = "4915100000666";

it("finds the first message with an id: whoever uses it again later is not meant", async () => {
  const run = await startPipeline();
  await run.receive(text(ANA, "mine", { id: "A1" }));
  await run.receive(text(MALLORY, "no, mine", { id: "A1" }));

  expect(await conversationsOn(run.store).lookUp(OWN, "A1")).toMatchObject([
    { sender: OWN_NUMBER, chat: `${ANA}@s.whatsapp.net`, by: "contact" },
  ]);
});

it("finds it among thousands of numbers, by an index, some hundred at a time", async () => {
  const run = await startPipeline();
  await run.receive(text(ANA, "hello", { id: "A1" }));
  const others = Array.from({ length: 1_200 }, (_, index) => ({ id: index + 2, number: `3160${index}` }));
  const recording = recordingStore(run.store);
  const asked: number[] = [];
  const store: Store = Object.create(recording.store, {
    read: {
      value: (query: Query<unknown>, args: [string]) => {
        asked.push((JSON.parse(args[0]) as unknown[]).length);
        return recording.store.read(query, args);
      },
    },
  }) as Store;

  expect(await conversationsOn(store).lookUp([...others, ...OWN], "A1")).toHaveLength(1);
  expect(await conversationsOn(store).lookUp([...others, ...OWN], "unknown")).toEqual([]);
  for (const sql of recording.statements()) expect(await fullScans(run.store, sql)).toEqual([]);
  expect(Math.max(...asked)).toBe(500);
});
