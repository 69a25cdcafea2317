import type { Draft } from "../../model/content/drafts.ts";
import type { Time } from "../../model/time.ts";
import type { Statement } from "../../store/store.ts";
import type { NewRow, QueuedRow, SendError } from "../rows.ts";

/** A send by REST. */
export interface SendRequest {
  deviceId: number;
  /** First-seen order, without duplicates; `number` as the answer shows it. */
  destinations: { number: string; jid: string }[];
  /** A function is asked once it is known that somebody may get it, and its failure refuses the request. */
  draft: Draft | (() => Promise<Draft>);
  /** Who asks: `console`, or `api:` and the name of the key. */
  via?: string;
  /** Message to quote when it is known. */
  quoteId?: string;
  /** Statements for the commit that stores the messages; not asked when nothing is stored. */
  beside?: (planned: PlannedSend[]) => Statement[];
  /** Takes back what `beside` has stored, when the messages have to be taken back. */
  undo?: () => Statement[];
}

/** One destination of a request at the moment at which its message is stored. */
export interface PlannedSend {
  number: string;
  /** Null when it was refused before anything was stored. */
  id: string | null;
  /** The message that it was to quote is not known there. */
  quoted?: false;
  error?: SendError;
}

/**
 * What a request is told about one of its destinations. `queued`: no outcome was known in time, and it goes on; `scheduled`: it
 * waits for its time; `cancelled`: somebody has taken it back before it left.
 */
export interface SendResult {
  number: string;
  state: "sent" | "queued" | "scheduled" | "cancelled" | "failed";
  /** Message id on the wire; null when nothing was stored for this destination. */
  id: string | null;
  /** The message that it was to quote is not known there: it is sent without. */
  quoted?: false;
  error?: SendError;
}

/** What became of a message. */
export type Settled = { state: "sent" | "cancelled" } | { state: "failed"; error: SendError };

/** The outcomes that one request waits for. */
export interface ExpectedOutcomes {
  /** Resolves when all are known, the waiting time is over, or the gateway stops. @returns those that are not known */
  wait(): Promise<NewRow[]>;
  /** Nothing is listened for any more. */
  end(): void;
  result(row: NewRow): SendResult;
}

/** Requests that wait for outcomes are woken by them; nothing is polled. */
export interface Submissions {
  expect(rows: NewRow[]): ExpectedOutcomes;
  /** A request waits for the outcome of this message. */
  awaits(message: Pick<QueuedRow, "deviceId" | "waId">): boolean;
  settled(message: Pick<QueuedRow, "deviceId" | "waId">, outcome: Settled): void;
  /** Messages that requests wait for. */
  waiting(): Pick<QueuedRow, "deviceId" | "waId">[];
  /** Whoever waits is told what is known now. */
  stop(): void;
}

/** Submissions that wait for their outcomes at most `sendWaitMs` each. */
export function createSubmissions(sendWaitMs: number, time: Pick<Time, "after">): Submissions {
  const listeners = new Map<string, { row: NewRow; hear: (outcome: Settled) => void }>();
  const waiting = new Set<() => void>();
  let stopped = false;

  function expect(rows: NewRow[]): ExpectedOutcomes {
    const known = new Map<string, Settled>();
    const awaited = rows.filter(({ draft }) => draft.sendAt === undefined);
    let wakeUp: (() => void) | null = null;
    for (const row of awaited)
      listeners.set(keyOf(row), {
        row,
        hear(outcome) {
          known.set(row.waId, outcome);
          if (known.size === awaited.length) wakeUp?.();
        },
      });

    return {
      async wait() {
        if (known.size < awaited.length && sendWaitMs > 0 && !stopped)
          await new Promise<void>((resolve) => {
            const cancel = time.after(sendWaitMs, () => end());
            const end = (): void => {
              cancel();
              waiting.delete(end);
              resolve();
            };
            wakeUp = end;
            waiting.add(end);
          });
        return awaited.filter(({ waId }) => !known.has(waId));
      },
      end() {
        for (const row of awaited) listeners.delete(keyOf(row));
      },
      result({ number, waId, draft }) {
        const waits = draft.sendAt === undefined ? "queued" : "scheduled";
        const outcome = known.get(waId) ?? { state: waits };
        return { number, id: waId, ...outcome };
      },
    };
  }

  return {
    expect,
    awaits: (message) => listeners.has(keyOf(message)),
    settled: (message, outcome) => listeners.get(keyOf(message))?.hear(outcome),
    waiting: () => Array.from(listeners.values(), ({ row }) => row),
    stop() {
      stopped = true;
      for (const end of waiting) end();
    },
  };
}

function keyOf({ deviceId, waId }: Pick<QueuedRow, "deviceId" | "waId">): string {
  return `${deviceId}:${waId}`;
}
