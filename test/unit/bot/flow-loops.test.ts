import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { FlowContext, Routes } from "../../../src/bot/index.ts";
import { startBots } from "./harness.ts";

const failed = "Sorry, something went wrong on our side. Please write again.";
/** No server is asked. */
const nobody = {
  close: async () => undefined,
  request: () => Promise.reject(new Error("nobody is asked")),
} as never;
let calls = 0;
/** That it ends soon. How long it computes on a quiet machine (requests: 250 ms, the others 40) depends on what runs beside it. */
const LONGEST_MS = 2_000;

/** CPU milliseconds that the event loop's own thread has used. */
const computed = (): number =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;

/** The longest turn of the event loop meanwhile, in milliseconds of computing: time that others take does not count. */
async function longestTurn<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  let longest = 0;
  let isOver = false;
  let before = computed();
  const look = (): void => {
    const now = computed();
    longest = Math.max(longest, now - before);
    before = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  const result = await work();
  isOver = true;
  look();
  return { result, ms: longest };
}

const other = (b: Routes) => b.flow("other", async () => undefined);

/** Each a loop that never ends by itself. */
const loops: Record<string, (f: FlowContext, b: { other: never }) => unknown> = {
  says: (f) => {
    for (;;) {
      calls++;
      f.say("x");
    }
  },
  "says, and awaits": async (f) => {
    for (;;) {
      calls++;
      await f.say("x");
    }
  },
  "sends elsewhere": (f) => {
    for (;;) {
      calls++;
      f.sendTo("4915550", "x");
    }
  },
  "does steps": (f) => {
    for (;;) {
      calls++;
      void f.step("a", () => 1).catch(() => undefined);
    }
  },
  "does steps, and awaits": async (f) => {
    for (;;) {
      calls++;
      await f.step("a", () => 1);
    }
  },
  "asks servers": (f) => {
    for (;;) {
      calls++;
      void f.call("a", "https://x.example").catch(() => undefined);
    }
  },
  "asks servers outside of steps": (f) => {
    for (;;) {
      calls++;
      void f.fetch("https://x.example").catch(() => undefined);
    }
  },
  "waits without waiting": (f) => {
    for (;;) {
      calls++;
      void f.until("1h");
    }
  },
  "reads what is stored": (f) => {
    for (;;) {
      calls++;
      void f.store.get("a").catch(() => undefined);
    }
  },
  "begins others": (f, b) => {
    for (;;) {
      calls++;
      f.spawn(b.other, "a", undefined as never);
    }
  },
  "begins anew": (f) => {
    for (;;) {
      calls++;
      void f.again(undefined as never);
    }
  },
  "looks at the clock": (f) => {
    for (;;) {
      calls++;
      f.now();
    }
  },
};

it.each(Object.entries(loops))(
  "a flow that %s in a loop ends at its thousandth call",
  async (_what, loop) => {
    calls = 0;
    const bots = await startBots(
      {
        clinic: (b: Routes): void => {
          const begun = other(b);
          const flow = b.flow("booking", (f) => loop(f as never, { other: begun as never }));
          b.keyword("book", (ctx) => ctx.start(flow));
          b.keyword("hi", (ctx) => ctx.reply("hello"));
        },
      },
      { http: nobody },
    );
    await bots.say("hi");
    const { result: decision, ms } = await longestTurn(() => bots.say("book"));
    expect(bots.heard()).toEqual(["hello", failed]);
    expect(decision.trail).toMatchObject([
      { by: "bot:clinic", detail: expect.stringMatching(/FlowMistake at flow-loops\.test\.ts:\d+/) },
    ]);
    expect(calls).toBe(1_000);
    expect(ms).toBeLessThan(LONGEST_MS);
  },
);

it("asks in a loop without waiting, and is stopped at the second", async () => {
  const bots = await startBots({
    clinic: (b: Routes): void => {
      const flow = b.flow("booking", (f) => {
        for (;;) void f.text("a", "A?");
      });
      b.keyword("book", (ctx) => ctx.start(flow));
    },
  });
  const decision = await bots.say("book");
  expect(bots.heard()).toEqual([failed]);
  expect(decision.trail).toMatchObject([
    { detail: expect.stringMatching(/FlowMistake at flow-loops\.test\.ts:\d+/) },
  ]);
});

it("a loop before an open question, which comes with a deploy, ends as well", async () => {
  const clinic =
    (loop: (f: FlowContext) => unknown) =>
    (b: Routes): void => {
      const flow = b.flow("booking", async (f) => {
        await loop(f as never);
        await f.text("a", "A?");
      });
      b.keyword("book", (ctx) => ctx.start(flow));
    };
  const bots = await startBots({ clinic: clinic(() => undefined) });
  await bots.say("book");
  calls = 0;
  await bots.kill({ clinic: clinic((f) => loops["says"]!(f, null as never)) });
  await bots.say("x");
  expect(bots.heard()).toEqual(["A?", failed]);
  expect(calls).toBe(1_000);
});

it("a thousand answers are no loop", async () => {
  const bots = await startBots(
    {
      clinic: (b: Routes): void => {
        const flow = b.flow("booking", { tries: 9 }, async (f) => {
          for (let n = 0; n < 12; n++) {
            for (let k = 0; k < 300; k++) f.now();
            await f.text("more", `${n}?`);
          }
          f.say("all");
        });
        b.keyword("book", (ctx) => ctx.start(flow));
      },
    },
    { env: { LOOP_GUARD_PER_MINUTE: "0" } },
  );
  await bots.say("book");
  for (let n = 0; n < 12; n++) await bots.say("x");
  expect(bots.heard().at(-1)).toBe("all");
});

it("a loop of computing alone is named, with its bot and its flow", async () => {
  const bots = await startBots({
    clinic: (b: Routes): void => {
      const flow = b.flow("booking", async (f) => {
        await f.text("a", "A?");
        const until = performance.now() + 1_200;
        while (performance.now() < until);
        f.say("done");
      });
      b.keyword("book", (ctx) => ctx.start(flow));
    },
  });
  await bots.say("book");
  const decision = await bots.say("x");
  expect(decision.trail).toMatchObject([{ detail: expect.stringContaining("blocked everybody for") }]);
  const said = bots.log.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(said).toContainEqual(
    expect.objectContaining({ bot: "clinic", route: "flow:booking", blockedMs: expect.any(Number) }),
  );
});
