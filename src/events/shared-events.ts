import { randomBytes } from "node:crypto";
import type { Logger } from "../log.ts";
import { defineTopic, type Cluster } from "../model/nodes/cluster.ts";
import { createLru } from "../model/lru.ts";
import { MINUTE_MS, SECOND_MS } from "../model/time.ts";
import type { Store } from "../store/store.ts";
import type { AccountEvent } from "./event.ts";
import type { Events } from "./events.ts";
import { createFeed, type Feed } from "./feed.ts";
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
/** After Redis has not taken an event it is left alone for so long. */
const LEFT_ALONE_MS = SECOND_MS;
/** As ids count: a second. */
const ON_ITS_WAY = 1_000_000;
const MOST_ACCOUNTS = 100_000;
const MOST_TOKENS = 10_000;

/** What lies in the stream: an event without its id, and who has told of it. */
interface Told extends Omit<AccountEvent, "id"> {
  token: string;
}

/** An account that somebody listens to at this node. */
interface HeardAccount {
  feed: Feed;
  /** Id of the last event that came out of the stream; null: Redis was away when it began. */
  place: number | null;
  /** Where the stream stood when it began: what lies up to it does not come out of it any more. */
  began: number | null;
  /** Somebody has asked for what was before. */
  isAsked: boolean;
  /** The feed has all that the stream keeps, not only what came since it began. */
  isWhole: boolean;
}

/**
 * What happens to an account at any node, for whoever listens at any node: one stream in Redis gives the order and the ids.
 * Without Redis a node tells its own listeners what happens at it, under ids that fit in between.
 */
