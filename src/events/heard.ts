import { SECOND_MS, type Time } from "../model/time.ts";
import type { AccountEvent } from "./event.ts";
import type { Events } from "./events.ts";
import { createFeed, type Feed } from "./feed.ts";
import type { IdClock } from "./id-clock.ts";
import type { EventStreams, StreamEntry } from "./stream.ts";

/** After Redis has not done something it is left alone for so long. */
export const LEFT_ALONE_MS = SECOND_MS;
/** As ids count: a second. */
const ON_ITS_WAY = 1_000_000;

/** Accounts that somebody listens to at this node. */
export interface HeardAccounts {
  has(accountId: string): boolean;
  ids(): string[];
  feedOf(accountId: string): Feed | undefined;
  read: Events["read"];
  /** Says to Redis that somebody listens here to all of them. Never rejects. */
  sayAll(): Promise<void>;
  stop(): void;
}

interface HeardDeps {
  streams: EventStreams;
  time: Pick<Time, "now" | "monotonic" | "after" | "pause" | "every">;
  clock: IdClock;
  /** What lies in the stream, without what this node has told already. */
  opened(accountId: string, entries: StreamEntry[]): AccountEvent[];
  /** Somebody begins to listen to an account. */
  onFirst(accountId: string): void;
}

/** One of them. */
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

/** Nobody listens yet. */
export function createHeardAccounts(deps: HeardDeps): HeardAccounts {
  const { streams, time, clock } = deps;
  const accounts = new Map<string, HeardAccount>();
  const reader = followStreams(deps, accounts);

  /** Says to Redis and to the others that somebody listens here. Never rejects. */
  async function say(accountId: string, account: HeardAccount): Promise<void> {
    const floor = account.feed.lastId;
    try {
      const place = await streams.listenTo(accountId, floor);
      clock.learn(place, floor);
      if (account.place === null) begin(account, place);
      if (account.isAsked) await makeWhole(deps, accountId, account);
    } catch {
      // It is said again, and what happens at this node is told meanwhile.
      if (account.place === null) sayAgain(accountId, account);
    }
  }

  const sayAgain = (accountId: string, account: HeardAccount): void =>
    void time.after(LEFT_ALONE_MS, () => {
      if (!reader.stopped && accounts.get(accountId) === account) void say(accountId, account);
    });

  function begin(account: HeardAccount, place: number): void {
    account.place = account.began = place;
    reader.wake();
  }

  async function open(accountId: string): Promise<HeardAccount> {
    const known = accounts.get(accountId);
    if (known !== undefined) return known;
    deps.onFirst(accountId);
    const place = await streams.listenTo(accountId, 0).catch(() => null);
    if (place !== null) clock.learn(place, 0);
    const meanwhile = accounts.get(accountId);
    if (meanwhile !== undefined) return meanwhile;
    const feed = createFeed(time, place ?? clock.now(), 0, (count) => {
      if (count === 0) accounts.delete(accountId);
    });
    const account: HeardAccount = { feed, place: null, began: null, isAsked: false, isWhole: false };
    accounts.set(accountId, account);
    if (place === null) sayAgain(accountId, account);
    else begin(account, place);
    return account;
  }

  return {
    has: (accountId) => accounts.has(accountId),
    ids: () => [...accounts.keys()],
    feedOf: (accountId) => accounts.get(accountId)?.feed,
    async read(accountId, keyId, after) {
      let account: HeardAccount;
      // The account's last listener may have left meanwhile: nothing would come into that feed any more.
      do {
        account = await open(accountId);
        if (after !== null) await makeWhole(deps, accountId, account);
      } while (accounts.get(accountId) !== account);
      const { feed } = account;
      // It may know an event that is still on its way here; an id that is none of ours must not silence it for ever.
      const latest = Math.max(feed.lastId, clock.now() + ON_ITS_WAY);
      return feed.read(keyId, Math.min(after ?? feed.lastId, latest));
    },
    async sayAll() {
      for (const [accountId, account] of accounts) await say(accountId, account);
      if (accounts.size > 0) reader.wake();
    },
    stop: reader.stop,
  };
}

async function makeWhole(
  { streams, opened }: Pick<HeardDeps, "streams" | "opened">,
  accountId: string,
  account: HeardAccount,
): Promise<void> {
  const { began, isWhole } = account;
  account.isAsked = true;
  if (isWhole || began === null) return;
  try {
    const kept = await streams.history(accountId);
    const before = kept.filter(({ id }) => id <= began);
    account.feed.precede(opened(accountId, before));
    account.isWhole = true;
  } catch {
    // What was missed cannot be told now, but when Redis is back; what comes is.
  }
}

/** Reads on in the streams of all accounts that are listened to here. */
function followStreams(
  { streams, time, opened }: Pick<HeardDeps, "streams" | "time" | "opened">,
  accounts: ReadonlyMap<string, HeardAccount>,
) {
  let stopped = false;
  let goOn: (() => void) | null = null;

  function take(accountId: string, entries: StreamEntry[]): void {
    const account = accounts.get(accountId);
    if (account === undefined) return;
    account.place = entries.at(-1)!.id;
    const { feed } = account;
    for (const event of opened(accountId, entries))
      feed.push(event.id > feed.lastId ? event : { ...event, id: feed.lastId + 1 });
  }

  async function follow(): Promise<void> {
    // oxlint-disable-next-line no-unmodified-loop-condition -- `stop` changes it while this waits
    while (!stopped) {
      const places = new Map<string, number>();
      for (const [accountId, { place }] of accounts) if (place !== null) places.set(accountId, place);
      if (places.size === 0) await new Promise<void>((resolve) => (goOn = resolve));
      else
        await streams.next(places).then(
          (found) => found.forEach((entries, accountId) => take(accountId, entries)),
          () => time.pause(LEFT_ALONE_MS / 10),
        );
    }
  }
  void follow();

  return {
    get stopped() {
      return stopped;
    },
    /** There is an account more. */
    wake() {
      goOn?.();
      streams.wake().catch(() => undefined);
    },
    stop() {
      stopped = true;
      goOn?.();
    },
  };
}
