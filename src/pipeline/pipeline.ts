import type { Inbox, RecordedMessage } from "../inbox/inbox.ts";
import { hasFailpoints, isArmed } from "../model/failpoint.ts";
import type { Incoming } from "../model/messages.ts";
import { messageStored } from "../model/spans.ts";
import { sharedAbort } from "../model/shared-abort.ts";
import type { StoredMessage } from "../model/answerer.ts";
import { joinIntakes, NO_INTAKE, type Intake } from "../store/write/intake.ts";
import type { Store } from "../store/store.ts";
import type { NumberInPipeline, PipelineDeps } from "./deps.ts";
import { aliasOf } from "./handle.ts";
import { mayHold } from "./held.ts";
import type { PlacedMessage } from "./lane-view.ts";
import { createLaneWorker } from "./lane-worker.ts";
import { createLanes, type Lanes } from "./lanes.ts";
import { createPlacedRows, type PlacedRows } from "./placed-rows.ts";
import { createUnheardCommits } from "./unheard.ts";

/** What all numbers' messages pass: who is asked about them, and how much of what waits is in memory. */
export interface Pipeline {
  /**
   * What storing messages takes (T1) of a number that is not open here: whoever opens it finds them in the table.
   *
   * @param entered told of those that are new, after their commit
   */
  store(deviceId: number, messages: Incoming[], entered: (recorded: RecordedMessage[]) => void): Intake;
  /**
   * This process handles the number's messages from now on: what has no decision goes into lanes, and what is received
   * waits for that.
   */
  open(number: PipelineNumber): NumberPipeline;
}

/** A number as its pipeline sees it. */
export interface PipelineNumber {
  deviceId: number;
  /** The database in the hands of whoever has the number. */
  store: Store;
  inbox: PipelineDeps["inbox"];
  outbox: PipelineDeps["outbox"] & {
    /** Replies that were stored and not released leave. Never rejects. */
    wake(): Promise<void>;
  };
  /** Resolves when those who are asked know what they must of the number. Rejects with StorageUnavailable. */
  ready: Promise<void>;
  /** Messages were stored after it was closed: it may be open again. */
  onLate(ownNumber: string, recorded: RecordedMessage[]): void;
  /** A commit has shown that another process has the number; called once or more. */
  onLost(): void;
}

/** From a stored message of one number to its decision: each chat in order, many chats at once. */
export interface NumberPipeline {
  /** Everything that was stored before is in a lane. Rejects with StorageUnavailable: nothing is, and the number is to be closed. */
  readonly opened: Promise<void>;
  /**
   * What storing new messages takes (T1). Once that is committed they are put into the lanes of their chats.
   *
   * @param ownNumber digits of the linked number
   */
  receive(ownNumber: string, messages: Incoming[]): Intake;
  /** These were stored by somebody else: they get into their lanes, each once. */
  enter(ownNumber: string, recorded: RecordedMessage[]): void;
  /**
   * Stores a timer of a bot as a message and puts it into the lane of its chat.
   *
   * @param record stores it; null: it was cancelled meanwhile
   * @throws what `record` throws. It may be stored all the same: then it gets into its lane when the database answers again.
   */
  due(record: () => Promise<StoredMessage | null>): Promise<void>;
  /**
   * Looks for stored messages that are in no lane, if the outcome of a commit is not known. Call it before a connection
   * reads: what is stored already comes first.
   *
   * @throws StorageUnavailable; nothing is known yet
   */
  settle(): Promise<void>;
  /** Whether the row waits in a lane, or is being handled. */
  isPlaced(inboxId: number): boolean;
  /** Begins no further message; resolves when those begun are decided, or are left for the next start. */
  drain(): Promise<void>;
  /** What waits in lanes is dropped, and nothing that is being handled is committed any more. Then as `drain`. */
  close(): Promise<void>;
}

/** High, because a chat whose webhook hangs must not take the place of others; a waiting chat costs little. */
const MAX_PARALLEL_CHATS = 256;

/** The path of design §4 from the inbox to the outbox: a lane for each chat, and one decision for each message. */
export function createPipeline(deps: PipelineDeps & { inbox: Pick<Inbox, "intake"> }): Pipeline {
  /** Messages of all numbers that wait in lanes, or are handled. */
  const tally = { items: 0 };
  return {
    store: (...messages) => storing(deps, ...messages),
    open: (number) => openPipeline(deps, number, tally),
  };
}

