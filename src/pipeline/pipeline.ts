import type { Logger } from "pino";
import type { Inbox, RecordedMessage } from "../inbox/inbox.ts";
import type { Answerer, StoredMessage } from "../model/answerer.ts";
import { hasFailpoints, isArmed } from "../model/failpoint.ts";
import type { Incoming } from "../model/messages.ts";
import { backoffMs } from "../model/time.ts";
import type { Outbox } from "../outbox/outbox.ts";
import type { Polls } from "../inbox/polls.ts";
import { StorageUnavailable } from "../store/errors.ts";
import { joinIntakes, NO_INTAKE, type Intake } from "../store/intake.ts";
import type { Store } from "../store/store.ts";
import { createChats } from "./chats.ts";
import { countReplies, mayReply } from "./guards.ts";
import { aliasOf, createHandler, type LaneView, type DecisionRow } from "./handle.ts";
import { mayHold } from "./held.ts";
import { createLanes } from "./lanes.ts";

export interface PipelineDeps {
  store: Store;
  config: { takeoverMinutes: number; loopGuardPerMinute: number };
  log: Logger;
  inbox: Inbox;
  outbox: Pick<Outbox, "rows" | "has">;
  polls: Pick<Polls, "keepVotes" | "withTally">;
  /** In the order in which they are asked: bots, then the webhook. */
  answerers: Answerer[];
  /** Seconds that an automatic answer of this number may be late. */
  replyMaxAge: (deviceId: number) => number;
  /** Called after the commit of a decision (T2). */
  onDecided?: (stored: StoredMessage, row: DecisionRow) => void;
}

export interface Pipeline {
  /**
   * What storing new messages takes (T1). Once that is committed they are put into the lanes of their chats.
   *
   * @param ownNumber digits of the linked number
   */
  receive(deviceId: number, ownNumber: string, messages: Incoming[]): Intake;
  /** Puts a timer of a bot, already stored as an inbox row, into the lane of its chat. */
  due(stored: StoredMessage): Promise<void>;
  /** Puts what the last run left undecided into lanes. What is received before that waits for it. */
  start(): Promise<void>;
  /** The loop guard of the lanes, for automatic replies that are made outside of them. */
  loopGuard: {
    allows(deviceId: number, chat: string): Promise<boolean>;
    count(deviceId: number, chat: string, replies: number): Promise<void>;
  };
  /** The number is erased: what waits in its lanes is dropped. */
  forget(deviceId: number): void;
  /** The clock was set back by so many milliseconds. */
  onClockMoved(ms: number): void;
  /** Begins no further message; resolves when those begun are decided, or are left for the next start. */
  drain(): Promise<void>;
}

/** A message in a lane; without content when it is cheaper to read it when its turn comes. */
interface Pending {
  inboxId: number;
  deviceId: number;
  ownNumber: string;
  /** Key of the lane. */
  lane: string;
  message: Incoming | null;
}

/** High, because a chat whose webhook hangs must not take the place of others; a waiting chat costs little. */
const MAX_PARALLEL_CHATS = 256;
/** However fast somebody goes on writing, an answer comes after this time. */
const LONGEST_BURST_MS = 30_000;
/** Attempts at a message that fails for another reason than the database: 15 seconds. */
const MOST_FAILURES = 5;

const GIVE_UP = `INSERT INTO decisions (inbox_id, device_id, chat, wa_id, trail, at)
SELECT id, device_id, chat, wa_id, ?, ? FROM inbox WHERE id = ? ON CONFLICT (inbox_id) DO NOTHING`;

