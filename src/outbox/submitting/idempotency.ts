import type { Logger } from "../../log.ts";
import { idempotency, outbox } from "../../../drizzle/schema.ts";
import { GatewayError } from "../../model/errors/errors.ts";
import { SENT_STATES } from "../../model/messages.ts";
import { DAY_MS } from "../../model/time.ts";
import { bytes, defineQuery, json, nullable } from "../../store/query.ts";
import type { Statement, Store } from "../../store/store.ts";
import { createClaims, NO_CLAIMS } from "./idempotency-claims.ts";
import type { SendError } from "../rows.ts";
import type { PlannedSend, SendResult } from "./submit.ts";

/** What a caller was told, word for word. */
export interface FirstAnswer {
  httpStatus: number;
  body: Record<string, unknown>;
  headers: Record<string, string>;
}

/** A request that names a key of its own, so that it may be repeated without being done twice. */
interface IdempotentRequest {
  /** API key and route: the scope in which the caller's own key means one request. */
  keyId: string;
  route: string;
  /** The caller's own key, 1 to 255 characters. */
  key: string;
  /** Everything that makes it this request and no other; compared, never stored in the clear. */
  body: Record<string, unknown>;
}

/** A request as the table knows it. */
interface Names {
  /** API key, route, and the caller's own key in a form that cannot be read: which row it is. */
  place: string[];
  /** What the row's texts are sealed for. */
  context: string;
  /** Of the body: tells it from another request with the same key. */
  fingerprint: string;
}

/** A request that is running under its caller's key. */
export interface Claim {
  /**
   * For the commit that stores the messages: from then on a retry gets these ids, whatever becomes of this process.
   *
   * @param planned one entry per destination, in their order
   */
  statements(planned: PlannedSend[]): Statement[];
  /** Takes back what `statements` has stored, when the messages have to be taken back. */
  undo(): Statement[];
  /**
   * Remembers the answer when messages were stored, and lets the next request with this key in. A fault of the gateway's own
   * (5xx) is no answer that a retry should get. Never rejects.
   */
  end(answer: FirstAnswer | null): Promise<void>;
}

/** What a key stands for: nothing so far, an answer that was given, or messages whose answer was lost. */
type Begun =
  | { kind: "new"; claim: Claim }
  | { kind: "answered"; answer: FirstAnswer }
  /** The messages were stored and the process ended before it answered; `claim.end` remembers what is told now. */
  | { kind: "stored"; results: SendResult[]; claim: Claim };

interface IdempotencyDeps {
  store: Store;
  log: Logger;
  node?: string | null;
}

/** Remembers under which key which request was answered, and how. */
export interface Idempotency {
  /** @throws IDEMPOTENCY_IN_PROGRESS, IDEMPOTENCY_KEY_REUSED */
  begin(request: IdempotentRequest): Promise<Begun>;
}

const REMEMBERED_MS = DAY_MS;
/** No row is as old. */
const NEVER = 0;

const FIND = defineQuery(
  `SELECT fingerprint, status, answer FROM idempotency
WHERE key_id = ? AND route = ? AND idem_key = ? AND created_at > ?`,
  // Whoever writes a row seals what it planned.
  { fingerprint: idempotency.fingerprint, status: idempotency.status, answer: bytes() },
);
const EXPIRED = "DELETE FROM idempotency WHERE key_id = ? AND route = ? AND idem_key = ? AND created_at <= ?";
// No "on conflict": a second process that had the same thought must store nothing at all.
const INSERT = `INSERT INTO idempotency (key_id, route, idem_key, fingerprint, wa_ids, answer, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?)`;
const ANSWERED =
  "UPDATE idempotency SET status = ?, answer = ? WHERE key_id = ? AND route = ? AND idem_key = ?";
const UNDO = "DELETE FROM idempotency WHERE key_id = ? AND route = ? AND idem_key = ? AND status IS NULL";
const OUTCOMES = defineQuery(
  `SELECT o.wa_id, o.state, o.error FROM outbox o JOIN devices d ON d.id = o.device_id
JOIN api_keys k ON k.account_id = d.account_id
WHERE k.id = ? AND o.wa_id IN (SELECT value FROM json_each(?))`,
  { waId: outbox.waId, state: outbox.state, error: nullable(json<SendError>()) },
);

/**
 * First answers of sends that name a key of their own. Rows stand in the table `idempotency` for 24 hours, and for
 * as long as the clock is doubted.
 *
 * @param deps.node name of this process among others, whose requests are kept apart by rows; default: it is alone
 */
