import type { RecordedMessage } from "../inbox/inbox.ts";
import type { StoredMessage } from "../model/answerer.ts";
import { hasFailpoints, isArmed } from "../model/failpoint.ts";
import type { Incoming } from "../model/messages.ts";
import { sharedAbort } from "../model/shared-abort.ts";
import { messageStored } from "../model/spans.ts";
import { joinIntakes, NO_INTAKE, type Intake } from "../store/intake.ts";
import type { OpenNumber, PipelineDeps } from "./deps.ts";
import { aliasOf } from "./handle.ts";
import { mayHold } from "./held.ts";
import { createLaneWorker, type PendingMessage } from "./lane-worker.ts";
import { createLanes } from "./lanes.ts";

/** From a stored message to its decision: each chat in order, many chats at once. */
export interface Pipeline {
  /**
   * What storing new messages takes (T1). Once that is committed they are put into the lanes of their chats.
   *
   * @param ownNumber digits of the linked number
   */
  receive(deviceId: number, ownNumber: string, messages: Incoming[]): Intake;
  /** Puts a timer of a bot, already stored as an inbox row, into the lane of its chat. */
  due(stored: StoredMessage): void;
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
}

/** High, because a chat whose webhook hangs must not take the place of others; a waiting chat costs little. */
const MAX_PARALLEL_CHATS = 256;

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
    handle: worker.take,
    arrived: worker.arrived,
    maxParallel: MAX_PARALLEL_CHATS,
  });

  function add(number: OpenNumber, message: Omit<PendingMessage, "number" | "ahead">): void {
    const { deviceId, lane, inboxId: id } = message;
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
    const { messages, upTo } = await inbox.pending(deviceId);
    if (number.closed) return upTo;
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
    if (messages.length > 0)
      log.info(
        { device: deviceId, messages: messages.length },
        "going on with messages that have no decision yet",
      );
    return upTo;
  }

  return {
    receive(deviceId, ownNumber, messages) {
      const marked = messages.map((message) =>
        message.fromMe && deps.handsBack(deviceId, message)
          ? { ...message, handsBack: true as const }
          : message,
      );
      const began = deps.store.time.now();
      const stored = inbox.intake(deviceId, marked, (recorded) => {
        for (const { inboxId, message } of recorded)
          messageStored(inboxId, began, {
            "parley.message.id": message.id,
            "parley.message.type": message.type,
          });
        if (hasFailpoints && isArmed("after-receipt")) return;
        enter(ownNumber, recorded);
      });
      const votes = polls.keepVotes(deviceId, messages);
      return joinIntakes(stored, { ...NO_INTAKE, statements: votes });
    },

    due: ({ inboxId, deviceId, ownNumber, message }) => enter(ownNumber, [{ inboxId, deviceId, message }]),

    async open(deviceId) {
      const known = numbers.get(deviceId);
      if (known !== undefined) return void (await known.upTo);
      if (draining) return;
      let begin!: (upTo: Promise<number>) => void;
      const upTo = new Promise<number>((resolve) => (begin = resolve));
      // What was looked at while another process had the number may be old.
      chats.forget(deviceId);
      const number: Opened = { upTo, ending: sharedAbort(), closed: false };
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
