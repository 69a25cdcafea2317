import type { ResultSet } from "@libsql/client";
import { GatewayError } from "../../model/errors/errors.ts";
import { failpoint } from "../../model/failpoint.ts";
import type { Draft, DraftQuote } from "../../model/content/drafts.ts";
import { StorageUnavailable } from "../../store/errors.ts";
import type { Statement, Store } from "../../store/store.ts";
import type { HandedOver } from "./handed-over.ts";
import { randomId, type NewRow, type Rows, type SendError } from "../rows.ts";
import type { PlannedSend, SendRequest, SendResult, Submissions } from "./submit.ts";
import type { UncertainSends } from "./uncertain.ts";

/** What quoting a message takes, or null when it is not known in that chat. */
export type FindQuote = (deviceId: number, chat: string, waId: string) => Promise<DraftQuote | null>;

/** What is asked about the destinations of a send before it is stored. */
export interface SendChecks {
  /** Key of the chat with an address on the wire: the phone number's form when it is known. */
  canonicalChat: (deviceId: number, jid: string) => Promise<string>;
  /** Why nothing may be sent to this address (a group that only admins write in), or null. */
  refusal?: (deviceId: number, jid: string) => Promise<SendError | null>;
  findQuote?: FindQuote;
}

type Destination = SendRequest["destinations"][number];

/** One destination, and why nothing may be sent to it; null when something may. */
type Judged = Destination & { refused: SendError | null };

/** What is to be stored for a destination. */
interface Planned {
  number: string;
  refused: SendError | null;
  row: NewRow | null;
  /** What it was to quote is not known there. */
  quoted?: false;
}

const UNQUOTED = { quoted: false } as const;

interface SubmittingDeps extends SendChecks {
  store: Pick<Store, "writer">;
  config: { sendWaitMs: number };
  connections: { isLinked(deviceId: number): boolean };
  rows: Pick<Rows, "insert">;
  submissions: Pick<Submissions, "expect">;
  handedOver: Pick<HandedOver, "statements" | "look">;
  uncertain: Pick<UncertainSends, "areStored">;
  /** Stored messages leave. @param results of their inserts, and of the wake-up when there is one */
  release(deviceId: number, stored: NewRow[], results: ResultSet[]): void;
}

/** How a send by REST is stored, and what it is told. See `Outbox.submit`. */
export function createSubmitting(deps: SubmittingDeps): (request: SendRequest) => Promise<SendResult[]> {
  const { store, config, connections, rows, submissions, handedOver, uncertain, release } = deps;

  function requireLinked(deviceId: number): void {
    if (!connections.isLinked(deviceId)) throw new GatewayError("SENDER_NOT_CONNECTED", "Invalid data!");
  }

  async function judge({ deviceId }: SendRequest, { number, jid }: Destination): Promise<Judged> {
    return { number, jid, refused: (await deps.refusal?.(deviceId, jid)) ?? null };
  }

  async function plan(
    request: SendRequest,
    { number, jid, refused }: Judged,
    content: Draft,
  ): Promise<Planned> {
    if (refused !== null) return { number, refused, row: null };
    const { deviceId, quoteId } = request;
    const chat = await deps.canonicalChat(deviceId, jid);
    const quote = quoteId === undefined ? null : await deps.findQuote?.(deviceId, chat, quoteId);
    const draft = quote ? { ...content, quote } : content;
    const row = newRow(request, { number, jid }, { chat, draft });
    return { number, refused: null, row, ...(quoteId !== undefined && !quote && UNQUOTED) };
  }

  /** @returns results of the inserts, then of the wake-up; none when only looking has shown that the messages are stored */
  async function storeSend(
    { deviceId, undo }: SendRequest,
    stored: NewRow[],
    beside: Statement[],
  ): Promise<ResultSet[]> {
    const inserts = stored.map(rows.insert);
    const wake = handedOver.statements(deviceId);
    try {
      const results = await store.writer.commit([...inserts, ...wake, ...beside], { owning: null });
      return results.slice(0, inserts.length + wake.length);
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
      const waIds = stored.map(({ waId }) => waId);
      if (await uncertain.areStored(deviceId, waIds, undo?.() ?? [])) return [];
      throw error;
    }
  }

  /** Whoever is told `queued` by a node that does not send it itself is told so by the row. */
  async function outcomesOf(stored: NewRow[], results: ResultSet[], deviceId: number) {
    const outcomes = submissions.expect(stored);
    release(deviceId, stored, results);
    const unknown = await outcomes.wait();
    if (config.sendWaitMs > 0 && unknown.length > 0) await handedOver.look(unknown);
    outcomes.end();
    return outcomes;
  }

  return async function submit(request: SendRequest): Promise<SendResult[]> {
    const { deviceId, destinations, draft } = request;
    requireLinked(deviceId);
    const judged = await Promise.all(destinations.map((destination) => judge(request, destination)));
    if (judged.every(({ refused }) => refused !== null)) return judged.map(failedResult);
    const content = typeof draft === "function" ? await draft() : draft;
    // Fetching a file may take minutes.
    requireLinked(deviceId);
    const planned = await Promise.all(judged.map((destination) => plan(request, destination, content)));
    const stored = planned.flatMap(({ row }) => (row === null ? [] : [row]));
    const beside = request.beside?.(planned.map(plannedSend)) ?? [];
    const results = await storeSend(request, stored, beside);
    failpoint("after-accept");
    const outcomes = await outcomesOf(stored, results, deviceId);
    return planned.map(({ number, refused, row, quoted }) =>
      row === null
        ? failedResult({ number, refused })
        : { ...outcomes.result(row), ...(quoted === false && UNQUOTED) },
    );
  };
}

const newRow = (
  { deviceId, via }: SendRequest,
  { number, jid }: Destination,
  { chat, draft }: Pick<NewRow, "chat" | "draft">,
): NewRow => ({
  deviceId,
  waId: randomId(),
  chat,
  jid,
  number,
  draft,
  origin: "api",
  ...(via !== undefined && { via }),
  answers: null,
});

const failedResult = ({ number, refused }: Pick<Judged, "number" | "refused">): SendResult => ({
  number,
  state: "failed",
  id: null,
  ...(refused && { error: refused }),
});

function plannedSend({ number, refused, row, quoted }: Planned): PlannedSend {
  return row === null
    ? { number, id: null, ...(refused ? { error: refused } : {}) }
    : { number, id: row.waId, ...(quoted === false && UNQUOTED) };
}
