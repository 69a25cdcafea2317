import type { BotFiles } from "../bot/handlers/turn-services.ts";
import type { Locales } from "../bot/files/locales.ts";
import type { Onlooker } from "../bot/answerers/onlooker.ts";
import type { BotRegistry } from "../bot/files/registry.ts";
import { type RunningBots } from "../bot/handlers/running.ts";
import type { Config } from "../config.ts";
import type { Logger } from "../log.ts";
import type { Media } from "../media/media.ts";
import type { ReceivedMedia } from "../media/incoming.ts";
import type { Answerer } from "../model/answerer.ts";
import type { Cluster } from "../model/nodes/cluster.ts";
import type { News } from "../model/nodes/news.ts";
import { type Time } from "../model/time.ts";
import type { SafeFetch } from "../net/safe-fetch.ts";
import { type OutboxDeps } from "../outbox/outbox.ts";
import type { Store } from "../store/store.ts";
import type { Connections } from "./connections.ts";
import type { Observers } from "./observers.ts";

/** What the way of a message is built from. */
export interface MessagePathDeps {
  /** Its `time` is the time of everything here. */
  store: Store;
  /** The other processes that share the database. Default: there are none. */
  cluster?: Cluster;
  /** What they change of what is remembered here. Default: nothing. */
  news?: News;
  config: Pick<
    Config,
    | "botTimeoutMs"
    | "loopGuardPerMinute"
    | "pacePerMinute"
    | "retentionDays"
    | "sendWaitMs"
    | "takeoverMinutes"
    | "warmUp"
    | "webhookTimeoutMs"
  > &
    Partial<Pick<Config, "cluster" | "importHistory">>;
  log: Logger;
  /** Where the connections of numbers are looked up. */
  connections: Connections;
  directory: {
    /** Key of the chat with an address on the wire: the phone number's form when it is known. */
    canonicalChat(deviceId: number, jid: string): Promise<string>;
    /** Why nothing may be sent to an address, or null. Default: everything may be sent. */
    refusal?: OutboxDeps["refusal"];
  };
  bots: {
    registry: BotRegistry;
    /** As they are now: bots are read again while the gateway runs. */
    locales(): Locales;
    /** What `ctx.fetch` asks. Default: `http` of the path. */
    http?: Pick<SafeFetch, "request">;
    /** Told who runs. */
    running?: Pick<RunningBots, "begin">;
    /** Limits handlers, which do real work even where a test moves the store's time. Default: that one. */
    time?: Time;
    /** Runs the code of flows twice and compares, as tests do. Default false. */
    checksFlows?: boolean;
    /** Told what code of bots does. Default: nobody. */
    onlooker?: Onlooker;
  };
  http: Pick<SafeFetch, "request" | "check">;
  files: {
    /** Makes files ready to be sent. */
    outgoing: Pick<Media, "prepare">;
    /** Files that came with messages. */
    received: BotFiles & Pick<ReceivedMedia, "link" | "image" | "largestImage">;
  };
  observers: Observers;
  /** A commit has shown that another process has a number; called once or more. */
  onLost?: ((deviceId: number) => void) | undefined;
  /** Aborts when the gateway waits no longer for handlers: what they were asked stays undecided. */
  stopping: AbortSignal;
  /** See `OutboxDeps`. */
  collectMs?: number;
  /** Answerers that are asked after bots, and before webhooks: tests have some of their own. */
  besides?: Answerer[];
  /** Spreads what webhooks try again. @returns from 0 to 1. Default `Math.random` */
  random?: () => number;
}
