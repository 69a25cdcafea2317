import type { Logger } from "../../log.ts";
import { PARTITIONS, type Cluster } from "../../model/nodes/cluster.ts";
import { createLru } from "../../model/lru.ts";
import { MINUTE_MS, SECOND_MS, type Cancel } from "../../model/time.ts";
import type { Store } from "../../store/store.ts";
import type { MessageName } from "./handed-over.ts";
import type { NumberOutbox } from "../sending/number-outbox.ts";
import type { Settled } from "./submit.ts";
import { ENDED, STORED, WAKES, WAKES_AT_ONCE, wakesTaken } from "./wakes.ts";

interface OnBehalfDeps {
  cluster: Cluster;
  store: Pick<Store, "read" | "writer" | "time">;
  log: Logger;
  config: { sendWaitMs: number };
  /** True while a phone has it linked. */
  isLinked(deviceId: number): boolean;
}

/** What this node sends for others: they have stored it, and wait for what becomes of it. */
export interface OnBehalf {
  /** A request on another node waits for the outcome of this message. */
  awaits(message: MessageName): boolean;
  /** Whoever waits on another node is told. */
  settled(message: MessageName, outcome: Settled): void;
  /** @param opened whom messages are brought to */
  start(opened: Opened): void;
  stop(): void;
}

/** What a number of this node is to send; null: it is not open here. */
type Opened = (deviceId: number) => Pick<NumberOutbox, "bring" | "holds" | "abandon"> | null;

/** How often wake-ups are looked for that no news have told of. */
const SWEEP_MS = 2 * SECOND_MS;
/**
 * How long nothing is looked for after the database was away: who was told then that nothing was stored takes it back first, in
 * case it was.
 */
const AFTER_OUTAGE_MS = 10 * SECOND_MS;
const MOST_AWAITED = 100_000;
const NUMBERS_AT_ONCE = 20;

/** Nothing is done where the process is alone. */
export function createOnBehalf(deps: OnBehalfDeps): OnBehalf {
  const { cluster, store } = deps;
  const { node, bus, ownership } = cluster;
  /** Nodes that wait, by message. */
  const awaited = createLru<string, string>(MOST_AWAITED, deps.config.sendWaitMs + MINUTE_MS);
  const ends: Cancel[] = [];
  let opened: Opened | null = null;

  function settled(message: MessageName, outcome: Settled | null): void {
    const waiting = awaited.get(keyOf(message));
    if (waiting === undefined) return;
    awaited.delete(keyOf(message));
    const { deviceId, waId } = message;
    bus.tell(ENDED, { deviceId, waId, outcome }, waiting);
  }

  /** @returns whether all that other nodes have stored for the number is in its sender's hands, or has ended */
  async function take(deviceId: number): Promise<boolean> {
    const own = ownership.owns(deviceId) ? opened?.(deviceId) : null;
    if (!own) return false;
    if (deps.isLinked(deviceId)) return await own.bring();
    // Whoever stored it has not heard yet that no phone has the number any more.
    return await own.abandon().then(
      () => true,
      () => false,
    );
  }

  function forget(wakes: number[]): void {
    if (wakes.length === 0) return;
    // One that stays is taken once more, and finds nothing to do.
    store.writer.soon([wakesTaken(wakes)], { owning: null }).catch(() => undefined);
  }

  async function stored(news: { deviceId: number; waIds: string[]; wake: number | null; node: string }) {
    const { deviceId, waIds, wake } = news;
    for (const waId of waIds) awaited.set(keyOf({ deviceId, waId }), news.node);
    if (!(await take(deviceId))) return;
    if (wake !== null) forget([wake]);
    // What has ended by now was brought by an earlier look, and nobody was told.
    const own = opened?.(deviceId);
    for (const waId of waIds) if (own && !own.holds(waId)) settled({ deviceId, waId }, null);
  }

  const sweep = createSweep(deps, take);

  return {
    awaits: (message) => awaited.has(keyOf(message)),
    settled,
    start(given) {
      opened = given;
      if (node === null) return;
      ends.push(
        bus.listen(STORED, (news) => void stored(news)),
        bus.onGap(() => void sweep()),
        store.time.every(SWEEP_MS, () => void sweep()),
      );
    },
    stop() {
      for (const end of ends.splice(0)) end();
    },
  };
}

const keyOf = ({ deviceId, waId }: MessageName): string => `${deviceId}:${waId}`;

/**
 * Looks for wake-ups of this node's numbers that no news have told of; one look at a time. Never rejects.
 *
 * @param take gives a number's sender all that was stored for it; false when it could not
 */
function createSweep(
  { cluster: { ownership }, store, log }: Pick<OnBehalfDeps, "cluster" | "store" | "log">,
  take: (deviceId: number) => Promise<boolean>,
): () => Promise<void> {
  let sweeping = false;
  let quietUntil = 0;

  async function takeAll(wakes: { id: number; deviceId: number }[]): Promise<boolean> {
    const numbers = [...new Set(wakes.map(({ deviceId }) => deviceId))];
    const taken = new Set<number>();
    for (let from = 0; from < numbers.length; from += NUMBERS_AT_ONCE) {
      const some = numbers.slice(from, from + NUMBERS_AT_ONCE);
      await Promise.all(some.map(async (deviceId) => (await take(deviceId)) && taken.add(deviceId)));
    }
    const ids = wakes.filter(({ deviceId }) => taken.has(deviceId)).map(({ id }) => id);
    if (ids.length > 0) await store.writer.commit([wakesTaken(ids)], { owning: null });
    return taken.size === numbers.length;
  }

  return async () => {
    if (sweeping || store.time.monotonic() < quietUntil) return;
    sweeping = true;
    try {
      const own = Array.from({ length: PARTITIONS }, (_, p) => p).filter((p) => ownership.owns(p));
      let isMore = own.length > 0;
      while (isMore) {
        const wakes = await store.read(WAKES, [JSON.stringify(own)]);
        // Those that could not be taken are there again at the next look.
        isMore = (await takeAll(wakes)) && wakes.length === WAKES_AT_ONCE;
      }
    } catch (error) {
      quietUntil = store.time.monotonic() + AFTER_OUTAGE_MS;
      log.debug({ err: error }, "could not look for sends of other nodes");
    } finally {
      sweeping = false;
    }
  };
}
