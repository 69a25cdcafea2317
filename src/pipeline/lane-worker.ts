import type { StoredMessage } from "../model/answerer.ts";
import type { Incoming } from "../model/messages.ts";
import { inStep, traceOf } from "../model/spans.ts";
import { backoffMs } from "../model/time.ts";
import { NotOwner, StorageUnavailable } from "../store/errors.ts";
import type { OpenNumber, PipelineDeps } from "./deps.ts";
import { Overtaken } from "./conclusions.ts";
import { createHandler, type LaneView } from "./handle.ts";
import { createSettled } from "./settled.ts";

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
  number: OpenNumber;
}

interface LaneWorkerDeps extends PipelineDeps {
  outbox: PipelineDeps["outbox"] & { wake(): Promise<void> };
  /** A commit has shown that another process has the number; called once or more. */
  onLost(): void;
}

/** What the lanes hand their messages to. */
export interface LaneWorker {
  /** Resolves when the message has its decision; false: it stays undecided. Never throws. */
  take(pending: PlacedMessage, behind: () => PlacedMessage[]): Promise<boolean>;
  /** Another message has come behind one that is being handled, or waits. */
  arrived(first: PlacedMessage, message: PlacedMessage): void;
}

/** However fast somebody goes on writing, an answer comes after this time. */
const LONGEST_BURST_MS = 30_000;
/** How soon it is noticed that another text has come. */
const LOOK_AGAIN_MS = 100;
/** A row that cannot be read, whatever is tried. */
const BROKEN = Symbol("broken");
/** Attempts at a message that fails for another reason than the database: 15 seconds. */
const MOST_FAILURES = 5;

const GIVE_UP = `INSERT INTO decisions (inbox_id, device_id, chat, wa_id, trail, at)
SELECT id, device_id, chat, wa_id, ?, ? FROM inbox WHERE id = ? ON CONFLICT (inbox_id) DO NOTHING`;

/** Brings one message after the other to its decision: again when storage was away, never when it has one. */
export function createLaneWorker(deps: LaneWorkerDeps): LaneWorker {
  const { inbox, log, store } = deps;
  const { time } = store;
  const handleMessage = createHandler(deps);
  const settled = createSettled(deps);
  /** By the row of the message for which something is done that need not come to its end. */
  const interruptible = new Map<number, { message: Incoming; came: () => void }>();
  /** Decided together with a message before them. */
  const taken = new Set<number>();

  /** Storage that is away comes back: the message stays at the head of its lane until it has its decision. */
  async function take(pending: PlacedMessage, behind: () => PlacedMessage[]): Promise<boolean> {
    const { signal } = pending.number.ending;
    for (let failures = 0; ;) {
      try {
        if (taken.delete(pending.inboxId)) return true;
        // The commit that seemed to fail may have come through: only its answer was lost.
        const ids = [pending, ...behind()].map(({ inboxId }) => inboxId);
        if (failures > 0 && (await settled.since(pending, ids, taken))) return true;
        const stored = await load(pending);
        if (stored === null) return true;
        const view = viewOf(pending, stored, behind);
        const { id, type } = stored.message;
        const attributes = {
          "parley.message.id": id,
          "parley.message.type": type,
          "parley.attempt": failures + 1,
        };
        await inStep("decide message", { parent: traceOf(pending.inboxId), attributes }, () =>
          handleMessage(stored, view, pending.number),
        );
        return true;
      } catch (error) {
        // Whoever came first has been answered: in the end it is everybody's turn.
        if (error instanceof Overtaken && !signal.aborted) continue;
        // Whoever has the number now finds the message in its row.
        if (error instanceof NotOwner) deps.onLost();
        failures++;
        if (signal.aborted || (await hasGivenUp(pending, error, failures))) return !signal.aborted;
        await time.pause(backoffMs(failures), signal);
        if (signal.aborted) return false;
      }
    }
  }

  /** What can never be decided (a row that does not open) must not keep its chat from going on. */
  async function hasGivenUp(
    { inboxId, deviceId }: PlacedMessage,
    error: unknown,
    failures: number,
  ): Promise<boolean> {
    const detail = error instanceof Error ? error.name : typeof error;
    const hopeless = !(error instanceof StorageUnavailable) && failures >= MOST_FAILURES;
    const what = hopeless ? "giving up a message" : "could not decide about a message; retrying";
    log.error({ err: error, device: deviceId, inbox: inboxId, failures }, what);
    if (!hopeless) return false;
    const trail = JSON.stringify([{ by: "pipeline", outcome: "failed", detail }]);
    const decision = { sql: GIVE_UP, args: [trail, store.now(), inboxId] };
    const statements = [decision, inbox.done(inboxId), ...deps.leftovers(inboxId)];
    return store.writer.commit(statements, { owning: deviceId }).then(
      () => true,
      () => false,
    );
  }

  function viewOf(
    pending: PlacedMessage,
    { message }: StoredMessage,
    behind: () => PlacedMessage[],
  ): LaneView {
    const { signal } = pending.number.ending;
    return {
      async following(ms, isEnd = () => false) {
        const began = time.monotonic();
        let texts: StoredMessage[] = [];
        for (let count = 0, last = began; ;) {
          const now = time.monotonic();
          if (behind().length > count) {
            count = behind().length;
            last = now;
            texts = await textsBehind(behind(), message);
            // Whoever is no text of the same writer ends it, too.
            if (texts.length < count || texts.some(isEnd)) return texts;
          }
          const left = Math.min(last + ms, began + LONGEST_BURST_MS) - now;
          if (signal.aborted || left <= 0) return texts;
          await time.pause(Math.min(left, LOOK_AGAIN_MS), signal);
        }
      },
      onInterrupt(came) {
        if (behind().some((waiting) => isInterrupted(message, waiting))) came();
        else interruptible.set(pending.inboxId, { message, came });
        return () => void interruptible.delete(pending.inboxId);
      },
      ahead: pending.ahead,
      came: pending.came,
      took(messages) {
        for (const { inboxId } of messages) taken.add(inboxId);
      },
    };
  }

  /** Up to the first that is no text of the same writer. */
  async function textsBehind(behind: PlacedMessage[], first: Incoming): Promise<StoredMessage[]> {
    const writers = [first.sender, first.lid];
    const texts: StoredMessage[] = [];
    for (const pending of behind) {
      const stored = await loadUnlessBroken(pending);
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
  async function loadUnlessBroken(pending: PlacedMessage): Promise<StoredMessage | typeof BROKEN | null> {
    return load(pending).catch((error: unknown) => {
      if (error instanceof StorageUnavailable) throw error;
      return BROKEN;
    });
  }

  async function load({
    inboxId,
    deviceId,
    ownNumber,
    message,
  }: PlacedMessage): Promise<StoredMessage | null> {
    const content = message ?? (await inbox.load(inboxId));
    if (content === null) return null;
    const counted = content.poll ? await deps.polls.withTally(deviceId, content) : content;
    return { inboxId, deviceId, ownNumber, message: counted };
  }

  return {
    take,
    arrived(first, waiting) {
      const work = interruptible.get(first.inboxId);
      if (work !== undefined && isInterrupted(work.message, waiting)) work.came();
    },
  };
}

/** In a group somebody else's word is none of theirs. */
const isInterrupted = ({ sender, lid }: Incoming, { interrupts }: PlacedMessage): boolean =>
  interrupts?.some((id) => id === sender || id === lid) ?? false;
