import { defineHandler, getRouterParams, type EventHandler, type H3Event } from "h3";
import type { z } from "zod";
import { authorize as requirePermission } from "../accounts/authorize.ts";
import type { Caller } from "../accounts/caller.ts";
import { withSentence } from "../model/error-sentences.ts";
import { GatewayError, type ErrorCode } from "../model/errors.ts";
import { authenticate, authenticateOperator } from "./authenticate.ts";
import type { Access, Endpoint } from "./endpoint.ts";
import { crashed, failed, succeeded, type HttpAnswer, type Result } from "./envelope.ts";
import { oncePerKey } from "./idempotency.ts";
import { readInput, validate, type RawInput } from "./input.ts";
import type { Claim } from "../outbox/idempotency.ts";
import { requestId, respond } from "./respond.ts";
import type { App } from "./services.ts";

/** What a route is handed once everything about the request is known to be right. */
export interface Call<A extends Access, I> {
  app: App;
  /** Null for the operator and for everybody. */
  caller: A extends { by: "key" } ? Caller : null;
  input: I;
  /** Path parameters, decoded. */
  params: Record<string, string>;
  event: H3Event;
  /** Of a send whose caller named an idempotency key: goes with the messages into the outbox. */
  claim: Claim | null;
}

/** Texts that old clients look for. They say nothing to people. */
const CONTRACT_WORDS = new Set(["Invalid data!", "Invalid parameters!"]);

type Run<A extends Access, I> = (call: Call<A, I>) => Result | void | Promise<Result | void>;

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
    const answer = await answerTo(event, endpoint, run, limits).catch((error: unknown) => {
      const failed = failure(event, error);
      return endpoint.sends ? sayingWhy(failed) : failed;
    });
    return respond(event, { ...answer, headers: { ...limits, ...answer.headers } });
  });
}

async function answerTo<A extends Access, I extends z.ZodObject>(
  event: H3Event,
  endpoint: Endpoint<A, I>,
  run: Run<A, z.output<I>>,
  limits: Record<string, string>,
): Promise<HttpAnswer> {
  const { app, cameWhileDraining } = event.context;
  if (cameWhileDraining && endpoint.access.by !== "everybody") throw restarting();
  const raw = await readInput(event, endpoint);
  const caller = await authorize(event, endpoint, raw, limits);
  const input = validate(endpoint, raw);
  const params = getRouterParams(event, { decode: true });
  return oncePerKey({ app, caller, event, endpoint, raw }, async (claim) => {
    const result = await run({
      app,
      caller: caller as Call<A, never>["caller"],
      input,
      params,
      event,
      claim,
    });
    return succeeded(result ?? undefined, endpoint.message);
  });
}

async function authorize(
  event: H3Event,
  endpoint: Endpoint,
  raw: RawInput,
  limits: Record<string, string>,
): Promise<Caller | null> {
  const { app, rateLimit } = event.context;
  if (endpoint.access.by === "everybody") return null;
  if (endpoint.access.by === "operator") {
    await authenticateOperator(app, event);
    return null;
  }
  const caller = await authenticate(app, event, endpoint, raw.fields);
  Object.assign(limits, await rateLimit.take(caller.keyId));
  if (endpoint.access.permission !== null) requirePermission(caller, endpoint.access.permission);
  return caller;
}

/** What sends tell of a failed destination they tell of a request that is refused as a whole. */
function sayingWhy(failed: HttpAnswer): HttpAnswer {
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
