import { LONGEST_BURST_MS, type StoredMessage } from "../model/answerer.ts";
import type { Incoming } from "../model/messages.ts";
import type { Time } from "../model/time.ts";
import { StorageUnavailable } from "../store/errors.ts";
import type { NumberInPipeline } from "./deps.ts";
import type { LaneView } from "./handle.ts";

/** A message in a lane; without content when it is cheaper to read it when its turn comes. */
export interface PlacedMessage {
  inboxId: number;
  deviceId: number;
  /** Digits. */
  ownNumber: string;
  /** Key of the lane. */
  lane: string;
  message: Incoming | null;
  /** Ids of the writer when it is a word that is to be heard at once, whatever is being done for the same writer. */
  interrupts: readonly string[] | null;
  /** When it came, by the monotonic clock; null: an earlier run of the gateway has stored it. */
  came: number | null;
  /** Messages that were in the lane then. */
  ahead: number;
  number: NumberInPipeline;
}

/** How soon it is noticed that another text has come. */
const LOOK_AGAIN_MS = 100;
/** A row that cannot be read, whatever is tried. */
const BROKEN = Symbol("broken");

/** What handlers see of the lanes of their messages. */
export interface LaneViews {
  of(pending: PlacedMessage, stored: StoredMessage, behind: () => PlacedMessage[]): LaneView;
  /** Another message has come behind one that is being handled, or waits. */
  arrived(first: PlacedMessage, message: PlacedMessage): void;
}

/**
 * @param load  a message with its content; null when its row is gone
 * @param taken rows that were decided together with a message before them
 */
export function createLaneViews(
  time: Pick<Time, "monotonic" | "pause">,
  load: (pending: PlacedMessage) => Promise<StoredMessage | null>,
  taken: Set<number>,
): LaneViews {
  /** By the row of the message for which something is done that need not come to its end. */
  const interruptible = new Map<number, { message: Incoming; came: () => void }>();
  return {
    of: (pending, { message }, behind) => ({
      waitForMore: (ms, isEnd = () => false, most = Infinity) =>
        burst(time, { ms, isEnd, most, signal: pending.number.ending.signal }, behind, (waiting) =>
          textsBehind(load, waiting, message),
        ),
      onInterrupt(came) {
        if (behind().some((waiting) => isInterrupted(message, waiting))) came();
        else interruptible.set(pending.inboxId, { message, came });
        return () => void interruptible.delete(pending.inboxId);
      },
      ahead: pending.ahead,
      came: pending.came,
      merged(messages) {
        for (const { inboxId } of messages) taken.add(inboxId);
      },
    }),
    arrived(first, waiting) {
      const work = interruptible.get(first.inboxId);
      if (work !== undefined && isInterrupted(work.message, waiting)) work.came();
    },
  };
}

/** What {@link burst} waits for. */
interface Wait {
  ms: number;
  isEnd(text: StoredMessage): boolean;
  most: number;
  signal: AbortSignal;
}

/** Waits until nothing has come for `ms`, or the burst has ended. */
async function burst(
  time: Pick<Time, "monotonic" | "pause">,
  { ms, isEnd, most, signal }: Wait,
  allBehind: () => PlacedMessage[],
  textsOf: (waiting: PlacedMessage[]) => Promise<StoredMessage[]>,
): Promise<StoredMessage[]> {
  const began = time.monotonic();
  const behind = (): PlacedMessage[] => allBehind().slice(0, most);
  let texts: StoredMessage[] = [];
  for (let count = 0, last = began; ;) {
    const now = time.monotonic();
    if (behind().length > count) {
      count = behind().length;
      last = now;
      texts = await textsOf(behind());
      // Whoever is no text of the same writer ends it, too.
      if (texts.length < count || count === most || texts.some(isEnd)) return texts;
    }
    const left = Math.min(last + ms, began + LONGEST_BURST_MS) - now;
    if (signal.aborted || left <= 0) return texts;
    await time.pause(Math.min(left, LOOK_AGAIN_MS), signal);
  }
}

/** Up to the first that is no text of the same writer. */
async function textsBehind(
  load: (pending: PlacedMessage) => Promise<StoredMessage | null>,
  behind: PlacedMessage[],
  first: Incoming,
): Promise<StoredMessage[]> {
  const writers = [first.sender, first.lid];
  const texts: StoredMessage[] = [];
  for (const pending of behind) {
    const stored = await load(pending).catch(unlessBroken);
    if (stored === BROKEN) break;
    if (stored === null) continue;
    const { type, fromMe, sender, lid, timer } = stored.message;
    const same = writers.includes(sender) || lid === first.sender;
    if (type !== "text" || fromMe || timer || !same) break;
    texts.push(stored);
  }
  return texts;
}

/** A row that does not open is given up when its own turn comes: it is no fault of the message before it. */
function unlessBroken(error: unknown): typeof BROKEN {
  if (error instanceof StorageUnavailable) throw error;
  return BROKEN;
}

/** In a group somebody else's word is none of theirs. */
const isInterrupted = ({ sender, lid }: Incoming, { interrupts }: PlacedMessage): boolean =>
  interrupts?.some((id) => id === sender || id === lid) ?? false;
