import { subscribe } from "node:diagnostics_channel";
import { failpoint, hasFailpoints } from "../model/failpoint.ts";
import { OutboundError } from "../net/errors.ts";
import type { OutboundAnswer, SafeFetch } from "../net/safe-fetch.ts";
import { signingSecrets } from "./endpoints.ts";
import type { Endpoint } from "./endpoint.ts";
import { parseReply, type ParsedReply } from "./reply.ts";
import type { Progress } from "./rows.ts";
import { nextPause, readRetryAfter, verdictOf, type Verdict } from "./schedule.ts";
import { signedHeaders } from "./sign.ts";
import type { UnderWay } from "./under-way.ts";

const LARGEST_ANSWER = 1024 * 1024;

/** One post and what came of it. */
export interface Attempt {
  /** When it began, Unix milliseconds. */
  at: number;
  /** Null when no answer came. */
  statusCode: number | null;
  durationMs: number;
  /** Why it failed, for people; null when it was accepted. */
  error: string | null;
  /** The answer's body; null when none could be read. */
  answer: Buffer | null;
  verdict: Verdict;
  retryAfterMs: number | null;
  /** What an accepted answer says. */
  parsed: ParsedReply | null;
}

export interface DelivererDeps {
  http: Pick<SafeFetch, "request">;
  /** Milliseconds. */
  now: () => number;
  /** Ends attempts that are under way: they reject with its reason and do not count. */
  stopping: AbortSignal;
  underWay: UnderWay;
  onAttempt?: (attempt: Attempt) => void;
}

export interface Deliverer {
  /** Posts once. Rejects only when `stopping` aborts. */
  attempt(endpoint: Endpoint, id: string, body: string): Promise<Attempt>;
}

// Nothing else tells that a request has left and its answer is not here yet.
if (hasFailpoints)
  subscribe("undici:request:bodySent", (message) => {
    const { request } = message as { request: { headers: string[] } };
    if (request.headers.includes("webhook-id")) failpoint("after-webhook-request");
  });

export function createDeliverer({ http, now, stopping, underWay, onAttempt }: DelivererDeps): Deliverer {
  async function post(endpoint: Endpoint, id: string, body: string): Promise<Attempt> {
    const at = now();
    // Durations are measured, not subtracted from a clock that may be set.
    const started = performance.now();
    const done = (rest: Pick<Attempt, "statusCode" | "error" | "verdict"> & Partial<Attempt>): Attempt => {
      const durationMs = Math.round(performance.now() - started);
      const attempt = { answer: null, retryAfterMs: null, parsed: null, ...rest, at, durationMs };
      onAttempt?.(attempt);
      return attempt;
    };
    try {
      const answer = await http.request(endpoint.url, {
        method: "POST",
        headers: headersOf(endpoint, id, at, body),
        body,
        timeoutMs: endpoint.timeoutMs,
        maxBytes: LARGEST_ANSWER,
        signal: stopping,
      });
      failpoint("after-webhook-answer");
      return done(readAnswer(answer, now()));
    } catch (error) {
      stopping.throwIfAborted();
      return done(failure(error));
    }
  }

  return { attempt: (endpoint, id, body) => underWay.track(post(endpoint, id, body)) };
}

function readAnswer(
  { status, headers, body }: OutboundAnswer,
  now: number,
): Pick<Attempt, "statusCode" | "verdict" | "error" | "answer" | "retryAfterMs" | "parsed"> {
  const verdict = verdictOf(status);
  const accepted = verdict === "accepted";
  return {
    statusCode: status,
    verdict,
    error: accepted ? null : refusal(status),
    answer: body,
    retryAfterMs: readRetryAfter(headers.get("retry-after"), now),
    parsed: accepted ? parseReply(body) : null,
  };
}

function headersOf(endpoint: Endpoint, id: string, at: number, body: string): Record<string, string> {
  const own = Object.entries(endpoint.headers).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    "user-agent": "Parley",
    ...Object.fromEntries(own),
    "content-type": "application/json",
    ...signedHeaders(signingSecrets(endpoint, at), id, at, body),
  };
}

function refusal(status: number): string {
  const redirect =
    status >= 300 && status < 400 ? "; redirects are not followed, configure the final address" : "";
  return `HTTP ${status}${redirect}`;
}

function failure(error: unknown): Pick<Attempt, "statusCode" | "error" | "verdict" | "parsed"> {
  if (!(error instanceof OutboundError)) {
    const name = error instanceof Error ? error.name : "unknown";
    return { statusCode: null, error: `The post failed (${name}).`, verdict: "retry", parsed: null };
  }
  const { status, problem, message } = error;
  const verdict = status === null ? (problem === "not_allowed" ? "refused" : "retry") : verdictOf(status);
  // The receiver has the event; only its answer is of no use. Asking again would give the same.
  const parsed =
    verdict === "accepted" ? { understood: false, replies: [], ignored: [message], hold: null } : null;
  return { statusCode: status, error: verdict === "accepted" ? null : message, verdict, parsed };
}

/**
 * What an attempt makes of its delivery.
 *
 * @param made attempts made, this one included
 */
export function progressAfter(attempt: Attempt, made: number, now: number, random: () => number): Progress {
  if (attempt.verdict === "accepted") return { state: "delivered", nextAt: null };
  if (attempt.verdict === "gone") return { state: "disabled", nextAt: null };
  const pause = attempt.verdict === "retry" ? nextPause(made, attempt.retryAfterMs, random) : null;
  return pause === null ? { state: "dead", nextAt: null } : { state: "retrying", nextAt: now + pause };
}
