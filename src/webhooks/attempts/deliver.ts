import { subscribe } from "node:diagnostics_channel";
import { failpoint, hasFailpoints } from "../../model/failpoint.ts";
import { addTraceHeaders, inStep, type Step } from "../../model/spans.ts";
import type { Time } from "../../model/time.ts";
import { OutboundError } from "../../net/errors.ts";
import type { OutboundAnswer, SafeFetch } from "../../net/safe-fetch.ts";
import { textOfAnswer } from "../replies/answer-text.ts";
import { signingSecrets, type Receiver } from "../receiver.ts";
import { parseAnswer, type ParsedReply } from "../replies/reply.ts";
import type { KeptAttempt, Progress } from "../rows.ts";
import { nextPause, readRetryAfter, resultOf, type AttemptResult } from "./schedule.ts";
import { signedHeaders } from "../events/sign.ts";
import type { InFlight } from "./in-flight.ts";
import type { WebhookEvent } from "../webhook-event.ts";

const LARGEST_ANSWER = 1024 * 1024;

/** One post and what came of it. */
export interface Attempt extends KeptAttempt {
  result: AttemptResult;
  retryAfterMs: number | null;
  /** What an accepted answer says. */
  parsed: ParsedReply | null;
}

interface DelivererDeps {
  http: Pick<SafeFetch, "request">;
  time: Pick<Time, "now" | "monotonic">;
  /** Ends attempts that are under way: they reject with its reason and do not count. */
  stopping: AbortSignal;
  inFlight: InFlight;
  observe?: ((event: WebhookEvent) => void) | undefined;
}

/** What a trace is told of every post: not where it goes. */
const TOLD = { "http.request.method": "POST" };

/** Told of a post before it is made. */
type OnPost = (headers: Record<string, string>) => void;

/** Posts events, and reads what is answered. */
export interface Deliverer {
  /** Posts once. Rejects only when `stopping` aborts. @param onPost told the headers that are posted */
  attempt(receiver: Receiver, id: string, body: string, onPost?: OnPost): Promise<Attempt>;
}

// Nothing else tells that a request has left and its answer is not here yet.
if (hasFailpoints)
  subscribe("undici:request:bodySent", (message) => {
    const { request } = message as { request: { headers: string[] } };
    if (request.headers.includes("webhook-id")) failpoint("after-webhook-request");
  });

/** Posts through `http`, which refuses private addresses and answers of more than 1 MiB. */
export function createDeliverer({ http, time, stopping, inFlight, observe }: DelivererDeps): Deliverer {
  const traced = (...asked: Parameters<Deliverer["attempt"]>): Promise<Attempt> =>
    inStep("POST webhook", { kind: "client", attributes: TOLD }, async (step) => {
      const attempt = await post(step.linkTo, ...asked);
      step.set({
        "parley.delivery.id": asked[1],
        "parley.delivery.result": attempt.result,
        ...(attempt.statusCode !== null && { "http.response.status_code": attempt.statusCode }),
      });
      return attempt;
    });

  async function post(
    linkTo: Step["linkTo"],
    receiver: Receiver,
    id: string,
    body: string,
    onPost?: OnPost,
  ): Promise<Attempt> {
    const at = time.now();
    const headers = headersOf(receiver, id, at, body);
    addTraceHeaders(headers);
    onPost?.(headers);
    // Durations are measured, not subtracted from a clock that may be set.
    const started = time.monotonic();
    const done = (rest: Pick<Attempt, "statusCode" | "error" | "result"> & Partial<Attempt>): Attempt => {
      const durationMs = Math.round(time.monotonic() - started);
      const attempt = { answer: null, retryAfterMs: null, parsed: null, ...rest, at, durationMs };
      const { result, statusCode } = rest;
      observe?.({ type: "attempt", deviceId: receiver.deviceId, result, statusCode, durationMs });
      return attempt;
    };
    try {
      const answer = await http.request(receiver.url, {
        method: "POST",
        headers,
        body,
        timeoutMs: receiver.timeoutMs,
        maxBytes: LARGEST_ANSWER,
        // Its `webhook-id` says so.
        repeatable: true,
        signal: stopping,
      });
      failpoint("after-webhook-answer");
      linkTo(answer.headers.get("traceparent"));
      return done(readAnswer(answer, time.now()));
    } catch (error) {
      stopping.throwIfAborted();
      return done(failure(error));
    }
  }

  return { attempt: (...asked) => inFlight.track(traced(...asked)) };
}

function readAnswer(
  { status, headers, body }: OutboundAnswer,
  now: number,
): Pick<Attempt, "statusCode" | "result" | "error" | "answer" | "retryAfterMs" | "parsed"> {
  const result = resultOf(status);
  const accepted = result === "accepted";
  const said = textOfAnswer(body, headers.get("content-type"));
  return {
    statusCode: status,
    result,
    error: accepted ? null : refusal(status),
    answer: "text" in said && said.charset !== "utf-8" ? Buffer.from(said.text) : body,
    retryAfterMs: readRetryAfter(headers.get("retry-after"), now),
    parsed: accepted ? parseAnswer(said) : null,
  };
}

function headersOf(receiver: Receiver, id: string, at: number, body: string): Record<string, string> {
  const own = Object.entries(receiver.headers).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    "user-agent": "Parley",
    ...Object.fromEntries(own),
    "content-type": "application/json",
    ...signedHeaders(signingSecrets(receiver, at), id, at, body),
  };
}

function refusal(status: number): string {
  const redirect =
    status >= 300 && status < 400 ? "; redirects are not followed, configure the final address" : "";
  return `HTTP ${status}${redirect}`;
}

function failure(error: unknown): Pick<Attempt, "statusCode" | "error" | "result" | "parsed"> {
  if (!(error instanceof OutboundError)) {
    const name = error instanceof Error ? error.name : "unknown";
    return { statusCode: null, error: `The post failed (${name}).`, result: "retry", parsed: null };
  }
  const { status, problem, message } = error;
  const result = status === null ? (problem === "not_allowed" ? "refused" : "retry") : resultOf(status);
  // The receiver has the event; only its answer is of no use. Asking again would give the same.
  const parsed =
    result === "accepted" ? { understood: false, replies: [], ignored: [message], hold: null } : null;
  return { statusCode: status, error: result === "accepted" ? null : message, result, parsed };
}

/**
 * What an attempt makes of its delivery.
 *
 * @param made attempts made, this one included
 */
export function progressAfter(attempt: Attempt, made: number, now: number, random: () => number): Progress {
  if (attempt.result === "accepted") return { state: "delivered", nextAt: null };
  if (attempt.result === "gone") return { state: "disabled", nextAt: null };
  const pause = attempt.result === "retry" ? nextPause(made, attempt.retryAfterMs, random) : null;
  return pause === null ? { state: "dead", nextAt: null } : { state: "retrying", nextAt: now + pause };
}
