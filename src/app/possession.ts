import { Semaphore } from "async-mutex";
import type { Logger } from "../log.ts";
import { loginsPerSecond, partitionOf, type Cluster, type OwnershipWorker } from "../model/nodes/cluster.ts";
import { counted } from "../model/errors/error-sentences.ts";
import { backoffMs, SECOND_MS, type Cancel, type Time } from "../model/time.ts";
import type { Numbers } from "../numbers/numbers.ts";
import type { MessagePath } from "../path/path.ts";
import type { WhatsApp } from "../whatsapp/port.ts";

interface PossessionDeps {
  cluster: Cluster;
  log: Logger;
  time: Time;
  numbers: Pick<Numbers, "idsIn" | "take" | "begin" | "leave">;
  path: Pick<MessagePath, "open" | "close">;
  whatsapp: Pick<WhatsApp, "leave">;
  /** Who else remembers something of a number that only its owner may believe. */
  forgetful: { forget(deviceId: number): unknown }[];
  /** Who else reads something before the first message of a number that another process had. */
  rereading: { open(deviceId: number): Promise<void> }[];
  /** A number that another process had is open here. */
  onOpened(deviceId: number): void;
}

/** The numbers that this process has: which they are changes while it runs, when it is one of several. */
export interface Possession {
  /**
   * Works from now on for whatever it has. Resolves when what it has already is open, and on its way to WhatsApp.
   *
   * @throws StorageUnavailable alone; one of several tries again until its numbers are open, or not its own any more
   */
  start(): Promise<void>;
  /** There is another number in a partition of its own. Resolves when it is open, however often it is called. @throws StorageUnavailable alone */
  added(deviceId: number): Promise<void>;
  /** A commit, or a connection, has shown that another process has the number. */
  taken(deviceId: number): void;
  /** Milliseconds between two logins of this process. */
  loginEveryMs(): number;
  /** Follows no longer, and opens nothing more; nothing is closed. */
  stop(): void;
}

/** Numbers that are opened at the same time: each reads what it left. */
const OPENED_AT_ONCE = 8;
/** How long what closing connections brings is waited for. What comes later is brought again to the next owner. */
const CLOSING_MS = 2 * SECOND_MS;
/** A lease that was in doubt is settled by then. */
const LOOK_AGAIN_MS = 10 * SECOND_MS;

/**
 * What follows when partitions come and go. Of each partition one step is made after the other, so that a number that goes
 * and comes back at once is closed whole before it begins with its rows.
 */
export function createPossession(deps: PossessionDeps): Possession {
  const { cluster, log, time, numbers, path } = deps;
  const held = new Set<number>();
  const turns = new Map<number, Promise<void>>();
  /** Numbers for which everything is open. */
  const opened = new Set<number>();
  const opening = new Semaphore(OPENED_AT_ONCE);
  let unfollow: Cancel | null = null;
  let failure: unknown = null;

  function inTurn(partition: number, work: () => Promise<void>): Promise<void> {
    const done = (turns.get(partition) ?? Promise.resolve()).then(work);
    const settled = done.catch(report).finally(() => {
      if (turns.get(partition) === settled) turns.delete(partition);
    });
    turns.set(partition, settled);
    // Alone, whoever began it is told.
    return cluster.node === null ? done : settled;
  }

  function report(err: unknown): void {
    failure ??= err;
    if (cluster.node !== null) log.error({ err }, "could not take over or give away numbers");
  }

  async function openOne(deviceId: number): Promise<void> {
    // A request may have left something here while another process had the number.
    if (cluster.node !== null) {
      for (const part of deps.forgetful) await part.forget(deviceId);
      for (const part of deps.rereading) await part.open(deviceId);
    }
    await path.open(deviceId);
    opened.add(deviceId);
    if (cluster.node !== null) deps.onOpened(deviceId);
  }

  /** Until it is open, or not ours any more: a database that is away comes back. */
  async function openAll(partition: number, deviceIds: readonly number[]): Promise<void> {
    let left = [...deviceIds];
    for (let failures = 0; held.has(partition) && left.length > 0;) {
      try {
        const here = await numbers.take(left);
        for (const id of here) {
          if (!held.has(partition)) return;
          if (!opened.has(id)) {
            await opening.runExclusive(() => openOne(id));
            numbers.begin([id]);
          }
          left = left.filter((one) => one !== id);
        }
        return;
      } catch (err) {
        // Alone it is the start that fails.
        if (cluster.node === null) throw err;
        if (failures++ === 0) log.warn({ err, numbers: left.length }, "could not open numbers; retrying");
        await time.pause(backoffMs(failures));
      }
    }
  }

  async function close(deviceIds: readonly number[], closed: Promise<void>): Promise<void> {
    await time.within(CLOSING_MS, closed);
    // An opening that was under way may have brought some of them back.
    await time.within(CLOSING_MS, numbers.leave(deviceIds));
    deps.whatsapp.leave(deviceIds);
    for (const id of deviceIds) opened.delete(id);
    // Together: what is under way of one may take as long as a receiver takes to answer.
    await Promise.all(deviceIds.map(path.close));
    for (const id of deviceIds) for (const part of deps.forgetful) await part.forget(id);
  }

  /** Of partitions without a number nothing is to be done. */
  function byPartition(partitions: readonly number[]): Map<number, number[]> {
    const found = new Map<number, number[]>();
    for (const id of numbers.idsIn(partitions)) {
      const partition = partitionOf(id);
      const ids = found.get(partition);
      if (ids === undefined) found.set(partition, [id]);
      else ids.push(id);
    }
    return found;
  }

  const say = (what: string, partitions: readonly number[], found: Map<number, number[]>): void => {
    if (cluster.node === null) return;
    const count = [...found.values()].reduce((sum, ids) => sum + ids.length, 0);
    log.info(
      { partitions: partitions.length, numbers: count },
      `this node ${what} ${counted(count, "number")}`,
    );
  };

  const worker: OwnershipWorker = {
    async gained(partitions) {
      for (const partition of partitions) held.add(partition);
      const found = byPartition(partitions);
      say("now has", partitions, found);
      await Promise.allSettled(
        Array.from(found, ([partition, ids]) => inTurn(partition, () => openAll(partition, ids))),
      );
    },
    async lost(partitions) {
      for (const partition of partitions) held.delete(partition);
      const found = byPartition(partitions);
      const closed = numbers.leave([...found.values()].flat());
      say("no longer has", partitions, found);
      await Promise.all(Array.from(found, ([partition, ids]) => inTurn(partition, () => close(ids, closed))));
    },
  };

  async function added(deviceId: number): Promise<void> {
    const partition = partitionOf(deviceId);
    await inTurn(partition, () => openAll(partition, [deviceId]));
  }

  return {
    async start() {
      unfollow = cluster.ownership.follow(worker);
      await Promise.all(turns.values());
      if (cluster.node === null && failure !== null) throw failure;
    },
    added,
    taken(deviceId) {
      void numbers.leave([deviceId]);
      opened.delete(deviceId);
      time.after(LOOK_AGAIN_MS, () => {
        if (held.has(partitionOf(deviceId)) && cluster.ownership.owns(deviceId)) void added(deviceId);
      });
    },
    loginEveryMs: () => SECOND_MS / loginsPerSecond(cluster.ownership.nodes()),
    stop() {
      unfollow?.();
      held.clear();
    },
  };
}
