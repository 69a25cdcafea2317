import { defineHandler, getRouterParams, type EventHandler, type H3Event } from "h3";
import type { z } from "zod";
import { withSentence } from "../model/errors/error-sentences.ts";
import { GatewayError, type ErrorCode } from "../model/errors/errors.ts";
import { inStep, isTraced, traceOfHeaders } from "../model/spans.ts";
import type { Caller } from "../accounts/caller.ts";
import type { GivenFile } from "../model/media/media.ts";
import { isChange, logChange } from "./audit/audit-log.ts";
import { authenticate, requireAccess, type Asker } from "./access/authenticate.ts";
import type { Call, Run } from "./call.ts";
import { whileCallerWaits } from "./work/files/caller-waits.ts";
import type { Access, Endpoint } from "./endpoint.ts";
import { crashed, failed, succeeded, type HttpAnswer } from "./answers/envelope.ts";
import { idempotencyKey, oncePerKey } from "./answers/idempotency.ts";
import { filePartIn } from "./reading/file-part.ts";
import { readInput, validate, type RawInput } from "./reading/input.ts";
import { requestId, respond } from "./answers/respond.ts";
import { catchUpWith } from "./access/senders.ts";

/** Texts that old clients look for. They say nothing to people. */
const CONTRACT_WORDS = new Set(["Invalid data!", "Invalid parameters!"]);

/**
 * Makes a route of an endpoint's description: read → authorize → validate → run → envelope, in this order for all of
 * them (size, type, JSON → key → limit → permission → fields), so that nothing runs before everything is known.
 *
 * @param run gets what was checked, returns the fields of the answer; throws `GatewayError` to refuse
 */
export function defineApi<A extends Access, I extends z.ZodObject, O extends z.ZodType>(
  endpoint: Endpoint<A, I, O>,
  run: Run<A, z.output<I>>,
): EventHandler {
  return defineHandler(async (event) => {
    const limits: Record<string, string> = {};
    const answer = await traced(event, endpoint, () =>
      answerTo(event, endpoint, run, limits).catch((error: unknown) => {
        const failed = failure(event, error);
        return endpoint.sends ? sayingWhy(failed) : failed;
      }),
    );
    return respond(event, { ...answer, headers: { ...limits, ...answer.headers } });
  });
}

/** The request as a step of its caller's trace. */
function traced(event: H3Event, endpoint: Endpoint, work: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
  if (!isTraced) return work();
  const { method, headers } = event.req;
  const parent = traceOfHeaders((name) => headers.get(name));
  const attributes = { "http.request.method": method, "http.route": endpoint.path };
  return inStep(`${method} ${endpoint.path}`, { kind: "server", parent, attributes }, async ({ set }) => {
    const answer = await work();
    set({ "http.response.status_code": answer.httpStatus });
    return answer;
  });
}

async function answerTo<A extends Access, I extends z.ZodObject>(
  event: H3Event,
  endpoint: Endpoint<A, I>,
  run: Run<A, z.output<I>>,
  limits: Record<string, string>,
): Promise<HttpAnswer> {
  const { cameWhileDraining } = event.context;
  if (cameWhileDraining && endpoint.access.by !== "everybody") throw restarting();
  const raw = await readInput(event, endpoint);
  try {
    const asker = await authorize(event, endpoint, raw, limits);
    const named = (): string | null => idempotencyKey(event.req.headers.get("idempotency-key"), raw.fields);
    const params = getRouterParams(event, { decode: true });
    return await perform(endpoint, run, { event, asker, raw, params, named });
  } finally {
    filePartIn(raw.fields)?.leave();
  }
}

/** A request of somebody who is known, before anybody looked at what it says. */
export interface Asked {
  event: H3Event;
  asker: Asker;
  raw: RawInput;
  params: Record<string, string>;
  /** The idempotency key of a send; null: it has none. @throws INVALID_PARAMETERS */
  named(): string | null;
}

