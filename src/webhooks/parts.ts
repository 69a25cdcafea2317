import type { Logger } from "../log.ts";
import { defineTopic, type Cluster } from "../model/nodes/cluster.ts";
import type { News } from "../model/nodes/news.ts";
import type { SafeFetch } from "../net/safe-fetch.ts";
import type { Store } from "../store/store.ts";
import type { WhatsAppConnection } from "../whatsapp/port.ts";
import type { AttemptShares } from "./attempts/shares.ts";
import type { EventFiles } from "./events/files.ts";
import type { Listeners } from "./listeners/listeners.ts";
import type { Tellings } from "./listeners/tellings.ts";
import type { Target } from "./receiver.ts";
import type { Registry } from "./registry.ts";
import type { ReplyMedia } from "./replies/drafts.ts";
import type { ReplyGuard, ReplyOutbox } from "./replies/late-replies.ts";
import type { WebhookAnswers } from "./answerer.ts";
import type { WebhookFailures } from "./attempts/health-row.ts";
import type { DeliveryQueue } from "./attempts/queue.ts";
import type { WebhookEvent } from "./webhook-event.ts";

/** A number as its webhook sees it. */
export interface WebhookNumber {
  deviceId: number;
  /** The database in the hands of whoever has the number. */
  store: Store;
  /** For replies of later attempts; those of the first attempt are the pipeline's. */
  outbox: ReplyOutbox;
  /** A commit has shown that another process has the number; called once or more. */
  onLost(): void;
}

/**
 * One number's webhook while this process has the number: what is posted to it, how it does, and the chats that it holds; and the
 * same of the number's listeners, of which each call that names one (`listener`, see `Target`) is about that one.
 */
export interface NumberWebhook extends WebhookAnswers, Pick<DeliveryQueue, "start" | "wake"> {
  /** Tells the listeners of messages. */
  readonly tellings: Tellings;
  /** Reads what is known of it. Call it before the number's messages go on. @throws StorageUnavailable */
  load(): Promise<void>;
  /** Somebody says that it is worth another try, even if it is paused. */
  tryNow(listener: string): void;
  /** The webhook has accepted something that is no event. */
  worked(): void;
  /** Its owner has set it anew: nothing is held against it, and what waits goes out. */
  anew(listener: string): Promise<void>;
  /** It was deleted. */
  gone(listener: string): void;
  health(listener: string): WebhookFailures;
  /** The clock was set back by so many milliseconds. */
  onClockMoved(ms: number): void;
  /** Begins no attempt any more but those of lanes; resolves when none is under way, those of lanes included. */
  stop(): Promise<void>;
  /** Cuts off what is under way: it does not count. */
  abort(reason: Error): void;
}

/** What webhooks need of the rest of the gateway, and whom they tell. */
export interface WebhooksDeps {
  store: Store;
  /** The other processes that share the database. Default: there are none. */
  cluster?: Cluster;
  config: { webhookTimeoutMs: number };
  /** What other nodes change of what is remembered here. Default: nothing. */
  news?: News | undefined;
  log: Logger;
  http: Pick<SafeFetch, "request" | "check">;
  /** Fetches the files that answers name. */
  media: ReplyMedia;
  /** Files of the messages that events are about. */
  files: EventFiles;
  loopGuard: ReplyGuard;
  /** For read marks and "typing"; null unless the number is online. */
  connection(deviceId: number): Pick<WhatsAppConnection, "markRead" | "showState"> | null;
  /** Whose a number is; null when nobody knows. Default: nobody does. */
  accountOf?: (deviceId: number) => string | null;
  /** The webhook of a number that this process has; null: it is another's, or nobody's. */
  opened(deviceId: number): NumberWebhook | null;
  /** Told what happens to webhooks. Default: nobody is. */
  observe?: (event: WebhookEvent) => void;
  /** 0 to 1; spreads the times of retries. Default `Math.random`. */
  random?: () => number;
}

/** What the webhooks of all numbers stand on. */
export interface SharedWebhooks extends Omit<WebhooksDeps, "random"> {
  registry: Registry;
  listeners: Listeners;
  shares: AttemptShares;
  /** Listeners share apart: none of them takes a webhook's place. */
  listenerShares: AttemptShares;
  random: () => number;
}

/** Another node has stored something for a receiver, or has found out that it works. Whoever misses it finds the rows. */
const TRY = defineTopic<{ deviceId: number; listener?: string; worked: boolean }>("webhook-tries");

/** How whoever has a number is told that a receiver of it is worth a try. */
export interface Tries {
  /** @param worked it has accepted something that is no event */
  tell(target: Target, worked: boolean): void;
}

/** The number's own webhook is told at once, that of another node over the bus. */
export function createTries({ cluster, opened }: Pick<WebhooksDeps, "cluster" | "opened">): Tries {
  cluster?.bus.listen(TRY, ({ deviceId, listener = "", worked }) => {
    const webhook = opened(deviceId);
    if (webhook !== null) told(webhook, listener, worked);
  });
  return {
    tell({ deviceId, listener }, worked) {
      const webhook = opened(deviceId);
      if (webhook !== null) return told(webhook, listener, worked);
      const owner = cluster?.ownership.ownerOf(deviceId) ?? null;
      if (owner !== null)
        cluster?.bus.tell(TRY, { deviceId, ...(listener !== "" && { listener }), worked }, owner);
    },
  };
}

function told(webhook: NumberWebhook, listener: string, worked: boolean): void {
  if (worked) webhook.worked();
  else webhook.tryNow(listener);
}
