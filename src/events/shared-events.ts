import { randomBytes } from "node:crypto";
import type { Logger } from "../log.ts";
import { defineTopic, type Cluster } from "../model/nodes/cluster.ts";
import { createLru } from "../model/lru.ts";
import { MINUTE_MS, SECOND_MS, type Time } from "../model/time.ts";
import type { Store } from "../store/store.ts";
import type { AccountEvent } from "./event.ts";
import type { Events } from "./events.ts";
import type { Feed } from "./feed.ts";
import { createHeardAccounts, LEFT_ALONE_MS } from "./heard.ts";
import { createIdClock, type IdClock } from "./id-clock.ts";
import type { EventStreams, StreamEntry } from "./stream.ts";
import { createTelling, type Telling } from "./telling.ts";

interface SharedEventsDeps {
  store: Pick<Store, "box" | "time" | "now">;
  cluster: Pick<Cluster, "bus">;
  streams: EventStreams;
  log: Pick<Logger, "warn">;
}

const contextOf = (accountId: string): string => `events:${accountId}`;

/** Somebody listens to these accounts: whoever knows of something that happens to them tells of it. */
const LISTENED = defineTopic<string[]>("listened");
/** So often nodes say what is listened to at them, and look at what is elsewhere. */
const SAY_EVERY_MS = 10 * SECOND_MS;
/** What was said of an account long ago, and is not said again, holds no more. */
const SAID_FOR_MS = 5 * MINUTE_MS;
const MOST_ACCOUNTS = 100_000;
const MOST_TOKENS = 10_000;
const MOST_TELLINGS = 1_000;

/** What lies in the stream: an event without its id, and who has told of it. */
interface Told extends Omit<AccountEvent, "id"> {
  token: string;
}

/**
 * What happens to an account at any node, for whoever listens at any node: one stream in Redis gives the order and the ids.
 * Without Redis a node tells its own listeners what happens at it, under ids that fit in between.
 */
export function createSharedEvents({ store, cluster, streams, log }: SharedEventsDeps): Events {
  const { time } = store;
  const { bus } = cluster;
  const listened = createLru<string, true>(MOST_ACCOUNTS, SAID_FOR_MS);
  const clock = createIdClock(store);
  const entries = createEntries(store.box, log);
  const heard = createHeardAccounts({
    streams,
    time,
    clock,
    opened: entries.opened,
    onFirst(accountId) {
      listened.set(accountId, true);
      // Redis passes it on before it answers what comes behind it: the others know when that is there.
      bus.tell(LISTENED, [accountId]);
    },
  });
  const tellings = createTellings(tellEvent({ streams, time, clock, entries, feedOf: heard.feedOf }));

  const hasListeners = (accountId: string): boolean =>
    heard.has(accountId) || (listened.size > 0 && listened.has(accountId));

  async function sayAll(): Promise<void> {
    const mine = heard.ids();
    if (mine.length > 0) bus.tell(LISTENED, mine);
    await heard.sayAll();
    for (const accountId of await streams.listened()) listened.set(accountId, true);
  }
  const sayQuietly = (): void => void sayAll().catch(() => undefined);

  const ends = [
    bus.listen(LISTENED, (others) => {
      for (const accountId of others) listened.set(accountId, true);
    }),
    bus.onGap(sayQuietly),
    time.every(SAY_EVERY_MS, sayQuietly),
  ];
  sayQuietly();

  return {
    hasListeners,
    publish(accountId, happening) {
      if (hasListeners(accountId)) tellings.of(accountId).publish(happening);
    },
    read: heard.read,
    stop() {
      for (const end of ends) end();
      heard.stop();
    },
  };
}

/** What a node's events go through: into the stream, or past it while Redis is away. */
interface TellDeps {
  streams: EventStreams;
  time: Pick<Time, "monotonic">;
  clock: IdClock;
  entries: Entries;
  /** Undefined: nobody listens to the account here. */
  feedOf(accountId: string): Feed | undefined;
}

function tellEvent({ streams, time, clock, entries, feedOf }: TellDeps) {
  let aloneUntil = Number.NEGATIVE_INFINITY;
  return async (accountId: string, event: Omit<AccountEvent, "id">): Promise<void> => {
    const { token, sealed } = entries.sealed(accountId, event);
    const floor = feedOf(accountId)?.lastId ?? 0;
    if (time.monotonic() >= aloneUntil)
      try {
        return clock.learn(await streams.append(accountId, sealed(), floor), floor);
      } catch {
        aloneUntil = time.monotonic() + LEFT_ALONE_MS;
      }
    entries.toldWithout(token);
    const feed = feedOf(accountId);
    feed?.push({ id: Math.max(feed.lastId + 1, clock.now()), ...event });
  };
}

/** One for each account that something happens to. */
function createTellings(tell: (accountId: string, event: Omit<AccountEvent, "id">) => Promise<void>) {
  const tellings = new Map<string, Telling>();
  return {
    of(accountId: string): Telling {
      const known = tellings.get(accountId);
      if (known !== undefined) return known;
      // Those that need nobody any more make room.
      if (tellings.size >= MOST_TELLINGS)
        for (const [idle, telling] of tellings) if (telling.isIdle) tellings.delete(idle);
      const made = createTelling({ tell: (event) => tell(accountId, event), leaveOut: () => undefined });
      tellings.set(accountId, made);
      return made;
    },
  };
}

/** Events as they lie in the stream. */
type Entries = ReturnType<typeof createEntries>;

function createEntries(box: Store["box"], log: Pick<Logger, "warn">) {
  /** Events that were told without Redis, and may be in it all the same: its answer was lost. */
  const without = createLru<string, true>(MOST_TOKENS);

  /** Null when it does not open: somebody else has written it. */
  function openedOne(accountId: string, { id, sealed }: StreamEntry): AccountEvent | null {
    try {
      const { token, ...event } = box.openJson<Told>(sealed, contextOf(accountId));
      return without.has(token) ? null : { id, ...event };
    } catch (error) {
      log.warn({ err: error, account: accountId }, "could not decrypt an event from another node");
      return null;
    }
  }

  return {
    sealed(accountId: string, event: Omit<AccountEvent, "id">) {
      const token = randomBytes(9).toString("base64url");
      const sealed = () => box.sealJson({ ...event, token } satisfies Told, contextOf(accountId));
      return { token, sealed };
    },
    toldWithout: (token: string): void => void without.set(token, true),
    opened: (accountId: string, entries: StreamEntry[]): AccountEvent[] =>
      entries.flatMap((entry) => openedOne(accountId, entry) ?? []),
  };
}