/**
 * Does what an endpoint does, for whoever asks by whatever way: permission → fields → file → idempotency → run → log.
 *
 * @throws PERMISSION_DENIED, INVALID_PARAMETERS, and whatever `run` throws
 */
export async function perform<A extends Access, I extends z.ZodObject>(
  endpoint: Endpoint<A, I>,
  run: Run<A, z.output<I>>,
  { event, asker, raw, params, named }: Asked,
): Promise<HttpAnswer> {
  const { app } = event.context;
  const { caller, session, credential } = asker;
  requireAccess(endpoint, caller);
  const input = validate(endpoint, raw);
  if (caller !== null) {
    const { sender, device }: { sender?: unknown; device?: unknown } = input;
    await catchUpWith(app, caller, [sender, device, params["number"]]);
  }
  const key = endpoint.sends ? named() : null;
  const file = await takeFile(event, caller, raw);
  try {
    return await oncePerKey({ app, caller, key, endpoint, params, raw, file }, async (claim) => {
      const result = await run({
        app,
        caller: caller as Call<A, never>["caller"],
        session: session as Call<A, never>["session"],
        credential,
        asker,
        input,
        params,
        event,
        file,
        claim,
      });
      const done = { event, endpoint, asker, params, given: raw.fields, input };
      // Whoever hears that it is done may ask another node next.
      const settled = isChange(event, endpoint) ? app.settle() : null;
      await Promise.all([settled, logChange({ ...done, result: result ?? undefined })]);
      return succeeded(result ?? undefined, endpoint.message);
    });
  } finally {
    await file?.dispose();
  }
}

/** Lets a file come that stands among the fields. */
async function takeFile(
  { context: { app }, req }: H3Event,
  caller: Caller | null,
  { fields }: RawInput,
): Promise<GivenFile | null> {
  const part = filePartIn(fields);
  if (part === null || caller === null) return null;
  return whileCallerWaits(req.signal, (signal) =>
    app.files.take(part.bytes(), { ...part, account: caller.accountId, signal }),
  );
}

async function authorize(
  event: H3Event,
  endpoint: Endpoint,
  raw: RawInput,
  limits: Record<string, string>,
): Promise<Asker> {
  const { app, rateLimit } = event.context;
  if (endpoint.access.by === "everybody") return NOBODY;
  const asker = await authenticate(app, event, endpoint, raw.fields);
  if (asker.countedAs !== null && endpoint.countsItself !== true)
    Object.assign(limits, await rateLimit.take(asker.countedAs));
  return asker;
}

const NOBODY: Asker = {
  caller: null,
  session: null,
  countedAs: null,
  credential() {
    throw new Error("the caller was not authenticated");
  },
};

/** What sends tell of a failed destination they tell of a request that is refused as a whole: the reason in a sentence. */
export function sayingWhy(failed: HttpAnswer): HttpAnswer {
  const { errors, message } = failed.body as { errors: { code: ErrorCode }; message: string };
  // Of a fault of ours the request's id is all that leaves.
  if (errors.code === "INTERNAL_ERROR") return failed;
  const told = CONTRACT_WORDS.has(message) ? errors : { ...errors, message };
  return { ...failed, body: { ...failed.body, errors: withSentence(told) } };
}

const restarting = (): GatewayError =>
  new GatewayError("UNAVAILABLE", "The gateway is restarting; try again in a moment.", { retryAfter: 5 });

/** What a caller is told of an error: everything of a refusal, nothing of a fault. */
export function failure(event: H3Event, error: unknown): HttpAnswer {
  if (error instanceof GatewayError) {
    if (error.status === 401) event.context.app.metrics.authFailed(error.code.toLowerCase());
    return failed(error);
  }
  const id = requestId(event);
  event.context.app.log.error({ err: error, requestId: id, path: event.url.pathname }, "request crashed");
  return crashed(id);
}
