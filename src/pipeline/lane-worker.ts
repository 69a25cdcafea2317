import type { StoredMessage } from "../model/answerer.ts";
import { inStep, traceOf } from "../model/spans.ts";
import { backoffMs } from "../model/time.ts";
import { NotOwner, StorageUnavailable } from "../store/errors.ts";
import type { PipelineDeps } from "./deps.ts";
import { Overtaken } from "./conclusions.ts";
import { createHandler } from "./handle.ts";
import { createLaneViews, type PlacedMessage } from "./lane-view.ts";
import { createSettled } from "./settled.ts";

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
  /** Decided together with a message before them. */
  const taken = new Set<number>();
  const views = createLaneViews(time, load, taken);

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
        const view = views.of(pending, stored, behind);
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

  return { take, arrived: views.arrived };
}
