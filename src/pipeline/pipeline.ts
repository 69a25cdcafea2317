import type { RecordedMessage } from "../inbox/inbox.ts";
import type { StoredMessage } from "../model/answerer.ts";
import { hasFailpoints, isArmed } from "../model/failpoint.ts";
import type { Incoming } from "../model/messages.ts";
import { sharedAbort } from "../model/shared-abort.ts";
import { backoffMs } from "../model/time.ts";
import { messageStored } from "../model/spans.ts";
import { joinIntakes, NO_INTAKE, type Intake } from "../store/write/intake.ts";
import type { OpenNumber, PipelineDeps } from "./deps.ts";
import { aliasOf } from "./handle.ts";
import { mayHold } from "./held.ts";
import { createLaneWorker, type PlacedMessage } from "./lane-worker.ts";
import { createLanes } from "./lanes.ts";
import { createPlacedRows, type PlacedRows } from "./placed-rows.ts";

/** From a stored message to its decision: each chat in order, many chats at once. */
export interface Pipeline {
  /**
   * What storing new messages takes (T1). Once that is committed they are put into the lanes of their chats.
   *
   * @param ownNumber digits of the linked number
   */
  receive(deviceId: number, ownNumber: string, messages: Incoming[]): Intake;
  /**
   * Stores a timer of a bot as a message and puts it into the lane of its chat.
   *
   * @param record stores it; null: it was cancelled meanwhile
   * @throws what `record` throws. It may be stored all the same: then it gets into its lane when the database answers again.
   */
  due(deviceId: number, record: () => Promise<StoredMessage | null>): Promise<void>;
  /**
   * Looks for stored messages that are in no lane, if the outcome of a commit is not known. Call it before a connection
   * reads: what is stored already comes first.
   *
   * @throws StorageUnavailable; nothing is known yet
   */
  settle(deviceId: number): Promise<void>;
  /** Whether the row waits in a lane, or is being handled. */
  isPlaced(deviceId: number, inboxId: number): boolean;
  /**
   * This process handles the number's messages from now on: what has no decision goes into lanes. What is received
   * before that waits for it. Idempotent.
   *
   * @throws StorageUnavailable; call it again
   */
  open(deviceId: number): Promise<void>;
  /** It handles them no longer: what waits in lanes is dropped, and nothing that is being handled is committed any more. */
  close(deviceId: number): void;
  /** Begins no further message; resolves when those begun are decided, or are left for the next start. */
  drain(): Promise<void>;
}

interface Opened extends OpenNumber {
  /** Ids up to this one were found in the table when the number was opened, and are in lanes. */
  upTo: Promise<number>;
  placed: PlacedRows;
  /** Commits that may have stored messages, of which nobody has heard yet whether they have. */
  unheard: Set<symbol>;
  /** The look at the table that is under way. */
  settling: Promise<void> | null;
}

/** High, because a chat whose webhook hangs must not take the place of others; a waiting chat costs little. */
const MAX_PARALLEL_CHATS = 256;
/** Of commits that are prepared and never made, nobody hears: so many are remembered until the table is asked. */
const MOST_UNHEARD = 10_000;

