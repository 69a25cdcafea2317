import type { Cancel } from "../time.ts";

/**
 * What processes that share one database agree on, and how they reach one another. Domain folders see only this page; alone
 * (`alone.ts`) and among several machines (`src/cluster/`) it behaves alike, so nobody asks which of both it is.
 */
export interface Cluster {
  /** Name of this process among the others; null: it is alone. */
  readonly node: string | null;
  readonly bus: Bus;
  readonly ownership: Ownership;
  readonly jobs: Jobs;
}

/** A kind of news. Whoever remembers rows declares one, beside what it remembers. */
export interface Topic<News> {
  readonly name: string;
  /** Never there: it ties the name to the type of its news. */
  readonly news?: News;
}

/** News of this kind are JSON: `defineTopic<{ accountId: string }>("keys")`. */
export const defineTopic = <News>(name: string): Topic<News> => ({ name });

/** A kind of question that only the owner of a number can answer. Both sides are JSON. */
export interface Question<Asked, Answered> {
  readonly name: string;
  /** Milliseconds for which an answer is waited. */
  readonly deadlineMs: number;
  readonly types?: { asked: Asked; answered: Answered };
}

/** `defineQuestion<{ refresh: boolean }, GroupList>("groups", 20_000)`. */
export const defineQuestion = <Asked, Answered>(
  name: string,
  deadlineMs: number,
): Question<Asked, Answered> => ({ name, deadlineMs });

/**
 * Carries news and questions. News are hints: they come at most once, soon, and perhaps never. The rows are the truth, and
 * whoever remembers something looks at them again when news may have been missed.
 */
export interface Bus {
  /**
   * Tells every other process, never this one. Neither waits nor throws.
   *
   * @param to name of the one node that it is for; default: all of them
   */
  tell<News>(topic: Topic<News>, news: News, to?: string): void;
  /** Hears of the others' news. @returns ends it */
  listen<News>(topic: Topic<News>, hear: (news: News) => void): Cancel;
  /** Called whenever news may have been missed, as after an outage: read again what is remembered. @returns ends it */
  onGap(reread: () => void): Cancel;
  /**
   * Resolves when all processes that hear have taken in what this one has told so far: whoever is asked next knows it. It waits for
   * a second at most, because one may stand still, and for nobody while Redis is away. Never rejects.
   */
  settle(): Promise<void>;
  /** What this process does before it counts as having taken in what it was told. Where it throws, it does not. @returns ends it */
  onSettle(takeIn: () => Promise<void>): Cancel;
  /**
   * Asks whoever has the number; when that is this process, its answer is called directly.
   *
   * @throws {GatewayError} UNAVAILABLE with `retryAfter` when nobody has it now, or no answer comes in time; whatever the
   *   owner has thrown
   */
  ask<Asked, Answered>(
    question: Question<Asked, Answered>,
    deviceId: number,
    asked: Asked,
  ): Promise<Answered>;
  /** How this process answers as the owner of a number. Once for each question. */
  answer<Asked, Answered>(
    question: Question<Asked, Answered>,
    reply: (deviceId: number, asked: Asked) => Promise<Answered>,
  ): void;
}

/** Which numbers this process has. One process has a number at a time; who has it may connect it and write for it. */
export interface Ownership {
  /** True while this process has the number, as far as its own clock tells: every write is asked of the database again. */
  owns(deviceId: number): boolean;
  /** Name of the node that has it as far as is known here; null: nobody. */
  ownerOf(deviceId: number): string | null;
  /** How many processes share the numbers, this one included. */
  nodes(): number;
  /** From now on `worker` is told of partitions that come and go; of those that this process has already at once. @returns ends it */
  follow(worker: OwnershipWorker): Cancel;
}

/** Whoever works for the numbers of partitions. Neither call throws or rejects. */
export interface OwnershipWorker {
  /** This process has them from now on. Resolves when their numbers are on their way. */
  gained(partitions: readonly number[]): Promise<void>;
  /**
   * It has them no longer, or is giving them away: connections are closed before this call returns. Resolves when what was
   * under way has ended, and nothing of their numbers is remembered. Whoever gives them away of its own accord waits for that
   * while `owns` still says yes and writes still pass; whoever has lost them does not wait.
   */
  lost(partitions: readonly number[]): Promise<void>;
}

/**
 * Work that needs no connection of a number, for whichever process is free. A job is an id: what it is about stands in rows,
 * which are claimed there. Jobs are hints: they may be lost, or come twice, and whoever gives work to others looks for what
 * was left of it.
 */
export interface Jobs {
  /**
   * Some process handles this once; while a job of the same kind and id waits or is handled, another one adds nothing.
   *
   * @param kind letters
   * @returns false when nobody will be told: alone, or while Redis does not answer. Whoever asked does it himself.
   */
  add(kind: string, id: string, options?: { delayMs?: number }): Promise<boolean>;
  /** Takes jobs of this kind from now on, so many at the same time. Alone there are none. Once for each kind. */
  work(kind: string, handle: (id: string) => Promise<void>, options: { concurrency: number }): void;
}

/** Among all processes: so many numbers that log in at once are nothing that WhatsApp would wonder about. */
const LOGINS_PER_SECOND = 50;
/** Of one process, however few they are: a handshake takes 25 ms of its CPU. */
const FASTEST_LOGINS_PER_SECOND = 20;

/**
 * Numbers of one process that log in within a second. By how many share them, and not by what it has of them: one that has just
 * come has little, and is given its share as fast as this.
 */
export const loginsPerSecond = (nodes: number): number =>
  Math.min(FASTEST_LOGINS_PER_SECOND, LOGINS_PER_SECOND / Math.max(1, nodes));

/** Numbers are owned by the partition, so that many numbers cost few leases. */
export const PARTITIONS = 256;

/** Ids are given in turn, so partitions stay equally large. */
export const partitionOf = (deviceId: number): number => deviceId % PARTITIONS;
