import { afterEach, beforeEach, describe, expect, it } from "vitest";
import clinic from "../../bots/clinic.ts";
import restaurant from "../../bots/restaurant.ts";
import { startStandIns, type StandIns } from "../../src/demo/stand-ins.ts";
import { createSafeFetch } from "../../src/net/safe-fetch.ts";
import { startBots, type BotHarness, type Bots } from "../unit/bot/harness.ts";

let standIns: StandIns;
beforeEach(async () => {
  standIns = await startStandIns();
});
afterEach(() => standIns.close());

const startWith = (bots: Bots, setting: string): Promise<BotHarness> =>
  startBots(bots, {
    http: createSafeFetch({ allowPrivateNetwork: true }),
    config: { [setting]: standIns.settings[setting] },
  });

describe("the stand-ins of the demo", () => {
  it("let the clinic's flow be seen, and a time is booked once", async () => {
    const bots = await startWith({ clinic }, "diaryUrl");
    for (const words of ["appointment", "1", "Ana Mora"]) await bots.say(words);
    const [, , offered] = bots.heard();
    expect(offered).toMatch(/^Which time\?\n\n1\. .* at 09:00\n2\. /);
    const first = offered!.split("\n")[2]!;
    for (const words of ["1", "yes"]) await bots.say(words);
    expect(bots.heard().at(-1)).toMatch(/^Done: .* at 09:00\.$/);
    for (const words of ["move"]) await bots.say(words);
    expect(bots.heard().join()).not.toContain(first.slice(3));
  });

  it("let the restaurant's be seen", async () => {
    const bots = await startWith({ restaurant }, "kitchenUrl");
    for (const words of ["table", "4 people", "1"]) await bots.say(words);
    expect(bots.heard().at(-1)).toBe("A table for 4. See you!");
    for (const words of ["food", "1", "two", "4", "address", "12 Harbour Street"]) await bots.say(words);
    expect(bots.heard().at(-1)).toMatch(/Thank you! Please pay here: https:\/\/pay\.example\/1$/);
  });

  it("refuse what they do not know", async () => {
    const { diaryUrl } = standIns.settings;
    expect((await fetch(`${diaryUrl}/else`)).status).toBe(404);
    expect((await fetch(diaryUrl!, { method: "POST", body: "x".repeat(70_000) })).status).toBe(404);
  });
});
