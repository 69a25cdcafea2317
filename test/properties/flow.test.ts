import * as fc from "fast-check";
import { expect, it } from "vitest";
import { FlowRun, type Action } from "./flow-run.ts";
import type { Edit } from "./flow-spec.ts";
import { runs, TIME_LIMIT_MS } from "./runs.ts";

const number = fc.nat({ max: 99 });
const kind = fc.constantFrom("text", "number", "choice", "choose", "confirm" as const);
const add: fc.Arbitrary<Edit> = fc.record({
  do: fc.constant("add" as const),
  at: number,
  kind,
  options: number,
  mentions: number,
});
const edit: fc.Arbitrary<Edit> = fc.oneof(
  add,
  fc.record({ do: fc.constantFrom("remove", "reword", "rename", "mention" as const), at: number }),
  fc.record({ do: fc.constant("move" as const), at: number, to: number }),
  fc.record({ do: fc.constant("options" as const), at: number, options: number }),
);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("answer" as const), with: number }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("change" as const), at: number }) },
  { weight: 1, arbitrary: fc.constant<Action>({ do: "back" }) },
  { weight: 1, arbitrary: fc.constant<Action>({ do: "kill" }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("deploy" as const),
      edits: fc.array(edit, { minLength: 1, maxLength: 3 }),
    }),
  },
);

it(
  "a flow: what it books is what its person was shown last and accepted, whatever is deployed, changed and killed meanwhile",
  async () => {
    let bookings = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(add, { minLength: 2, maxLength: 4 }),
        fc.array(action, { minLength: 4, maxLength: 16, size: "max" }),
        async (questions, actions) => {
          const run = new FlowRun();
          try {
            await run.start(questions);
            for (const one of actions) await run.act(one);
            await run.finish();
            bookings += run.bookings;
          } finally {
            await run.close();
          }
        },
      ),
      runs(30),
    );
    // It would hold as well where nothing is ever booked.
    expect(bookings).toBeGreaterThan(0);
  },
  TIME_LIMIT_MS,
);
