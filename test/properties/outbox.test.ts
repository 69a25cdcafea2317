import * as fc from "fast-check";
import { expect, it } from "vitest";
import { OutboxRun } from "./outbox-run.ts";
import { commandRuns, runs, TIME_LIMIT_MS } from "./runs.ts";
import type { Fate } from "./service.ts";

/** What is known of the world without asking it: commands that make no sense now are left out. */
interface Model {
  connected: boolean;
}

type Step = fc.AsyncCommand<Model, OutboxRun>;

function step(
  name: string,
  run: (world: OutboxRun) => Promise<void> | void,
  options: { when?: (model: Model) => boolean; leaves?: Partial<Model> } = {},
): Step {
  return {
    toString: () => name,
    check: (model) => options.when?.(model) ?? true,
    async run(model, world) {
      await run(world);
      Object.assign(model, options.leaves);
      await world.settle();
      await world.look();
      expect(world.service.problems.join("; ")).toBe("");
    },
  };
}

const connected = (model: Model): boolean => model.connected;
const chat = fc.integer({ min: 4915001, max: 4915005 });
const receiptState = fc.constantFrom("delivered" as const, "read" as const, "played" as const);
const fate: fc.Arbitrary<Fate> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Fate>("acknowledged") },
  { weight: 3, arbitrary: fc.constantFrom<Fate>("held", "swallowed", "timed_out") },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Fate>("limited", { refused: 406 }, { refused: 479 }, { refused: 463 }),
  },
);

const steps = [
  fc.uniqueArray(chat, { minLength: 1, maxLength: 3 }).map((chats) => {
    return step(`submit(${chats.join()})`, (world) => world.submit(chats));
  }),
  fc
    .tuple(chat, fc.integer({ min: 1, max: 3 }), fc.constantFrom("release" as const, "wake" as const))
    .map(([to, count, then]) =>
      step(`reply(${to}, ${count}, ${then})`, (world) => world.reply(to, count, then)),
    ),
  fc.tuple(chat, fc.integer({ min: 1, max: 3 })).map(([to, count]) => {
    const replyAndDie = (world: OutboxRun): Promise<void> => world.reply(to, count, "crash");
    return step(`reply(${to}, ${count}), crash`, replyAndDie, { leaves: { connected: false } });
  }),
  fc.array(fate, { minLength: 1, maxLength: 4 }).map((fates) => {
    return step(`fates(${JSON.stringify(fates)})`, (world) => void world.service.fates.push(...fates));
  }),
  fc.constant(step("connect", (world) => world.connect(), { leaves: { connected: true } })),
  fc.constant(step("hand over", (world) => world.service.handOver(), { when: connected })),
  fc.constant(
    step("connect, hand over", (world) => world.connect().then(() => world.service.handOver()), {
      leaves: { connected: true },
    }),
  ),
  fc.constant(
    step("disconnect", (world) => world.service.disconnect(), {
      when: connected,
      leaves: { connected: false },
    }),
  ),
  fc.integer({ min: 0, max: 60 }).map((turns) => {
    const connectAndHear = (world: OutboxRun): Promise<void> => world.connectAndHear(turns);
    return step(`connect, hand over meanwhile (${turns})`, connectAndHear, { leaves: { connected: true } });
  }),
  fc.tuple(chat, receiptState, fc.option(fc.integer({ min: 0, max: 12 }))).map(([to, state, turns]) => {
    const loseAck = (world: OutboxRun): Promise<void> => world.loseAck(to, state, turns);
    return step(`ack lost, ${state} waits (${to}, heard after ${turns ?? "long"})`, loseAck, {
      leaves: { connected: true },
    });
  }),
  fc.constant(step("release acks", (world) => world.service.releaseAcks(), { when: connected })),
  fc
    .array(fc.tuple(fc.integer({ min: 1, max: 4 }), receiptState), { minLength: 1, maxLength: 6 })
    .map((receipts) => step(`receipts(${receipts.join("; ")})`, (world) => world.receipts(receipts))),
  receiptState.map((state) =>
    step(`${state} of nothing known`, ({ service }) => service.receipt("3EB0UNKNOWN", state, "1@lid")),
  ),
  fc.constantFrom(50, 150, 2_500, 20_000, 60_000).map((ms) => {
    return step(`wait(${ms})`, (world) => world.clock.advance(ms));
  }),
  fc.integer({ min: 0, max: 40 }).map((turns) => {
    return step(`crash(${turns})`, (world) => world.crash(turns), { leaves: { connected: false } });
  }),
  fc.integer({ min: 0, max: 40 }).map((turns) => {
    const connectAndDie = async (world: OutboxRun): Promise<void> => {
      void world.connect();
      world.service.handOver();
      await world.crash(turns);
    };
    return step(`connect, crash(${turns})`, connectAndDie, { leaves: { connected: false } });
  }),
  fc.constant(step("unlink", (world) => world.abandon(), { when: connected, leaves: { connected: false } })),
];

it(
  "the outbox: one id, one in flight and one order per chat, no state backwards, every message to its end",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands(steps, commandRuns(40)), async (commands) => {
        const world = new OutboxRun();
        await world.start();
        try {
          await fc.asyncModelRun(() => ({ model: { connected: false }, real: world }), commands);
          const rows = await world.finish();
          expect(world.service.problems.join("; ")).toBe("");
          expect(rows.filter(({ state }) => state === "queued")).toEqual([]);
          const claimed = rows.filter(({ state }) => state !== "failed" && state !== "expired");
          expect(claimed.filter(({ waId }) => !world.service.has(waId))).toEqual([]);
          for (const [to, texts] of world.service.taken)
            expect(texts).toEqual(world.stored.get(to)!.filter((text) => texts.includes(text)));
        } finally {
          await world.close();
        }
      }),
      runs(15),
    );
  },
  TIME_LIMIT_MS,
);
