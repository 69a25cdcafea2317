import { afterAll, onTestFinished } from "vitest";
import type { Config, Environment } from "../../../src/config.ts";
import type { Cluster, Topic } from "../../../src/model/nodes/cluster.ts";
import { alone } from "../../../src/model/nodes/alone.ts";
import { createNews, type NewsDesk } from "../../../src/store/news.ts";
import { openStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { findSqld, startSqld } from "../../_setup/sqld.ts";
import { NODE_SETTINGS } from "../store/temporary-config.ts";
import { configFor, silentLog, temporaryFolder } from "../store/temporary.ts";

/** What a node of these tests consists of: real parts on a real server, and a bus within the process. */
export interface Node {
  config: Config;
  store: Store;
  cluster: Cluster;
  news: NewsDesk;
}

/** A bus between nodes of one process. Like Redis it tells of a gap when it is back. */
export interface TestBus {
  /** A place on it. The first one leads. */
  join(node: string): Cluster;
  /** It tells and hears nothing any more. */
  leave(node: string): void;
  /** What is told is lost. */
  cut(): void;
  mend(): void;
}

/** A bus that works. */
export function createTestBus(): TestBus {
  const heard = new Map<string, Map<string, ((news: never) => void)[]>>();
  const gaps: (() => void)[] = [];
  let isCut = false;

  function join(node: string): Cluster {
    const mine = new Map<string, ((news: never) => void)[]>();
    const leads = heard.size === 0;
    heard.set(node, mine);
    const lonely = alone();
    return {
      ...lonely,
      node,
      ownership: {
        ...lonely.ownership,
        owns: () => leads,
        ownerOf: () => [...heard.keys()][0] ?? null,
      },
      bus: {
        ...lonely.bus,
        tell<News>(topic: Topic<News>, news: News) {
          if (isCut || !heard.has(node)) return;
          const text = JSON.stringify(news);
          for (const [other, topics] of heard)
            if (other !== node)
              for (const hear of topics.get(topic.name) ?? [])
                queueMicrotask(() => hear(JSON.parse(text) as never));
        },
        listen(topic, hear) {
          const all = [...(mine.get(topic.name) ?? []), hear as (news: never) => void];
          mine.set(topic.name, all);
          return () =>
            void mine.set(
              topic.name,
              mine.get(topic.name)!.filter((one) => one !== hear),
            );
        },
        onGap(reread) {
          gaps.push(reread);
          return () => void gaps.splice(gaps.indexOf(reread), 1);
        },
      },
    };
  }

  return {
    join,
    leave: (node) => void heard.delete(node),
    cut: () => void (isCut = true),
    mend() {
      isCut = false;
      for (const reread of gaps) reread();
    },
  };
}

const sqld = findSqld();
/** Where these tests can run. */
export const hasSqld = sqld !== null;

/**
 * Opens nodes on one server, which the tests of a file share. Call it at the top of the file.
 *
 * @param options.news `"asked"`: news are looked for when the bus or the test says so, and not every two seconds as well
 */
export function nodesOnOneServer(env: Environment = {}, options: { news?: "asked" } = {}) {
  const server = sqld === null ? null : startSqld(sqld, { until: afterAll });
  return async (node: string, bus: TestBus): Promise<Node> => {
    const { url } = await server!;
    const config = configFor(temporaryFolder(), {
      ...NODE_SETTINGS,
      DATABASE_URL: url,
      NODE_NAME: node,
      ...env,
    });
    const log = silentLog(config);
    const store = await openStore(config, log);
    const cluster = bus.join(node);
    const time = options.news === "asked" ? { ...store.time, every: () => () => undefined } : store.time;
    const { read, readOne, writer } = store;
    const news = createNews({ store: { read, readOne, writer, time }, cluster, log });
    await news.begin();
    onTestFinished(async () => {
      news.stop();
      await store.close();
    });
    return { config, store, cluster, news };
  };
}
