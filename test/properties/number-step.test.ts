import * as fc from "fast-check";
import { expect, it } from "vitest";
import {
  isLinked,
  lifeAtStart,
  nextRetryAt,
  shownState,
  step,
  type Life,
  type LifeEvent,
} from "../../src/numbers/life.ts";
import type { Closed } from "../../src/whatsapp/port.ts";
import type { LinkState } from "../../src/numbers/link.ts";
import { FOREIGN, OWN } from "./number-run.ts";
import { runs } from "./runs.ts";

const STATES: LinkState[] = [
  ...(["unlinked", "linking", "connecting", "connected", "logged_out"] as const),
  ...(["blocked", "replaced", "action_required"] as const),
];
/** After these nobody connects again before the number's owner asks for it. */
const FINAL = new Set([401, 403, 411, 419, 440]);

const who = (number: string) => ({ number, lid: null, name: null, platform: null });
const scanned = fc.constantFrom(OWN, OWN, FOREIGN);
const events: fc.Arbitrary<LifeEvent> = fc.oneof(
  fc.boolean().map((force): LifeEvent => ({ type: "asked", force })),
  scanned.map((number): LifeEvent => ({ type: "accepted", own: OWN, who: who(number), at: 1 })),
  scanned.map((number): LifeEvent => ({ type: "opened", own: OWN, who: who(number) })),
  fc
    .tuple(
      fc.constantFrom(0, 401, 403, 405, 408, 411, 419, 428, 440, 500, 503, 515),
      fc.boolean(),
      fc.double({ min: 0, max: 1, noNaN: true }),
    )
    .map(([code, abandoned, random]): LifeEvent => {
      return { type: "closed", how: { code, reason: "" }, at: 1_000, random, abandoned };
    }),
  fc
    .constantFrom("connect", "due", "steady", "refused", "logout", "loggedOut", "rerouted")
    .map((type) => ({ type }) as LifeEvent),
);
const starts = fc
  .tuple(fc.constantFrom(...STATES), fc.boolean())
  .map(([state, linked]) => lifeAtStart(state, linked));

/** A connection is there, or on its way. */
const hasConnection = (life: Life): boolean =>
  life.phase === "connecting" ||
  life.phase === "open" ||
  (life.phase === "refusing" && life.line === "connecting");

/** What is wrong with a step, in words. */
function faults(before: Life, event: LifeEvent): string[] {
  const { state, effects } = step(before, event);
  const done = effects.map((effect) => effect.do);
  const found: string[] = [];
  const wrong = (isWrong: boolean, what: string): void => void (isWrong && found.push(what));
  wrong(done.includes("open") && !hasConnection(state), "a connection is made where none should be");
  wrong(
    hasConnection(state) && !hasConnection(before) && !done.includes("open"),
    "nobody makes its connection",
  );
  wrong(done.filter((what) => what === "open").length > 1, "two connections");
  wrong(done.includes("open") && done.includes("retry"), "a retry is planned beside a connection");
  wrong(
    done.includes("retry") !== (nextRetryAt(state) !== null && state !== before),
    "a retry that nobody plans, or none that is planned",
  );
  wrong(
    hasConnection(before) &&
      !hasConnection(state) &&
      !done.some((what) => ["leave", "refuse", "logout"].includes(what)),
    "a connection is left behind",
  );
  wrong((shownState(state) === "connected") !== (state.phase === "open"), "shown as connected and is not");
  wrong(shownState(state) === "linking" && isLinked(state), "a QR for a number that is linked");
  wrong(
    isLinked(before) &&
      !isLinked(state) &&
      state.phase !== "refusing" &&
      !done.some((what) => ["erase", "refuse", "logout"].includes(what)),
    "credentials are left",
  );
  const isFinal = event.type === "closed" && FINAL.has(event.how.code) && hasConnection(before);
  wrong(
    isFinal && before.phase !== "refusing" && (state.phase !== "resting" || done.includes("retry")),
    "back by itself",
  );
  wrong(
    before.phase === "resting" &&
      state.phase !== "resting" &&
      !["asked", "connect", "logout"].includes(event.type),
    "left its rest unasked",
  );
  wrong(
    before.phase === "refusing" && (state.phase === "open" || isLinked(state)),
    "a foreign number was let in",
  );
  wrong(
    before.phase === "leaving" && state !== before && event.type !== "loggedOut",
    "called back from its logout",
  );
  return found;
}

