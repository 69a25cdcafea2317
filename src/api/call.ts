import type { H3Event } from "h3";
import type { z } from "zod";
import type { Caller } from "../accounts/caller.ts";
import type { Session } from "../accounts/sessions.ts";
import type { GivenFile } from "../model/media/media.ts";
import type { Claim } from "../outbox/submitting/idempotency.ts";
import type { Asker } from "./access/authenticate.ts";
import type { Result } from "./answers/envelope.ts";
import type { Access, Endpoint } from "./endpoint.ts";
import type { App } from "./services.ts";

/** What a route is handed once everything about the request is known to be right. */
export interface Call<A extends Access, I> {
  app: App;
  /** Null for everybody, for the operator, and at an endpoint of both for the operator. */
  caller: A extends { by: "key" } ? Caller : A extends { by: "key or operator" } ? Caller | null : null;
  /** Of a browser that is signed in; null: by a key or a token itself. */
  session: A extends { by: "session" } ? Session : Session | null;
  /** Hash of the key or token; see {@link Asker.credential}. */
  credential(): string;
  /** All of that, for what is asked in its name. */
  asker: Asker;
  input: I;
  /** Path parameters, decoded. */
  params: Record<string, string>;
  event: H3Event;
  /** What came as the part `file`: it is kept until the endpoint has run. */
  file: GivenFile | null;
  /** Of a send whose caller named an idempotency key: goes with the messages into the outbox. */
  claim: Claim | null;
}

/** The call that the route of an endpoint is handed. */
export type CallOf<E> = E extends Endpoint<infer A, infer I> ? Call<A, z.output<I>> : never;

/** What an endpoint runs: gets what was checked, returns the fields of the answer; throws `GatewayError` to refuse. */
export type Run<A extends Access, I> = (call: Call<A, I>) => Result | void | Promise<Result | void>;
