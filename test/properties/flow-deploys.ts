import assert from "node:assert/strict";
import { createRegistry } from "../../src/bot/files/registry.ts";
import { lookAhead } from "../../src/bot/forecast/look-ahead.ts";
import type { ConversationForecast } from "../../src/bot/forecast/types.ts";
import { startBots, type BotHarness } from "../unit/bot/harness.ts";
import { listeningLog } from "../unit/bot/messages.ts";
import { FlowPerson, type Seen } from "./flow-person.ts";
import { botOf, edited, type Edit, type Got, type Question } from "./flow-spec.ts";

/** How many edits a flow gets, and how many people begin before each of them. */
export interface Campaign {
  edits: number;
  peopleForEach: number;
}

/** What became of the conversations of one flow. */
export interface Outcome {
  conversations: number;
  bookings: number;
  /** Messages after a deploy, by what `bots check` had said of their conversations. */
  foreseen: Record<string, number>;
}

interface Somebody {
  number: number;
  person: FlowPerson;
  /** Of the newest code, when they have not written since. */
  forecast: ConversationForecast | null;
  /** What was written and answered, and when the code changed: for whoever reads a failure. */
  told: string[];
}

const KINDS = ["text", "number", "choice", "choose", "confirm"] as const;
const CHANGES = ["add", "remove", "reword", "rename", "mention", "move", "options"] as const;
const FIRST = 4_915_300_000;

/** The same numbers for the same seed (mulberry32). @returns whole numbers from 0, below the limit */
function chance(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
}

function randomEdit(random: (limit: number) => number, only?: "add"): Edit {
  const change = only ?? CHANGES[random(CHANGES.length)]!;
  const at = random(100);
  if (change === "add")
    return {
      do: change,
      at,
      kind: KINDS[random(KINDS.length)]!,
      options: random(100),
      mentions: random(100),
    };
  if (change === "move") return { do: change, at, to: random(100) };
  return change === "options" ? { do: change, at, options: random(100) } : { do: change, at };
}

/** One flow that is edited again and again under people who are in the middle of it, each edit after a kill. */
export class FlowDeploys {
  readonly #random: (limit: number) => number;
  #questions: Question[] = [];
  #ids = 0;
  #bots!: BotHarness;
  readonly #people: Somebody[] = [];
  readonly #booked: Got[][] = [];
  readonly #foreseen: Record<string, number> = {};

  constructor(seed: number) {
    this.#random = chance(seed);
  }

  async run({ edits, peopleForEach }: Campaign): Promise<Outcome> {
    for (let count = 0; count < 4; count++) this.#change(randomEdit(this.#random, "add"));
    this.#bots = await startBots({ shop: this.#bot() }, { env: { LOOP_GUARD_PER_MINUTE: "0" } });
    for (let edit = 0; edit < edits; edit++) {
      for (let count = 0; count < peopleForEach; count++) await this.#begin();
      await this.#deploy();
      for (const one of this.#people)
        if (one.person.open !== null && this.#random(3) > 0) await this.#answer(one);
      if (this.#random(2) === 0) await this.#bots.kill({ shop: this.#bot() });
    }
    for (const one of this.#people) await this.#finish(one);
    // Everybody has begun once, and has what they wanted once.
    for (const { number, person } of this.#people)
      assert.deepEqual({ number, bookings: person.bookings }, { number, bookings: 1 });
    const bookings = this.#people.reduce((sum, { person }) => sum + person.bookings, 0);
    return { conversations: this.#people.length, bookings, foreseen: this.#foreseen };
  }

  #change(edit: Edit): void {
    this.#questions = edited(this.#questions, edit, () => `q${++this.#ids}`);
  }

  #bot() {
    return botOf(this.#questions, (got) => void this.#booked.push(got));
  }

  async #begin(): Promise<void> {
    const one: Somebody = {
      number: FIRST + this.#people.length,
      person: new FlowPerson(),
      forecast: null,
      told: [],
    };
    this.#people.push(one);
    await this.#write(one, "go");
    for (let answers = this.#random(this.#questions.length); answers > 0; answers--)
      if (one.person.open !== null) await this.#answer(one);
  }

  /** The new code is looked at beside the old, and takes its place after a kill. */
  async #deploy(): Promise<void> {
    this.#change(randomEdit(this.#random));
    const bots = { shop: this.#bot() };
    const registry = createRegistry([{ id: "shop", file: "shop", exported: bots.shop }], listeningLog().log);
    const each = new Map<string, ConversationForecast>();
    const onEach = (one: ConversationForecast): void => void each.set(one.scope.split("@")[0]!, one);
    await lookAhead(this.#bots.run.store, { registry, locales: new Map() }, { onEach });
    for (const one of this.#people) {
      one.forecast = each.get(String(one.number)) ?? null;
      one.told.push(`(deploy: ${JSON.stringify(this.#questions)})`);
      assert.equal(
        one.forecast === null,
        one.person.open === null,
        "bots check has seen who is in the middle",
      );
    }
    await this.#bots.kill(bots);
  }

  async #answer(one: Somebody): Promise<void> {
    const { person, forecast } = one;
    const before = person.open!;
    const bookings = person.bookings;
    const texts = await this.#write(one, person.words(this.#random(100)));
    one.forecast = null;
    if (forecast === null) return;
    this.#foreseen[forecast.outcome] = (this.#foreseen[forecast.outcome] ?? 0) + 1;
    const hasBooked = person.bookings > bookings;
    const isRight = this.#isAs(forecast, before, { open: person.open, texts, hasBooked });
    assert.ok(isRight, `${JSON.stringify(forecast)}, and then ${JSON.stringify({ before, texts })}`);
  }

  #isAs(
    { outcome, key }: ConversationForecast,
    before: Seen,
    after: { open: Seen | null; texts: readonly string[]; hasBooked: boolean },
  ): boolean {
    const { open, texts, hasBooked } = after;
    if (outcome === "does") return hasBooked;
    if (outcome === "asked_again" || outcome === "asked_new")
      return open !== null && this.#questions.find(({ id }) => id === open.id)?.key === key;
    // The same is not asked in the same way: the answer was taken, or what it was given to is worded otherwise by now.
    const isSame =
      open?.id === before.id &&
      open.text === before.text &&
      JSON.stringify(open.options) === JSON.stringify(before.options);
    return outcome === "goes_on" && (!isSame || texts.some((text) => text.includes("no longer available")));
  }

  async #write(one: Somebody, words: string): Promise<string[]> {
    await this.#bots.say(words, one.number);
    const texts = this.#bots.heard();
    const booked = this.#booked.splice(0);
    one.told.push(
      `> ${words}`,
      ...texts.map((text) => text.replaceAll("\n", " ")),
      ...booked.map((got) => JSON.stringify(got)),
    );
    try {
      one.person.hears(texts, booked, this.#questions);
    } catch (error) {
      throw new Error(one.told.join("\n"), { cause: error });
    }
    return texts;
  }

  async #finish(one: Somebody): Promise<void> {
    for (let turn = 0; turn < 60 && one.person.open !== null; turn++) await this.#answer(one);
    assert.equal(one.person.open, null, "the conversation has no end");
  }
}