/** What is held of a number's messages while they wait, and who works it off. */
function openPipeline(deps: PipelineDeps, own: PipelineNumber, tally: { items: number }): NumberPipeline {
  const { deviceId, store, inbox } = own;
  const ending = sharedAbort();
  const placed = createPlacedRows();
  const number = { ending, closed: false, placed };
  const worker = createLaneWorker({ ...deps, ...own });
  const lanes = createLanes({
    async handle(pending: PlacedMessage, behind) {
      const decided = await worker.take(pending, behind);
      if (decided) placed.left(pending.inboxId);
      return decided;
    },
    arrived: worker.arrived,
    maxParallel: MAX_PARALLEL_CHATS,
    tally,
  });
  // What was looked at while another process had the number may be old.
  deps.chats.forget(deviceId);
  const entrance = createEntrance(deps, { own, number, placed, lanes, tally });
  const unheard = createUnheardCommits({
    deviceId,
    look: entrance.look,
    ending: ending.signal,
    time: store.time,
    log: deps.log,
  });
  const { enter } = entrance;

  return {
    opened: entrance.opened,

    receive(ownNumber, messages) {
      const isFirst = unheard.begin();
      return storing({ ...deps, inbox }, deviceId, messages, (recorded) => {
        if (number.closed) own.onLate(ownNumber, recorded);
        else if (isFirst()) enter(ownNumber, recorded);
      });
    },

    async due(record) {
      const isFirst = unheard.begin();
      try {
        const stored = await record();
        if (isFirst() && stored !== null) enter(stored.ownNumber, [stored]);
      } catch (error) {
        void unheard.settleInTheEnd();
        throw error;
      }
    },

    enter,
    settle: unheard.settle,
    isPlaced: placed.has,

    drain() {
      ending.abort();
      return lanes.drain();
    },

    close() {
      number.closed = true;
      ending.abort();
      lanes.close();
      deps.chats.forget(deviceId);
      return lanes.drain();
    },
  };
}

/** What an entrance puts messages into. */
interface Inside {
  own: PipelineNumber;
  number: NumberInPipeline;
  placed: PlacedRows;
  lanes: Lanes<PlacedMessage>;
  tally: { items: number };
}

/** Brings stored messages into the lanes of their chats, each once: those of the table first, then what comes. */
function createEntrance(
  { isInterrupt, log }: Pick<PipelineDeps, "isInterrupt" | "log">,
  { own, number, placed, lanes, tally }: Inside,
) {
  const { deviceId, store, inbox } = own;
  /** Ids up to this one were found in the table when the number was opened, and are in lanes. */
  const upTo = own.ready.then(rebuild);
  const opened = upTo.then(() => undefined);
  // Whoever opens it is told.
  opened.catch(() => undefined);

  function add(message: Omit<PlacedMessage, "deviceId" | "number" | "ahead">): void {
    const { lane, inboxId: id } = message;
    if (number.closed || !placed.place(id)) return;
    lanes.add(lane, { id, item: { ...message, deviceId, number, ahead: lanes.count(lane) } });
  }

  /** A chat that turns out to have a number goes on in the lane of its LID while that has something to do. */
  function laneOf(message: Incoming): string {
    const alias = aliasOf(message);
    return alias !== null && lanes.count(alias) > 0 ? alias : message.chatKey;
  }

  /** Ids of whoever has written a word that is to be heard at once. */
  function interruptedBy(message: Incoming): string[] | null {
    if (message.fromMe || message.timer || !isInterrupt(deviceId, message)) return null;
    return message.lid === null ? [message.sender] : [message.sender, message.lid];
  }

  async function rebuild(): Promise<number> {
    let newest = 0;
    const before = placed.size;
    await placed.whileReading(
      () => inbox.pending(deviceId),
      ({ messages, upTo: last }) => {
        newest = last;
        for (const { inboxId, ownNumber, chatKey: lane } of messages)
          add({ inboxId, ownNumber, lane, message: null, interrupts: null, came: null });
      },
    );
    const found = placed.size - before;
    if (found > 0)
      log.info({ device: deviceId, messages: found }, "resuming messages that have no decision yet");
    return newest;
  }

  return {
    opened,
    async look(): Promise<void> {
      await upTo;
      await rebuild();
    },
    /** What the opening of the number has found in the table is in its lane already, behind what is older. */
    enter(ownNumber: string, recorded: RecordedMessage[]): void {
      const addLater = (newest: number): void => {
        for (const { inboxId, message } of recorded) {
          if (inboxId <= newest) continue;
          const lane = laneOf(message);
          const held = mayHold(message, tally.items) ? message : null;
          const interrupts = interruptedBy(message);
          add({ inboxId, ownNumber, lane, message: held, interrupts, came: store.time.monotonic() });
        }
      };
      // A number that could not be opened finds them in the table when it is opened again.
      upTo.then(addLater, () => undefined);
    },
  };
}

/** What storing messages takes. @param entered told of those that are new */
function storing(
  { handsBack, inbox, polls, store }: Pick<PipelineDeps, "handsBack" | "inbox" | "polls" | "store">,
  deviceId: number,
  messages: Incoming[],
  entered: (recorded: RecordedMessage[]) => void,
): Intake {
  const marked = messages.map((message) =>
    message.fromMe && handsBack(deviceId, message) ? { ...message, handsBack: true as const } : message,
  );
  const began = store.time.now();
  const stored = inbox.intake(deviceId, marked, (recorded) => {
    for (const { inboxId, message } of recorded)
      messageStored(inboxId, began, {
        "parley.message.id": message.id,
        "parley.message.type": message.type,
      });
    if (hasFailpoints && isArmed("after-receipt")) return;
    entered(recorded);
  });
  return joinIntakes(stored, { ...NO_INTAKE, statements: polls.keepVotes(deviceId, messages) });
}