/** The path of design §4 from the inbox to the outbox. */
export function createPipeline(deps: PipelineDeps): Pipeline {
  const { inbox, log } = deps;
  let stopping = false;
  const endPauses = new Set<() => void>();
  const chats = createChats(deps.store);
  const handleMessage = createHandler(deps, chats, () => stopping);
  /** Decided together with a message before them. */
  const taken = new Set<number>();
  const lanes = createLanes({ handle, maxParallel: MAX_PARALLEL_CHATS });
  let startedWith: Promise<number> | null = null;

  /** Storage that is away comes back: the message stays at the head of its lane until it has its decision. */
  async function handle(pending: Pending): Promise<boolean> {
    for (let failures = 1; ; failures++) {
      try {
        if (taken.delete(pending.inboxId)) return true;
        const stored = await load(pending);
        if (stored !== null) await handleMessage(stored, viewOf(pending, stored));
        return true;
      } catch (error) {
        if (stopping || (await hasGivenUp(pending, error, failures))) return !stopping;
        await pause(backoffMs(failures));
        if (stopping) return false;
      }
    }
  }

  /** What can never be decided (a row that does not open) must not keep its chat from going on. */
  async function hasGivenUp(
    { inboxId, deviceId }: Pending,
    error: unknown,
    failures: number,
  ): Promise<boolean> {
    const detail = error instanceof Error ? error.name : typeof error;
    const hopeless = !(error instanceof StorageUnavailable) && failures >= MOST_FAILURES;
    const what = hopeless ? "a message is given up" : "a message could not be decided; it is tried again";
    log.error({ device: deviceId, inbox: inboxId, error: detail, failures }, what);
    if (!hopeless) return false;
    const trail = JSON.stringify([{ by: "pipeline", outcome: "failed", detail }]);
    const decision = { sql: GIVE_UP, args: [trail, deps.store.now(), inboxId] };
    return deps.store.writer.commit([decision, inbox.done(inboxId)]).then(
      () => true,
      () => false,
    );
  }

  function viewOf({ deviceId, lane }: Pending, { message }: StoredMessage): LaneView {
    return {
      async following(ms) {
        const until = deps.store.now() + LONGEST_BURST_MS;
        for (let count = -1; count < waitingBehind(deviceId, lane);) {
          count = waitingBehind(deviceId, lane);
          if (stopping || deps.store.now() >= until) break;
          await pause(ms);
        }
        return textsBehind(deviceId, lane, message);
      },
      took(messages) {
        for (const { inboxId } of messages) taken.add(inboxId);
      },
    };
  }

  const waitingBehind = (deviceId: number, lane: string): number => lanes.following(deviceId, lane).length;

  /** Up to the first that is no text of the same writer. */
  async function textsBehind(deviceId: number, lane: string, first: Incoming): Promise<StoredMessage[]> {
    const writers = [first.sender, first.lid];
    const texts: StoredMessage[] = [];
    for (const pending of lanes.following(deviceId, lane)) {
      const stored = await load(pending);
      if (stored === null) continue;
      const { type, fromMe, sender, lid, timer } = stored.message;
      const same = writers.includes(sender) || lid === first.sender;
      if (type !== "text" || fromMe || timer || !same) break;
      texts.push(stored);
    }
    return texts;
  }

  async function load({ inboxId, deviceId, ownNumber, message }: Pending): Promise<StoredMessage | null> {
    const content = message ?? (await inbox.load(inboxId));
    if (content === null) return null;
    const counted = content.poll ? await deps.polls.withTally(deviceId, content) : content;
    return { inboxId, deviceId, ownNumber, message: counted };
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        endPauses.delete(end);
        resolve();
      };
      const cancel = deps.store.time.after(ms, end);
      endPauses.add(end);
    });
  }

  function add(pending: Pending): void {
    lanes.add(pending.deviceId, pending.lane, { id: pending.inboxId, item: pending });
  }

  /** A chat that turns out to have a number goes on in the lane of its LID while that has something to do. */
  function laneOf(deviceId: number, message: Incoming): string {
    const alias = aliasOf(message);
    return alias !== null && lanes.has(deviceId, alias) ? alias : message.chatKey;
  }

  async function rebuild(): Promise<number> {
    const { messages, upTo } = await inbox.pending();
    for (const { inboxId, deviceId, ownNumber, chatKey } of messages)
      add({ inboxId, deviceId, ownNumber, lane: chatKey, message: null });
    if (messages.length > 0)
      log.info({ messages: messages.length }, "going on with messages of the last run");
    return upTo;
  }

  /** What the start has found in the table is in its lane already, behind what is older; a start that fails ends all. */
  function intoLanes(deviceId: number, ownNumber: string, recorded: RecordedMessage[]): void {
    if (recorded.length === 0 || startedWith === null) return;
    const addLater = (upTo: number): void => {
      for (const { inboxId, message } of recorded) {
        if (inboxId <= upTo) continue;
        const held = mayHold(message, lanes.size) ? message : null;
        add({ inboxId, deviceId, ownNumber, lane: laneOf(deviceId, message), message: held });
      }
    };
    startedWith.then(addLater, () => undefined);
  }

  return {
    receive(deviceId, ownNumber, messages) {
      const stored = inbox.intake(deviceId, messages, (recorded) => {
        if (hasFailpoints && isArmed("after-receipt")) return;
        intoLanes(deviceId, ownNumber, recorded);
      });
      const votes = deps.polls.keepVotes(deviceId, messages);
      return joinIntakes(stored, { ...NO_INTAKE, statements: votes });
    },

    async due({ inboxId, deviceId, ownNumber, message }) {
      if (startedWith === null || inboxId <= (await startedWith)) return;
      add({ inboxId, deviceId, ownNumber, lane: laneOf(deviceId, message), message });
    },

    async start() {
      startedWith ??= rebuild();
      await startedWith;
    },

    loopGuard: {
      allows: async (deviceId, chat) =>
        mayReply(await chats.load(deviceId, chat), deps.config, deps.store.now()),
      count: async (deviceId, chat, replies) =>
        countReplies(await chats.load(deviceId, chat), replies, deps.store.now()),
    },

    forget(deviceId) {
      lanes.forget(deviceId);
      chats.forget(deviceId);
    },

    onClockMoved: chats.onClockMoved,

    async drain() {
      stopping = true;
      for (const end of endPauses) end();
      await lanes.drain();
    },
  };
}
