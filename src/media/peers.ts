import { nodes } from "../../drizzle/schema.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../model/time.ts";
import { download } from "../net/download.ts";
import { OutboundError } from "../net/errors.ts";
import { createGuardedAgent } from "../net/guard.ts";
import { defineQuery, integer, text } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import { createLinks } from "./links.ts";

/**
 * What became of a question for a file: `missing`: the node does not have it · `away`: it cannot be asked now · `gone`: it
 * has ended so long ago that nobody waits for it.
 */
export type FromNode = "brought" | "missing" | "away" | "gone";

/** The other nodes, as far as files that lie on their disks are concerned. */
export interface Peers {
  /** Name of this node. */
  readonly node: string;
  /** @param read gets the bytes as they lie there */
  bring(node: string, name: string, read: (bytes: AsyncIterable<Buffer>) => Promise<void>): Promise<FromNode>;
  /** Names of the nodes that run, as JSON. */
  running(): Promise<string>;
  /** Closes idle connections. */
  close(): Promise<void>;
}

/** A node that ended may be started again with the same disk; so long its files are waited for. */
const BACK_WITHIN_MS = HOUR_MS;
const FIRST_BYTE_MS = 10 * SECOND_MS;
const WHOLE_FILE_MS = 5 * MINUTE_MS;
const LEAST_RATE = { bytes: 80 * 1024, withinMs: 10 * SECOND_MS };
const LARGEST_BYTES = 4_294_967_296 + 4_096;

// Times of nodes are those of the database's clock.
const NODE = defineQuery(
  "SELECT url, CAST(unixepoch('subsec') * 1000 AS INTEGER) - until AS silent FROM nodes WHERE name = ?",
  { url: nodes.url, silent: integer() },
);
const RUNNING = defineQuery(
  `SELECT coalesce(json_group_array(name), '[]') AS names FROM nodes
    WHERE until > CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
  { names: text() },
);

/**
 * Asks nodes for files over their own HTTP port, by an address that is signed and ends. Only addresses in the table of nodes are
 * asked, and none that they lead to.
 */
export function createPeers(node: string, store: Pick<Store, "read" | "readOne" | "box" | "now">): Peers {
  const links = createLinks(store.box, store.now);
  const agent = createGuardedAgent(null);
  return {
    node,

    async bring(other, name, read) {
      const found = await store.readOne(NODE, [other]);
      if (found === null || found.silent > BACK_WITHIN_MS) return "gone";
      if (found.url === null) return "away";
      const limits = {
        firstByteMs: FIRST_BYTE_MS,
        totalMs: WHOLE_FILE_MS,
        leastRate: LEAST_RATE,
        maxBytes: LARGEST_BYTES,
        maxRedirects: 0,
      };
      try {
        const address = `${found.url}/media/${links.make({ name })}`;
        await download(agent, address, limits, ({ body }) => read(body));
        return "brought";
      } catch (error) {
        if (!(error instanceof OutboundError)) throw error;
        return error.status === 404 ? "missing" : "away";
      }
    },

    running: async () => (await store.readOne(RUNNING))!.names,
    close: () => agent.close(),
  };
}
