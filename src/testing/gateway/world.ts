import * as nodeTimers from "node:timers";
import type { Incoming } from "../../model/messages.ts";
import { commitIntake } from "../../store/write/intake.ts";
import { boolean, defineQuery } from "../../store/query.ts";
import type { Clock } from "./clock.ts";
import { DEVICE, type Run } from "./run.ts";
import type { Wire } from "./wire.ts";

// As they were before a test put clocks of its own in their place.
const { setImmediate: turn, setTimeout: later } = { ...nodeTimers };

interface WorldDeps {
  clock: Clock;
  wire: Wire;
  ownNumber: string;
  open(onEnd: () => void): Promise<Run>;
  /** Something that must fail the test, or null. */
  problem(): Error | null;
  /** Real milliseconds that a handler may keep a chat busy. */
  patienceMs: number;
}

/** The bot's end over all its runs: started, killed, started again on the same file. */
export interface World {
  run(): Promise<Run>;
  /** Hands messages over as a connection does; they are handed over again until they are stored. */
  receive(messages: Incoming[]): void;
  /**
   * Resolves when everything that came is decided and everything that was decided is sent.
   *
   * @param chat only this chat; null: all of them, and nothing is under way
   */
  settle(chat: string | null): Promise<void>;
  /** Moves the clock; whatever becomes due on the way happens on the way, in its order. */
  advance(ms: number): Promise<void>;
  /** Ends the run without a chance to write anything down, and starts the next. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

const PENDING = defineQuery(
  "SELECT 1 AS found FROM inbox WHERE state = 'pending' AND chat = coalesce(?, chat) LIMIT 1",
  { found: boolean() },
);
const QUEUED = defineQuery(
  "SELECT 1 AS found FROM outbox WHERE state = 'queued' AND chat = coalesce(?, chat) LIMIT 1",
  { found: boolean() },
);

/** Turns of the event loop without anything happening, after which a chat waits for the clock. */
const STILL = 25;
/** Pauses of bots and senders that a chat waits out by itself; longer ones are for `advance`. */
const LONGEST_PAUSE_MS = 60_000;

/** Starts the first run. A run that a crash ends is followed by the next by itself. */
export function createWorld(deps: WorldDeps): World {
  const { clock, wire, ownNumber } = deps;
  let failure: Error | null = null;
  let current: Promise<Run> = begin(null);
  let closed = false;

  async function begin(last: Promise<Run> | null): Promise<Run> {
    await (await last)?.end();
    let ended!: () => void;
    const end = new Promise<void>((resolve) => (ended = resolve));
    const run = await deps.open(() => {
      ended();
      if (!closed) current = current.then(() => begin(Promise.resolve(run)));
    });
    // A start may be where the run is ended; it then never resolves.
    await Promise.race([run.start(), end]);
    if (!run.life.over) for (const messages of wire.waiting) hand(run, messages);
    return run;
  }

  function hand(run: Run, messages: Incoming[]): void {
    commitIntake(run.store.writer, run.path.receive(DEVICE, ownNumber, messages)).then(
      () => wire.acknowledge(messages),
      (error: unknown) => {
        failure ??= error as Error;
      },
    );
  }

  async function settle(chat: string | null): Promise<void> {
    const deadline = performance.now() + deps.patienceMs;
    const reasonOf = look(deps, chat);
    let still = 0;
    for (let rounds = 0; ; rounds++) {
      await pause(rounds);
      const run = await current;
      const reason = await reasonOf(run);
      const problem = failure ?? deps.problem();
      if (problem !== null) throw problem;
      if (reason === null) return;
      still = run.life.inFlight > 0 ? 0 : still + 1;
      if (still > STILL && waitOut(clock, run)) still = rounds = 0;
      if (performance.now() > deadline) throw restless(reason, deps.patienceMs);
    }
  }

  async function advance(ms: number): Promise<void> {
    await settle(null);
    const end = clock.now() + ms;
    for (;;) {
      const run = await current;
      const next = run.waits.nextAt() ?? Infinity;
      if (next > end) break;
      clock.moveTo(next);
      run.waits.fireDue();
      await settle(null);
    }
    clock.moveTo(end);
    await settle(null);
  }

  return {
    run: () => current,
    receive(messages) {
      wire.offer(messages);
      void current.then((run) => !run.life.over && wire.waiting.includes(messages) && hand(run, messages));
    },
    settle,
    advance,
    async kill() {
      const run = await current;
      run.life.end();
      await current;
    },
    async close() {
      closed = true;
      await (await current).end();
    },
  };
}

/** For a chat that is still busy when the test's patience ends. */
const restless = (reason: string, patienceMs: number): Error =>
  new Error(
    `The chat does not come to rest: ${reason}, after ${patienceMs / 1000} s. Raise \`patienceMs\`, or resolve what the handler waits for.`,
  );

/** @returns what keeps the chat from being quiet, as far as the database knows; null when nothing does */
async function unrest(clock: Clock, { store, state }: Run, chat: string | null): Promise<string | null> {
  const pending = await store.readOne(PENDING, [chat]);
  if (pending !== null) return "a message has no decision: its handler has not returned";
  const queued = await store.readOne(QUEUED, [chat]);
  if (queued !== null) return "a reply has not left";
  const due = await state.dueTimers(DEVICE, clock.now(), 1);
  return due.length === 0 ? null : "a timer is due";
}

/** @returns asks the database again only when there may be something new */
function look(
  { wire, clock }: Pick<WorldDeps, "wire" | "clock">,
  chat: string | null,
): (run: Run) => Promise<string | null> {
  let known: { run: Run; commits: number; reason: string | null } | null = null;
  return async (run) => {
    const isWaiting = wire.waiting.flat().some(({ chatKey }) => chat === null || chatKey === chat);
    if (isWaiting) return "a message is not stored";
    const { commits } = run.life;
    if (known?.run !== run || known.commits !== commits)
      known = { run, commits, reason: await withEnd(run, unrest(clock, run, chat)) };
    return known.reason ?? (chat === null && run.life.inFlight > 0 ? "something is under way" : null);
  };
}

/**
 * Lets the time pass that something waits for: a burst to end, a next attempt. That time is nobody's: who looks begins anew, as
 * soon as the first time.
 */
function waitOut(clock: Clock, run: Run): boolean {
  const next = run.waits.nextAt();
  if (next === null || next > clock.now() + LONGEST_PAUSE_MS) return false;
  clock.moveTo(next);
  return run.waits.fireDue();
}

/** Null for a run that ended meanwhile: its database answers nobody. */
async function withEnd(run: Run, looked: Promise<string | null>): Promise<string | null> {
  let answer: { reason: string | null } | null = null;
  void looked.then((reason) => (answer = { reason }));
  for (let rounds = 0; ; rounds++) {
    if (answer !== null) return (answer as { reason: string | null }).reason;
    if (run.life.over) return "it is being started again";
    await pause(rounds);
  }
}

/** Spins at first: what a bot does takes a few turns. A handler that waits for something real costs no CPU. */
function pause(rounds: number): Promise<void> {
  return new Promise((resolve) =>
    rounds < 200 ? void turn(resolve) : void later(resolve, Math.min(20, rounds / 100)),
  );
}