/** The path of design §4 from the inbox to the outbox: a lane for each chat, and one decision for each message. */
export function createPipeline(deps: PipelineDeps): Pipeline {
  const { inbox, log, chats, polls } = deps;
  const numbers = new Map<number, Opened>();
  let draining = false;
  const worker = createLaneWorker({
    ...deps,
    onLost(deviceId) {
      close(deviceId);
      deps.onLost?.(deviceId);
    },
  });
  const lanes = createLanes({
    async handle(pending, behind) {
      const decided = await worker.take(pending, behind);
      if (decided) pending.number.placed.left(pending.inboxId);
      return decided;
    },
    arrived: worker.arrived,
    maxParallel: MAX_PARALLEL_CHATS,
  });

  function add(number: OpenNumber, message: Omit<PlacedMessage, "number" | "ahead">): void {
    const { deviceId, lane, inboxId: id } = message;
    if (!number.placed.place(id)) return;
    lanes.add(deviceId, lane, { id, item: { ...message, number, ahead: lanes.count(deviceId, lane) } });
  }

  /** A chat that turns out to have a number goes on in the lane of its LID while that has something to do. */
  function laneOf(deviceId: number, message: Incoming): string {
    const alias = aliasOf(message);
    return alias !== null && lanes.count(deviceId, alias) > 0 ? alias : message.chatKey;
  }

  /** Ids of whoever has written a word that is to be heard at once. */
  function interruptedBy(deviceId: number, message: Incoming): string[] | null {
    if (message.fromMe || message.timer || !deps.isInterrupt(deviceId, message)) return null;
    return message.lid === null ? [message.sender] : [message.sender, message.lid];
  }

  /** What the opening of the number has found in the table is in its lane already, behind what is older. */
  function enter(ownNumber: string, recorded: RecordedMessage[]): void {
    const number = recorded.length === 0 ? undefined : numbers.get(recorded[0]!.deviceId);
    if (number === undefined) return;
    const addLater = (upTo: number): void => {
      for (const { inboxId, deviceId, message } of recorded) {
        if (inboxId <= upTo || number.closed) continue;
        const held = mayHold(message, lanes.size) ? message : null;
        const interrupts = interruptedBy(deviceId, message);
        add(number, {
          inboxId,
          deviceId,
          ownNumber,
          lane: laneOf(deviceId, message),
          message: held,
          interrupts,
          came: deps.store.time.monotonic(),
        });
      }
    };
    // A number that could not be opened finds them in the table when it is opened again.
    number.upTo.then(addLater, () => undefined);
  }

  function close(deviceId: number): void {
    const number = numbers.get(deviceId);
    if (number !== undefined) {
      number.closed = true;
      number.ending.abort();
      numbers.delete(deviceId);
    }
    lanes.close(deviceId);
    chats.forget(deviceId);
  }

  async function rebuild(deviceId: number, number: Opened): Promise<number> {
    let newest = 0;
    const before = number.placed.size;
    await number.placed.whileReading(
      () => inbox.pending(deviceId),
      ({ messages, upTo }) => {
        newest = upTo;
        if (number.closed) return;
        for (const { inboxId, ownNumber, chatKey } of messages)
          add(number, {
            inboxId,
            deviceId,
            ownNumber,
            lane: chatKey,
            message: null,
            interrupts: null,
            came: null,
          });
      },
    );
    const found = number.placed.size - before;
    if (found > 0)
      log.info({ device: deviceId, messages: found }, "resuming messages that have no decision yet");
    return newest;
  }

  /** @returns to be called when it is known that the commit was made; true: nobody has looked for its rows meanwhile */
  function beginCommit(deviceId: number): () => boolean {
    const number = numbers.get(deviceId);
    const commit = Symbol();
    number?.unheard.add(commit);
    if (number !== undefined && number.unheard.size === MOST_UNHEARD) void settleInTheEnd(deviceId, number);
    return () => {
      if (number === undefined || number.unheard.delete(commit)) return true;
      // The look at the table may have come before the commit.
      number.unheard.add(commit);
      void settleInTheEnd(deviceId, number);
      return false;
    };
  }

  async function settle(deviceId: number): Promise<void> {
    const number = numbers.get(deviceId);
    if (number === undefined) return;
    const asked = [...number.unheard];
    // A look that is under way may have begun before the last of them.
    while (!number.closed && asked.some((commit) => number.unheard.has(commit))) {
      number.settling ??= lookForUnheard(deviceId, number);
      await number.settling;
    }
  }

  async function lookForUnheard(deviceId: number, number: Opened): Promise<void> {
    const commits = [...number.unheard];
    try {
      await number.upTo;
      await rebuild(deviceId, number);
      for (const commit of commits) number.unheard.delete(commit);
    } finally {
      number.settling = null;
    }
  }

  /** Looks until the database answers, or the number is closed. */
  async function settleInTheEnd(deviceId: number, number: Opened): Promise<void> {
    const { signal } = number.ending;
    for (let failures = 1; !number.closed && !signal.aborted; failures++)
      try {
        return await settle(deviceId);
      } catch (err) {
        log.warn({ err, device: deviceId }, "stored messages may have to wait: the database does not answer");
        await deps.store.time.pause(backoffMs(failures), signal);
      }
  }

  return {
    receive(deviceId, ownNumber, messages) {
      const marked = messages.map((message) =>
        message.fromMe && deps.handsBack(deviceId, message)
          ? { ...message, handsBack: true as const }
          : message,
      );
      const began = deps.store.time.now();
      const isFirst = beginCommit(deviceId);
      const stored = inbox.intake(deviceId, marked, (recorded) => {
        for (const { inboxId, message } of recorded)
          messageStored(inboxId, began, {
            "parley.message.id": message.id,
            "parley.message.type": message.type,
          });
        if (hasFailpoints && isArmed("after-receipt")) return;
        if (isFirst()) enter(ownNumber, recorded);
      });
      const votes = polls.keepVotes(deviceId, messages);
      return joinIntakes(stored, { ...NO_INTAKE, statements: votes });
    },

    async due(deviceId, record) {
      const isFirst = beginCommit(deviceId);
      const number = numbers.get(deviceId);
      try {
        const stored = await record();
        if (isFirst() && stored !== null) enter(stored.ownNumber, [stored]);
      } catch (error) {
        if (number !== undefined) void settleInTheEnd(deviceId, number);
        throw error;
      }
    },
    settle,
    isPlaced: (deviceId, inboxId) => numbers.get(deviceId)?.placed.has(inboxId) ?? false,

    async open(deviceId) {
      const known = numbers.get(deviceId);
      if (known !== undefined) return void (await known.upTo);
      if (draining) return;
      let begin!: (upTo: Promise<number>) => void;
      const upTo = new Promise<number>((resolve) => (begin = resolve));
      // What was looked at while another process had the number may be old.
      chats.forget(deviceId);
      const number: Opened = {
        upTo,
        ending: sharedAbort(),
        closed: false,
        placed: createPlacedRows(),
        unheard: new Set(),
        settling: null,
      };
      numbers.set(deviceId, number);
      begin(rebuild(deviceId, number));
      await upTo.catch((error: unknown) => {
        // Nothing is in lanes: whoever opens it again begins anew.
        if (numbers.get(deviceId) === number) numbers.delete(deviceId);
        throw error;
      });
    },

    close,

    async drain() {
      draining = true;
      for (const { ending } of numbers.values()) ending.abort();
      await lanes.drain();
    },
  };
}
