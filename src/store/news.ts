import { news } from "../../drizzle/schema.ts";
import type { Logger } from "../log.ts";
import { defineTopic, type Cluster, type Topic } from "../model/nodes/cluster.ts";
import { giveWay } from "../model/give-way.ts";
import { NO_NEWS, type News, type NewsListener } from "../model/nodes/news.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../model/time.ts";
import { defineQuery, integer } from "./query.ts";
import type { Statement, Store } from "./store.ts";

/** News, and when they are looked for. */
export interface NewsDesk extends News {
  /** Knows what has been said so far. Call it before rows are read that news may be of. */
  begin(): Promise<void>;
  /** Looks again and again. Resolves after the first look, however it went. */
  start(): Promise<void>;
  stop(): void;
  /** Everything written so far is heard when it resolves. For tests. */
  look(): Promise<void>;
}

interface NewsDeps {
  store: Pick<Store, "read" | "readOne" | "writer" | "time">;
  cluster: Cluster;
  log: Pick<Logger, "warn">;
}

/** Says that there are news, and nothing of them: they are read where they stand. */
const WRITTEN = defineTopic<null>("news");
/** Without the bus a change is known elsewhere after this. */
const LOOK_EVERY_MS = 2 * SECOND_MS;
const READ_AT_ONCE = 200;
/** Who was away for longer reads everything again. */
const KEPT_MS = HOUR_MS;
const FORGET_EVERY_MS = 10 * MINUTE_MS;
const FORGOTTEN_AT_ONCE = 500;
/** Whoever has the first partition forgets for all. */
const LEADING_DEVICE = 0;

const LAST = defineQuery("SELECT coalesce(max(id), 0) AS id FROM news", { id: integer() });
const AFTER = defineQuery(
  `SELECT id, node, topic, item FROM news WHERE id > ? ORDER BY id LIMIT ${READ_AT_ONCE}`,
  { id: news.id, node: news.node, topic: news.topic, item: news.item },
);
const WRITE = "INSERT INTO news (node, topic, item, at) VALUES (?, ?, ?, unixepoch())";
// The last one stays, so that whoever was away sees that others are gone.
const FORGET = `DELETE FROM news WHERE id IN (SELECT id FROM news WHERE at < unixepoch() - ?
  AND id < (SELECT max(id) FROM news) LIMIT ${FORGOTTEN_AT_ONCE})`;

/** The table `news`. Ids are given in the order of commits and without gaps, so what lies behind the last one read is all. */
export function createNews({ store, cluster, log }: NewsDeps): NewsDesk {
  const { node, bus, ownership } = cluster;
  if (node === null)
    return {
      ...NO_NEWS,
      begin: async () => undefined,
      start: async () => undefined,
      stop: () => undefined,
      look: async () => undefined,
    };

  const hearing = createHearing(node, store, log);
  const { look } = hearing;
  const ends: (() => void)[] = [];

  const tell = (): void => bus.tell(WRITTEN, null);
  // The database is away: the next look finds what this one has not.
  const lookQuietly = (): void => void look().catch(() => undefined);

  async function forget(): Promise<void> {
    if (!ownership.owns(LEADING_DEVICE)) return;
    const unit = [{ sql: FORGET, args: [KEPT_MS / SECOND_MS] }];
    while ((await store.writer.commit(unit))[0]!.rowsAffected === FORGOTTEN_AT_ONCE) await giveWay();
  }

  return {
    of<Item>(topic: Topic<Item>, item: Item): Statement[] {
      return [{ sql: WRITE, args: [node, topic.name, JSON.stringify(item)], onCommitted: tell }];
    },
    listen: hearing.listen,
    begin: hearing.begin,
    async start() {
      ends.push(
        bus.listen(WRITTEN, lookQuietly),
        bus.onGap(lookQuietly),
        bus.onSettle(hearing.takeIn),
        store.time.every(LOOK_EVERY_MS, lookQuietly),
        store.time.every(FORGET_EVERY_MS, () => void forget().catch(() => undefined)),
      );
      await look().catch(() => undefined);
    },
    stop() {
      for (const end of ends.splice(0)) end();
    },
    look,
  };
}

/** Reads what was written since the last look, and tells those who listen for it. */
function createHearing(node: string, store: NewsDeps["store"], log: NewsDeps["log"]) {
  const listeners = new Map<string, NewsListener<unknown>[]>();
  /** Those who have missed something and have not read again yet. */
  const behind = new Set<NewsListener<unknown>>();
  let last = 0;

  async function readOn(): Promise<void> {
    for (let full = true; full; await giveWay()) {
      const rows = await store.read(AFTER, [last]);
      full = rows.length === READ_AT_ONCE;
      if (rows.length > 0 && rows[0]!.id > last + 1)
        for (const all of listeners.values()) addAll(behind, all);
      const heard = new Set<string>();
      for (const row of rows) {
        const said = `${row.topic} ${row.item}`;
        if (row.node === node || heard.has(said)) continue;
        heard.add(said);
        await hear(row.topic, row.item);
      }
      last = rows.at(-1)?.id ?? last;
    }
    for (const listener of behind) await readAgain(listener);
  }

  async function hear(topic: string, item: string): Promise<void> {
    for (const listener of listeners.get(topic) ?? [])
      try {
        await listener.hear(JSON.parse(item));
      } catch (error) {
        log.warn({ err: error, topic }, "could not read a change by another node; reading everything again");
        behind.add(listener);
      }
  }

  async function readAgain(listener: NewsListener<unknown>): Promise<void> {
    try {
      await listener.reread();
      behind.delete(listener);
    } catch (error) {
      log.warn({ err: error }, "could not read the changes of other nodes; retrying");
    }
  }

  const look = oneAtATime(readOn);
  return {
    look,
    async begin(): Promise<void> {
      last = (await store.readOne(LAST))!.id;
    },
    listen<Item>(topic: Topic<Item>, listener: NewsListener<Item>): void {
      const all = listeners.get(topic.name) ?? [];
      listeners.set(topic.name, [...all, listener as NewsListener<unknown>]);
    },
    /** @throws when something could not be read: it is not known here yet */
    async takeIn(): Promise<void> {
      await look();
      if (behind.size > 0) throw new Error("could not read news");
      for (const all of listeners.values()) for (const listener of all) await listener.catchUp?.();
    },
  };
}

/** One look at a time; who asks during one has another one made. */
function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let looking: Promise<void> | null = null;
  let again = false;

  async function lookOnce(): Promise<void> {
    try {
      do {
        again = false;
        await work();
        // oxlint-disable-next-line no-unmodified-loop-condition -- whoever calls `look` meanwhile changes it
      } while (again);
    } finally {
      looking = null;
    }
  }

  return () => {
    again = looking !== null;
    looking ??= lookOnce();
    return looking;
  };
}

function addAll<T>(set: Set<T>, values: readonly T[]): void {
  for (const value of values) set.add(value);
}
