import { SECOND_MS } from "../model/time.ts";
import type { BotState } from "../bot/sessions/state.ts";
import type { Timers } from "../bot/timers/timers.ts";
import { createInbox } from "../inbox/inbox.ts";
import type { Outbox } from "../outbox/outbox.ts";
import type { NumberOutbox } from "../outbox/sending/number-outbox.ts";
import type { NumberPipeline, Pipeline } from "../pipeline/pipeline.ts";
import { beginTenure } from "../store/write/owned.ts";
import type { Webhooks } from "../webhooks/index.ts";
import type { NumberWebhook } from "../webhooks/parts.ts";
import type { MessagePathDeps } from "./deps.ts";
import { createHappenings, type Happenings } from "./happenings.ts";
import { createReadings, type Readings } from "./reading.ts";

/** What numbers share: whatever is here knows no number by itself. */
export interface SharedPath extends Pick<
  MessagePathDeps,
  "store" | "config" | "log" | "directory" | "observers" | "connections"
> {
  pipeline: Pipeline;
  timers: Timers;
  outbox: Outbox;
  webhooks: Webhooks;
  state: BotState;
  /** Messages of a number were stored after it was closed. */
  onLate(deviceId: number): NumberPipeline["enter"];
}

/**
 * One number's whole life in the path of messages, from the moment at which this process has it until it has it no more:
 * what of it waits, what is under way, and what is remembered of it.
 */
export interface OpenNumber
  extends
    Pick<NumberPipeline, "receive" | "enter" | "settle" | "isPlaced">,
    Pick<Readings, "read">,
    Pick<Happenings, "happen"> {
  readonly deviceId: number;
  /** What the number left in the rows goes on. Rejects with StorageUnavailable; it is to be closed then. */
  readonly opened: Promise<void>;
  /** Resolves when it is closed; null: nobody has begun to. */
  readonly closed: Promise<void> | null;
  /** A timer of a bot is stored, and due then, Unix milliseconds. */
  due(dueAt: number): void;
  readonly outbox: NumberOutbox;
  readonly webhook: NumberWebhook;
  /** Begins what looks at the clock. */
  start(): void;
  /** The clock was set back by so many milliseconds. */
  onClockMoved(ms: number): void;
  /** Begins nothing more; resolves when what is under way has ended. */
  drain(): Promise<void>;
  /** What is still posted to its webhook does not count. */
  cutOff(reason: Error): void;
  /**
   * Begins nothing more. Resolves when nothing of the number is committed here any more, and nobody is told anything of it:
   * whoever opens it next goes on where the rows are. What is under way and takes longer is made again there.
   */
  close(): Promise<void>;
}

/** How long what is under way may take to end when a number is closed. */
const CLOSING_MS = 2 * SECOND_MS;

/**
 * Opens a number.
 *
 * @param onLost a commit has shown that another process has it; called once or more
 */
export function openNumber(shared: SharedPath, deviceId: number, onLost: () => void): OpenNumber {
  const { observers } = shared;
  const { time } = shared.store;
  // Whatever is still under way when it has been closed writes nothing more.
  const tenure = beginTenure(shared.store, deviceId);
  const { store } = tenure;
  const inbox = createInbox(store, observers.tell, shared.config.importHistory);
  const outbox = shared.outbox.open({ deviceId, store });
  const webhook = shared.webhooks.open({ deviceId, store, outbox: shared.outbox, onLost });
  // Before its messages go on.
  const ready = webhook.load();
  const lanes = shared.pipeline.open({
    deviceId,
    store,
    inbox,
    outbox: { ...shared.outbox, wake: outbox.wake },
    ready,
    onLate: shared.onLate(deviceId),
    onLost,
  });
  const timers = shared.timers.open({
    deviceId,
    commit: store.writer.commit,
    record: inbox.recordTimer,
    deliver: lanes.due,
  });
  const { read, happen, ended: told } = openTelling(shared, deviceId, store);
  let closed: Promise<void> | null = null;

  async function close(): Promise<void> {
    // Handlers have no time: what they were asked is asked again.
    void lanes.close();
    const ended = [timers.close(), told(), outbox.close(), webhook.stop()];
    await time.within(CLOSING_MS, Promise.all(ended));
    tenure.end();
    webhook.abort(new Error("The number is closed."));
    await shared.store.writer.drain();
  }

  const opened = Promise.all([outbox.begin(), lanes.opened, timers.look()]).then(() => undefined);
  // Whoever opens it is told.
  opened.catch(() => undefined);
  return {
    deviceId,
    opened,
    get closed() {
      return closed;
    },
    receive: lanes.receive,
    enter: lanes.enter,
    settle: lanes.settle,
    isPlaced: lanes.isPlaced,
    read,
    happen,
    due: timers.expect,
    outbox,
    webhook,
    start: () => void ready.then(webhook.start, () => undefined),
    onClockMoved(ms) {
      timers.onClockMoved(ms);
      outbox.onClockMoved(ms);
      webhook.onClockMoved(ms);
    },
    async drain() {
      await Promise.all([lanes.drain(), webhook.stop()]);
    },
    cutOff: webhook.abort,
    close: () => (closed ??= close()),
  };
}

/** Tells what no message tells of, in its order. */
function openTelling(
  { log, directory, webhooks, observers }: SharedPath,
  deviceId: number,
  store: SharedPath["store"],
): Pick<Readings, "read" | "ended"> & Pick<Happenings, "happen"> {
  const { notices } = webhooks;
  const telling = {
    deviceId,
    store,
    log,
    canonicalChat: directory.canonicalChat,
    notices,
    observe: observers.tell,
  };
  const readings = createReadings(telling);
  const happenings = createHappenings(telling);
  return {
    read: readings.read,
    happen: happenings.happen,
    async ended() {
      await Promise.all([readings.ended(), happenings.ended()]);
    },
  };
}
