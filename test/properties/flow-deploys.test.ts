import { expect, it } from "vitest";
import { FlowDeploys, type Outcome } from "./flow-deploys.ts";
import { TIME_LIMIT_MS } from "./runs.ts";

const SEEDS = [1, 2, 3, 4];
// The long form: 400 conversations over 20 edits of each of 4 flows (`PROPERTY_RUNS=400`).
const LONG = process.env["PROPERTY_RUNS"] !== undefined;
const CAMPAIGN = LONG ? { edits: 20, peopleForEach: 5 } : { edits: 8, peopleForEach: 2 };

it(
  "whoever is in the middle of a flow that is edited gets what fits what they were shown, once, as bots check has said",
  async () => {
    const rows: Outcome[] = [];
    for (const seed of SEEDS) rows.push(await new FlowDeploys(seed).run(CAMPAIGN));
    if (LONG) console.table(rows.map(({ foreseen, ...row }) => ({ ...row, ...foreseen })));
    const conversations = SEEDS.length * CAMPAIGN.edits * CAMPAIGN.peopleForEach;
    expect(rows.reduce((sum, row) => sum + row.bookings, 0)).toBe(conversations);
    // It would hold as well where every edit fits.
    const outcomes = new Set(rows.flatMap(({ foreseen }) => Object.keys(foreseen)));
    const expected = ["goes_on", "asked_new", ...(LONG ? ["asked_again", "does"] : [])];
    expect([...outcomes]).toEqual(expect.arrayContaining(expected));
  },
  TIME_LIMIT_MS,
);