export function createIdempotency({ store, log, node = null }: IdempotencyDeps): Idempotency {
  const { box, writer, now } = store;
  const claims = node === null ? NO_CLAIMS : createClaims(store, node);
  /** Fingerprints of what this process is at work on. */
  const running = new Map<string, string>();

  /** A clock that is doubted makes nothing old: what it called new would be sent twice. */
  const forgottenBefore = (): number => (store.clock.isTrusted() ? now() - REMEMBERED_MS : NEVER);

  /** @param row it is there from a run that ended before it could answer; a number: those of until then are forgotten */
  function claimFor(names: Names, row: "stored" | number): Claim {
    const { place, context, fingerprint } = names;
    let stored = row === "stored";
    return {
      statements(planned) {
        stored = true;
        const values = [fingerprint, idsOf(planned), box.sealJson(planned, context), now()];
        return [
          { sql: EXPIRED, args: [...place, row === "stored" ? NEVER : row] },
          { sql: INSERT, args: [...place, ...values] },
        ];
      },
      undo: () => [{ sql: UNDO, args: place }],
      async end(answer) {
        const answered = stored ? answeredRow(box, names, answer) : [];
        await writer
          .commit([...answered, ...claims.release(place)], { owning: null })
          // The ids are stored: a retry makes the answer again from what became of the messages.
          .catch((error: unknown) =>
            log.warn({ err: error }, "could not store an answer for its idempotency key"),
          );
        running.delete(context);
      },
    };
  }

  async function look(names: Names): Promise<Begun> {
    const before = forgottenBefore();
    const row = await store.readOne(FIND, [...names.place, before]);
    if (row === null) return { kind: "new", claim: claimFor(names, before) };
    if (row.fingerprint !== names.fingerprint) throw reused();
    const known = box.openJson(row.answer, names.context);
    if (row.status !== null) return { kind: "answered", answer: known as FirstAnswer };
    const planned = known as PlannedSend[];
    const results = await outcomesOf(store, names.place[0]!, planned);
    return { kind: "stored", results, claim: claimFor(names, "stored") };
  }

  /** The claim is this process's: whoever held it before may have answered in between. */
  async function lookAgain(names: Names): Promise<Begun> {
    const begun = await look(names).catch((error: unknown) => error as Error);
    if (!(begun instanceof Error) && begun.kind !== "answered") return begun;
    await writer.soon(claims.release(names.place), { owning: null }).catch(() => undefined);
    if (begun instanceof Error) throw begun;
    running.delete(names.context);
    return begun;
  }

  return {
    async begin(request) {
      const names = namesFor(box, request);
      const { place, context, fingerprint } = names;
      const other = running.get(context);
      if (other !== undefined) throw other === fingerprint ? inProgress() : reused();
      // Before the first await: of requests that come at once, one goes on.
      running.set(context, fingerprint);
      try {
        const begun = await look(names);
        if (begun.kind === "answered") running.delete(context);
        if (begun.kind === "answered" || node === null) return begun;
        const held = await claims.take(place, fingerprint);
        if (held !== null) throw held === fingerprint ? inProgress() : reused();
        return await lookAgain(names);
      } catch (error) {
        running.delete(context);
        throw error;
      }
    },
  };
}

/** A fault of the gateway's own (5xx) is remembered nowhere. */
const answeredRow = (box: Store["box"], { place, context }: Names, answer: FirstAnswer | null): Statement[] =>
  answer === null || answer.httpStatus >= 500
    ? []
    : [{ sql: ANSWERED, args: [answer.httpStatus, box.sealJson(answer, context), ...place] }];

const idsOf = (planned: PlannedSend[]): string => JSON.stringify(planned.map(({ id }) => id));

function namesFor(box: Store["box"], { keyId, route, key, body }: IdempotentRequest): Names {
  const place = [keyId, route, box.hmac("idempotency-key", key).toString("hex")];
  const context = `idempotency:${place.join(":")}`;
  return { place, context, fingerprint: box.hmac("idempotency-body", canonical(body)).toString("hex") };
}

/** What has become of the messages that a key stands for. */
async function outcomesOf(
  store: Pick<Store, "read">,
  keyId: string,
  planned: PlannedSend[],
): Promise<SendResult[]> {
  const rows = await store.read(OUTCOMES, [keyId, idsOf(planned)]);
  const byId = new Map(rows.map((row) => [row.waId, row]));
  return planned.map(({ number, id, error, ...quoted }) => {
    if (id === null) return { number, state: "failed", id, error };
    const row = byId.get(id);
    if (row === undefined) return { number, state: "failed", id, error: { code: "SENDER_NOT_CONNECTED" } };
    return { number, id, ...quoted, ...outcomeOf(row.state, row.error) };
  });
}

function outcomeOf(state: string, error: SendError | null): Pick<SendResult, "state" | "error"> {
  if (state === "queued" || state === "scheduled" || state === "cancelled") return { state };
  if ((SENT_STATES as readonly string[]).includes(state)) return { state: "sent" };
  return { state: "failed", error: error ?? { code: "UNAVAILABLE" } };
}

/** The same text for the same fields, in whatever order they came. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, entry]) => `${JSON.stringify(name)}:${canonical(entry)}`).join(",")}}`;
}

/** The refusal of a repetition that comes while the first request is still being handled. */
export const inProgress = (): GatewayError =>
  new GatewayError(
    "IDEMPOTENCY_IN_PROGRESS",
    "The first request with this idempotency key is still running; try again in a moment.",
    { retryAfter: 1 },
  );

const reused = (): GatewayError =>
  new GatewayError(
    "IDEMPOTENCY_KEY_REUSED",
    "This idempotency key belongs to a request with another body. Use a new key for a new message.",
  );
