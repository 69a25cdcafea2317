import type { Logger } from "../log.ts";
import { SECOND_MS, type Time } from "../model/time.ts";

/** A look at the database, again and again. */
export interface Heartbeat {
  /** The first look; resolves when it is through, whatever came of it. */
  start(): Promise<void>;
  /** Looks now, and not when it would be time. */
  hurry(): void;
  /** The database has just come back, and the other nodes may not have noticed yet. */
  isRecovering(): boolean;
  /** No look begins after this; resolves when the last one is through. */
  stop(): Promise<void>;
}

interface HeartbeatDeps {
  leaseMs: number;
  time: Time;
  log: Logger;
  /**
   * May be called while another is under way that is late.
   *
   * @returns milliseconds, counted from when it was sent, until something else than the next renewal is to be looked at
   */
  beat(): Promise<number>;
}

/** A node looks three times in the length of a lease. */
const LOOKS = 3;
/** Parts of a lease: until a look that failed is tried again; how long an outage is that all nodes notice. */
const RETRY = 1 / 15;
const OUTAGE = 1 / 6;
/** Never more often than this. */
const SHORTEST_MS = 20;

class Late extends Error {
  constructor() {
    super("no answer for a third of a lease");
  }
}
const late = (): Error => new Late();

/** Looks at the database until it is stopped; says once that it does not answer, and once that it does. */
export function createHeartbeat({ leaseMs, time, log, beat }: HeartbeatDeps): Heartbeat {
  const stopping = new AbortController();
  let pause = new AbortController();
  let running: Promise<void> = Promise.resolve();
  /** Since when the database has not answered; null: it does. */
  let failingSince: number | null = null;
  let recoveringUntil = 0;

  async function look(): Promise<number> {
    const sentAt = time.monotonic();
    const answer = beat();
    // An answer that comes later still counts, while the next is asked for.
    answer.then(answered, () => undefined);
    try {
      const soonest = await time.deadline(leaseMs / LOOKS, answer, late);
      return Math.min(leaseMs / LOOKS, soonest) - (time.monotonic() - sentAt);
    } catch (error) {
      failed(error);
      return error instanceof Late ? 0 : Math.min(SECOND_MS, leaseMs * RETRY);
    }
  }

  function answered(): void {
    if (failingSince === null) return;
    const awayMs = Math.round(time.monotonic() - failingSince);
    failingSince = null;
    log.info({ awayMs }, "the database answers this node again");
    // All others come back as well, each to the numbers that it had.
    if (awayMs > leaseMs * OUTAGE) recoveringUntil = time.monotonic() + leaseMs / LOOKS;
  }

  function failed(err: unknown): void {
    if (failingSince !== null || stopping.signal.aborted) return;
    failingSince = time.monotonic();
    log.warn(
      { err },
      "the database does not answer this node; the node keeps its numbers until its leases end",
    );
  }

  async function run(first: number): Promise<void> {
    let waitMs = first;
    while (!stopping.signal.aborted) {
      await time.pause(Math.max(SHORTEST_MS, waitMs), AbortSignal.any([pause.signal, stopping.signal]));
      if (stopping.signal.aborted) return;
      pause = new AbortController();
      waitMs = await look();
    }
  }

  return {
    async start() {
      running = run(await look());
    },
    hurry: () => pause.abort(),
    isRecovering: () => failingSince !== null || time.monotonic() < recoveringUntil,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
