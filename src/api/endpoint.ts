import type { z } from "zod";
import type { Permission } from "../accounts/caller.ts";
import type { ErrorCode } from "../model/errors/errors.ts";

/** The HTTP methods that endpoints of the API have. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * Who may call: a key with a permission (null: any key), the operator, either of both, whoever is signed in, or everybody.
 * Where a key or the operator's token is asked for, a session that was opened with it will do.
 */
export type Access =
  /** `links`: also the session of a link, which has not got the permission. */
  | { by: "key"; permission: Exclude<Permission, "*"> | null; links?: true }
  | { by: "operator" }
  | { by: "key or operator" }
  | { by: "session" }
  | { by: "everybody" };

/**
 * One method of one path: everything that is known of it without running it. Requests are checked against `input`,
 * the API tests check every answer against `output`, and the OpenAPI document is made of both.
 */
export interface Endpoint<
  A extends Access = Access,
  I extends z.ZodObject = z.ZodObject,
  O extends z.ZodType = z.ZodType,
> {
  method: Method;
  /** As in the documentation: `/devices/{number}`. */
  path: string;
  access: A;
  /** `query`: `api_key` counts in the query string. A POST takes it in its body anyway. */
  keyIn?: "query";
  /** Why what it does stands not in the log of changes, though it is no GET. Sends are none. */
  changesNothing?: string;
  /** A send: takes an idempotency key, in the header or in the field `idempotency_key`. */
  sends?: true;
  /** What it runs counts for the key's requests a minute: what it refuses then has a form of its own. */
  countsItself?: true;
  /**
   * Field that may hold a file in base64. The file may also be the part `file` of `multipart/form-data`, which no other endpoint
   * takes. What an idempotency key compares is the file's hash.
   */
  fileIn?: string;
  summary: string;
  /** Of an answer that has lists and no pages: how long these get, as a sentence. */
  bounded?: string;
  /** `message` of a success that has no text of its own. */
  message: string;
  /** Media type of a success; failures are JSON whatever it is. Default `application/json`. */
  produces?: string;
  /** HTTP statuses that come with `output`. Default 200, for sends also 202. */
  statuses?: number[];
  /** Codes that it may answer besides those that follow from everything else here. */
  errors?: ErrorCode[];
  input: I;
  output: O;
}

/** Returns its argument, and infers the types that the handler of the route is checked against. */
export const endpoint = <const A extends Access, I extends z.ZodObject, O extends z.ZodType>(
  description: Endpoint<A, I, O>,
): Endpoint<A, I, O> => description;
