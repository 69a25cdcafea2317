import type { SentState } from "../model/messages.ts";
import type { Reading } from "../store/store.ts";
import type { OwnNumber } from "./records.ts";
import { canonicalChats, keysOfChats } from "./same-chat.ts";
import { shownAddress } from "./shown.ts";
import { silenceOf, type Silence } from "./silence.ts";
import { createTraceRows, type CameRow, type DerivedIds, type WentRow } from "./trace-rows.ts";
import {
  decidedStep,
  stepsOf,
  stepsOfDelivery,
  stepsOfReply,
  stepsOnTheWay,
  type TraceStep,
} from "./trace-steps.ts";

/** What may have become of a message that came; of one that went it is its state. */
export const CAME_OUTCOMES = ["waiting", "answered", "forwarded", "silent"] as const;

/** The way of one message. */
export interface Trace {
  id: string;
  /** The number itself, digits. */
  sender: string;
  /** As `number` of a send takes it. */
  chat: string;
  direction: "in" | "out";
  type: string;
  outcome: (typeof CAME_OUTCOMES)[number] | SentState;
  /** Why nobody answered; null when somebody did, and of what goes out. */
  silence: Silence | null;
  /** In order. */
  steps: TraceStep[];
}

/** Whose message is wanted. */
export interface TraceWanted {
  id: string;
  /** Numbers whose messages may be seen. */
  devices: readonly OwnNumber[];
  /** Whether its chat may be seen, by its names as they are shown, the canonical one first; null: all may. */
  allowed: ((names: string[]) => boolean) | null;
}

/** Finds out which way messages took. */
export interface Traces {
  /** @returns null when there is none that may be seen. The same id at several numbers: one of them. */
  of(wanted: TraceWanted): Promise<Trace | null>;
}

/** Reads what the rows of a message say, all of which were written anyway; keeps nothing in memory. */
export function createTraces(store: Pick<Reading, "read" | "readOne">, ids: DerivedIds): Traces {
  const rows = createTraceRows(store, ids);

  /** The chat as it is known now; null when it may not be seen. */
  async function shownChat(
    { deviceId, chat }: { deviceId: number; chat: string },
    allowed: TraceWanted["allowed"],
  ): Promise<string | null> {
    const canonical = (await canonicalChats(store, [{ deviceId, chat }]))({ deviceId, chat });
    if (allowed === null) return shownAddress(canonical);
    const [names] = await keysOfChats(store, [{ deviceId, chat: canonical }]);
    return allowed(names!.map(shownAddress)) ? shownAddress(canonical) : null;
  }

  async function sent(went: WentRow): Promise<Pick<Trace, "type" | "outcome" | "silence" | "steps">> {
    const answers = went.inboxId === null ? null : await rows.idOf(went.inboxId);
    const stored: TraceStep = {
      step: "stored",
      at: went.createdAt,
      by: went.origin,
      ...(answers !== null && { id: answers }),
    };
    const steps = [stored, ...stepsOnTheWay(went)];
    return { type: went.kind, outcome: went.state, silence: null, steps };
  }

  async function received(came: CameRow): Promise<Pick<Trace, "type" | "outcome" | "silence" | "steps">> {
    const decision = await rows.decision(came.id);
    const delivery = decision && (await rows.delivery(came));
    const named = [...(decision?.way?.ids ?? []), ...(delivery?.reply?.ids ?? [])];
    const replies = decision === null ? [] : await rows.replies(came, named);
    const silence = silenceOf(came, decision, delivery, replies.length);
    const posted = delivery === null ? [] : stepsOfDelivery(delivery);
    const decidedAt = decision?.at ?? Infinity;
    const before = posted.filter(({ at }) => at! <= decidedAt);
    const after = [
      ...posted.filter(({ at }) => at! > decidedAt),
      ...replies.flatMap((reply) => stepsOfReply(reply, decidedAt)),
    ];
    const steps = [
      ...stepsOf(came, decision),
      ...before,
      ...(decision === null ? [] : [decidedStep(decision)]),
      ...after.toSorted((a, b) => (a.at ?? Infinity) - (b.at ?? Infinity)),
    ];
    const unanswered = delivery === null ? "silent" : "forwarded";
    const outcome = came.state === "pending" ? "waiting" : silence === null ? "answered" : unanswered;
    return {
      type: came.type,
      outcome: silence?.reason === "merged" ? "answered" : outcome,
      silence,
      steps,
    };
  }

  return {
    async of({ id, devices, allowed }) {
      const deviceIds = devices.map((device) => device.id);
      const went = await rows.went(deviceIds, id);
      const row = went ?? (await rows.came(deviceIds, id));
      if (row === null) return null;
      const chat = await shownChat(row, allowed);
      if (chat === null) return null;
      const sender = devices.find((device) => device.id === row.deviceId)!.number;
      const direction = went !== null || (row as CameRow).fromMe ? "out" : "in";
      return { id, sender, chat, direction, ...(went ? await sent(went) : await received(row as CameRow)) };
    },
  };
}
