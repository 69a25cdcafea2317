import type { Redis, RedisOptions } from "ioredis";
import { SECOND_MS, type Time } from "../model/time.ts";
import { KEPT_EVENTS } from "./feed.ts";

/** The Redis of several nodes. */
export interface EventRedis {
  /** What keys begin with. */
  readonly prefix: string;
  /** Its commands fail at once while Redis is away. What is told on the bus goes through it as well, before what follows. */
  readonly commands: Redis;
  connect(options?: RedisOptions): Redis;
}

/** One event as Redis has it: what is in it is sealed. */
export interface StreamEntry {
  id: number;
  sealed: Buffer;
}

/** The last events of accounts, each in a Redis Stream, and which accounts somebody listens to. Every call may reject. */
export interface EventStreams {
  /** @param floor ids up to it have been given already @returns the event's id */
  append(accountId: string, sealed: Buffer, floor: number): Promise<number>;
  /**
   * Somebody listens to the account, for an hour from now.
   *
   * @param floor as in `append`
   * @returns where its feed stands: whatever comes has a greater id
   */
  listenTo(accountId: string, floor: number): Promise<number>;
  /** Accounts that somebody listens to. */
  listened(): Promise<string[]>;
  /** What is kept, the oldest first. */
  history(accountId: string): Promise<StreamEntry[]>;
  /** Ends the waiting of `next`, or of the next one: there are more places to look at. */
  wake(): Promise<void>;
  /**
   * Waits at most two seconds for events behind those ids.
   *
   * @param places id of the last event that is known, by account
   */
  next(places: ReadonlyMap<string, number>): Promise<Map<string, StreamEntry[]>>;
}

/** For so long somebody is taken to listen, or to come back, and events are kept. */
const KEPT_SECONDS = 3_600;
const BLOCK_MS = 2 * SECOND_MS;
const ENTRIES_AT_ONCE = 100;
/** Longer nobody waits for a Redis that does not answer. */
const ANSWER_MS = 500;
/** Ours are all the first of their number; what somebody else has put behind one is passed over with it. */
const LAST_OF_ID = "18446744073709551615";

// Ids are microseconds since 1970 by the clock of Redis, and greater than every one before. A number of them is exact.
const NEXT_ID = `
local time = redis.call('TIME')
local function above(id) return math.max(id, tonumber(ARGV[1]), tonumber(redis.call('GET', KEYS[2]) or '0')) end
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
local top = last[1] and tonumber(string.match(last[1][1], '^%d+')) or 0
local id = math.max(time[1] * 1000000 + time[2], above(top) + 1)
local text = string.format('%.0f', id)
redis.call('SET', KEYS[2], text, 'EX', ARGV[2])
`;
const APPEND = `${NEXT_ID}
redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[3], text .. '-0', 'event', ARGV[4])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return text`;
const LISTEN = `${NEXT_ID}
redis.call('EXPIRE', KEYS[1], ARGV[2])
redis.call('ZADD', KEYS[3], time[1] + ARGV[2], ARGV[3])
return text`;
const LISTENED = `
local now = redis.call('TIME')[1]
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. now)
return redis.call('ZRANGE', KEYS[1], 0, -1)`;

type Script<Answer> = (keys: number, ...args: (string | number | Buffer)[]) => Promise<Answer>;

/** @param node name of this process among the others */
export function createEventStreams(
  redis: EventRedis,
  node: string,
  time: Pick<Time, "deadline">,
): EventStreams {
  const { commands } = redis;
  const prefix = `${redis.prefix}:events`;
  const streamOf = (accountId: string): string => `${prefix}:of:${accountId}`;
  const lastOf = (accountId: string): string => `${prefix}:last:${accountId}`;
  const [listening, wakeUp] = [`${prefix}:listened`, `${prefix}:wake:${node}`];
  const run = {
    append: defined<string>(commands, "parleyEventAppend", APPEND),
    listen: defined<string>(commands, "parleyEventListen", LISTEN),
    listened: defined<string[]>(commands, "parleyEventListened", LISTENED),
  };
  const soon = <T>(work: Promise<T>): Promise<T> =>
    time.deadline(ANSWER_MS, work, () => new Error("Redis does not answer"));
  const reading = redis.connect();
  let wokenUp = "0-0";

  return {
    async append(accountId, sealed, floor) {
      const keys = [streamOf(accountId), lastOf(accountId)];
      return Number(await soon(run.append(2, ...keys, floor, KEPT_SECONDS, KEPT_EVENTS, sealed)));
    },
    async listenTo(accountId, floor) {
      const keys = [streamOf(accountId), lastOf(accountId), listening];
      return Number(await soon(run.listen(3, ...keys, floor, KEPT_SECONDS, accountId)));
    },
    listened: () => soon(run.listened(1, listening)),
    async history(accountId) {
      const entries = await soon(commands.xrangeBuffer(streamOf(accountId), "-", "+"));
      return entries.map(toEntry);
    },
    async wake() {
      await soon(commands.xadd(wakeUp, "MAXLEN", 1, "*", "wake", 1));
    },
    async next(places) {
      const accounts = [...places.keys()];
      const keys = [wakeUp, ...accounts.map(streamOf)];
      const ids = [wokenUp, ...accounts.map((accountId) => `${places.get(accountId)}-${LAST_OF_ID}`)];
      const answer = await reading.xreadBuffer(
        ...(["COUNT", ENTRIES_AT_ONCE, "BLOCK", BLOCK_MS, "STREAMS", ...keys, ...ids] as never as [
          "STREAMS",
          ...string[],
        ]),
      );
      const found = new Map<string, StreamEntry[]>();
      for (const [key, entries] of (answer ?? []) as unknown as [Buffer, [Buffer, Buffer[]][]][]) {
        const place = keys.indexOf(key.toString());
        if (place === 0) wokenUp = entries.at(-1)![0].toString();
        else found.set(accounts[place - 1]!, entries.map(toEntry));
      }
      return found;
    },
  };
}

function defined<Answer>(commands: Redis, name: string, lua: string): Script<Answer> {
  commands.defineCommand(name, { lua });
  return (...args) => (commands as unknown as Record<string, Script<Answer>>)[name]!(...args);
}

const toEntry = ([id, fields]: [Buffer, Buffer[]]): StreamEntry => ({
  id: Number.parseInt(id.toString(), 10),
  sealed: fields[1]!,
});