/** What the runner does about effects that end by themselves, and then somebody who asks until a QR or the number is there. */
function comesBack(life: Life): Life {
  let now = life;
  const then = (event: LifeEvent): void => void (now = step(now, event).state);
  for (let round = 0; round < 10 && now.phase !== "open"; round++) {
    if (now.phase === "leaving") then({ type: "loggedOut" });
    if (now.phase === "refusing" && now.line === "connecting")
      then({ type: "opened", own: OWN, who: who(FOREIGN) });
    then({ type: "due" });
    then({ type: "refused" });
    then({ type: "asked", force: true });
    if (now.phase === "connecting" && !now.linked) then({ type: "accepted", own: OWN, who: who(OWN), at: 1 });
    then({ type: "opened", own: OWN, who: who(OWN) });
  }
  return now;
}

it("a step never contradicts itself, whatever happened before, and every number can be linked", () => {
  fc.assert(
    fc.property(starts, fc.array(events, { maxLength: 60, size: "max" }), (start, happened) => {
      let life = start;
      for (const event of happened) {
        expect(faults(life, event)).toEqual([]);
        life = step(life, event).state;
      }
      expect(comesBack(life).phase).toBe("open");
    }),
    runs(3_000),
  );
});

/** The longest wait that may follow a close, and what the number's life is then. */
function closedIn(life: Life, how: Closed): { life: Life; waitMs: number } {
  const { state } = step(life, { type: "closed", how, at: 0, random: 1, abandoned: false });
  return { life: state, waitMs: nextRetryAt(state)! };
}

it("a line that was open is back in seconds however often it is closed; one that never opens waits longer each time", () => {
  const opened: LifeEvent = { type: "opened", own: OWN, who: who(OWN) };
  let life: Life = lifeAtStart("connected", true);
  const back = (): Life => step(step(life, { type: "due" }).state, opened).state;
  for (const code of [
    428, 500, 503, 408, 0, 428, 500, 503, 408, 0, 428, 500, 503, 408, 0, 428, 500, 503, 408, 0,
  ]) {
    const closed = closedIn(back(), { code, reason: "" });
    expect(closed.waitMs).toBeLessThanOrEqual(3_000);
    life = closed.life;
  }

  const waits: number[] = [];
  for (let time = 0; time < 6; time++) {
    const closed = closedIn(step(life, { type: "due" }).state, { code: 408, reason: "" });
    waits.push(closed.waitMs);
    life = closed.life;
  }
  expect(waits).toEqual([4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  expect(closedIn(back(), { code: 429, reason: "" }).waitMs).toBe(60_000);
});

it("a line that the gateway itself has to end again and again waits longer each time", () => {
  let life: Life = lifeAtStart("connected", true);
  const waits: number[] = [];
  for (let time = 0; time < 4; time++) {
    life = step(step(life, { type: "due" }).state, { type: "opened", own: OWN, who: who(OWN) }).state;
    const closed = closedIn(life, { code: 503, reason: "", byUs: true });
    waits.push(closed.waitMs);
    life = closed.life;
  }
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000]);
});

it("an event that means nothing now changes nothing", () => {
  const open: Life = { phase: "open", attempt: 2 };
  for (const type of ["due", "refused", "loggedOut"] as const)
    expect(step(open, { type })).toEqual({ state: open, effects: [] });
  expect(step(open, { type: "asked", force: true })).toEqual({ state: open, effects: [] });
});