export function createSharedEvents({ store, cluster, streams, log }: SharedEventsDeps): Events {
  const { box, time } = store;
  const { bus } = cluster;
  const listened = createLru<string, true>(MOST_ACCOUNTS, SAID_FOR_MS);
  const accounts = new Map<string, HeardAccount>();
  const tellings = new Map<string, Telling>();
  /** Events that were told without Redis, and may be in it all the same: its answer was lost. */
  const toldWithout = createLru<string, true>(MOST_TOKENS);
  const clock = createIdClock(store);
  let aloneUntil = Number.NEGATIVE_INFINITY;
  let stopped = false;
  let follow: (() => void) | null = null;

  const hasListeners = (accountId: string): boolean =>
    accounts.has(accountId) || (listened.size > 0 && listened.has(accountId));
  async function tell(accountId: string, event: Omit<AccountEvent, "id">): Promise<void> {
    const token = randomBytes(9).toString("base64url");
    const floor = accounts.get(accountId)?.feed.lastId ?? 0;
    if (time.monotonic() >= aloneUntil)
      try {
        const sealed = box.sealJson({ ...event, token } satisfies Told, contextOf(accountId));
        return clock.learn(await streams.append(accountId, sealed, floor), floor);
      } catch {
        aloneUntil = time.monotonic() + LEFT_ALONE_MS;
      }
    toldWithout.set(token, true);
    const feed = accounts.get(accountId)?.feed;
    feed?.push({ id: Math.max(feed.lastId + 1, clock.now()), ...event });
  }

  function tellingOf(accountId: string): Telling {
    const known = tellings.get(accountId);
    if (known !== undefined) return known;
    // Those that need nobody any more make room.
    if (tellings.size >= 1_000)
      for (const [idle, telling] of tellings) if (telling.isIdle) tellings.delete(idle);
    const made = createTelling({ tell: (event) => tell(accountId, event), leaveOut: () => undefined });
    tellings.set(accountId, made);
    return made;
  }

  /** Null when it does not open: somebody else has written it. */
  function opened(accountId: string, { id, sealed }: StreamEntry): AccountEvent | null {
    try {
      const { token, ...event } = box.openJson<Told>(sealed, contextOf(accountId));
      return toldWithout.has(token) ? null : { id, ...event };
    } catch (error) {
      log.warn({ err: error, account: accountId }, "could not decrypt an event from another node");
      return null;
    }
  }

  const openedAll = (accountId: string, entries: StreamEntry[]): AccountEvent[] =>
    entries.flatMap((entry) => opened(accountId, entry) ?? []);

  /** Says to Redis and to the others that somebody listens here. Never rejects. */
  async function say(accountId: string, account: HeardAccount): Promise<void> {
    const floor = account.feed.lastId;
    try {
      const place = await streams.listenTo(accountId, floor);
      clock.learn(place, floor);
      if (account.place === null) begin(account, place);
      if (account.isAsked) await makeWhole(accountId, account);
    } catch {
      // It is said again, and what happens at this node is told meanwhile.
      if (account.place === null) time.after(LEFT_ALONE_MS, () => void sayAgain(accountId, account));
    }
  }

  const sayAgain = async (accountId: string, account: HeardAccount): Promise<void> =>
    stopped || accounts.get(accountId) !== account ? undefined : say(accountId, account);

  function begin(account: HeardAccount, place: number): void {
    account.place = account.began = place;
    wake();
  }

  async function open(accountId: string): Promise<HeardAccount> {
    const known = accounts.get(accountId);
    if (known !== undefined) return known;
    listened.set(accountId, true);
    // Redis passes it on before it answers what comes behind it: the others know when this resolves.
    bus.tell(LISTENED, [accountId]);
    const place = await streams.listenTo(accountId, 0).catch(() => null);
    if (place !== null) clock.learn(place, 0);
    const meanwhile = accounts.get(accountId);
    if (meanwhile !== undefined) return meanwhile;
    const feed = createFeed(time, place ?? clock.now(), 0, (count) => {
      if (count === 0) accounts.delete(accountId);
    });
    const account: HeardAccount = { feed, place: null, began: null, isAsked: false, isWhole: false };
    accounts.set(accountId, account);
    if (place === null) time.after(LEFT_ALONE_MS, () => void sayAgain(accountId, account));
    else begin(account, place);
    return account;
  }

  function wake(): void {
    follow?.();
    streams.wake().catch(() => undefined);
  }

  async function makeWhole(accountId: string, account: HeardAccount): Promise<void> {
    const { began, isWhole } = account;
    account.isAsked = true;
    if (isWhole || began === null) return;
    try {
      const kept = await streams.history(accountId);
      account.feed.precede(
        openedAll(
          accountId,
          kept.filter(({ id }) => id <= began),
        ),
      );
      account.isWhole = true;
    } catch {
      // What was missed cannot be told now, but when Redis is back; what comes is.
    }
  }

  /** Reads on in the streams of all accounts that are listened to here. */
  async function followAll(): Promise<void> {
    // oxlint-disable-next-line no-unmodified-loop-condition -- `stop` changes it while this waits
    while (!stopped) {
      const places = new Map<string, number>();
      for (const [accountId, { place }] of accounts) if (place !== null) places.set(accountId, place);
      if (places.size === 0) await new Promise<void>((resolve) => (follow = resolve));
      else
        await streams.next(places).then(
          (found) => found.forEach((entries, accountId) => take(accountId, entries)),
          () => time.pause(LEFT_ALONE_MS / 10),
        );
    }
  }

  function take(accountId: string, entries: StreamEntry[]): void {
    const account = accounts.get(accountId);
    if (account === undefined) return;
    account.place = entries.at(-1)!.id;
    const { feed } = account;
    for (const event of openedAll(accountId, entries))
      feed.push(event.id > feed.lastId ? event : { ...event, id: feed.lastId + 1 });
  }

  async function sayAll(): Promise<void> {
    const mine = [...accounts.keys()];
    if (mine.length > 0) bus.tell(LISTENED, mine);
    for (const [accountId, account] of accounts) await say(accountId, account);
    if (mine.length > 0) wake();
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
  void followAll();

  return {
    hasListeners,
    publish(accountId, happening) {
      if (hasListeners(accountId)) tellingOf(accountId).publish(happening);
    },
    async read(accountId, keyId, after) {
      let account: HeardAccount;
      // The account's last listener may have left meanwhile: nothing would come into that feed any more.
      do {
        account = await open(accountId);
        if (after !== null) await makeWhole(accountId, account);
      } while (accounts.get(accountId) !== account);
      const { feed } = account;
      // It may know an event that is still on its way here; an id that is none of ours must not silence it for ever.
      const latest = Math.max(feed.lastId, clock.now() + ON_ITS_WAY);
      return feed.read(keyId, Math.min(after ?? feed.lastId, latest));
    },
    stop() {
      stopped = true;
      for (const end of ends) end();
      follow?.();
    },
  };
}

/** What the clock of Redis says now, in the words of ids, as far as this node can tell: its own may be wrong by an hour. */
function createIdClock({ time, now }: Pick<Store, "time" | "now">) {
  let told: { id: number; at: number } | null = null;
  return {
    now: (): number =>
      told === null ? now() * 1_000 : told.id + Math.floor((time.monotonic() - told.at) * 1_000),
    /** Redis has given this id. A floor that was raised by a node's own ids must not be taken for the time. */
    learn(id: number, floor: number): void {
      if (id > floor + 1) told = { id, at: time.monotonic() };
    },
  };
}
