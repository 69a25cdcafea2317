import { z } from "zod";
import { ERROR_STATUS, type ErrorCode } from "../../model/errors/errors.ts";

/** What every answer has. Answers are described strictly: a field that stands in no schema fails the API tests. */
const envelope = { status: z.boolean(), msg: z.string(), message: z.string() };

/** `{status, msg, message, …fields}` */
export const answer = <S extends z.ZodRawShape>(fields: S) => z.strictObject({ ...envelope, ...fields });

/** `{…, data: {…}}` */
export const record = <S extends z.ZodType, E extends z.ZodRawShape>(data: S, beside: E = {} as E) =>
  answer({ data, ...beside });

/** `{…, total, data: […]}` */
export const listOf = <S extends z.ZodType>(item: S) =>
  answer({ total: z.int().min(0), data: z.array(item) });

/** `{…, total, next, data: […]}` of a list that grows; `next` is what `before` of the next request says. */
export const pageOf = <S extends z.ZodType>(item: S) =>
  answer({ total: z.int().min(0).nullable(), next: z.string().nullable(), data: z.array(item) });

const CODES = Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]];
/** Every code that an answer may carry; the catalogue is `model/errors/errors.ts`. */
export const errorCode = z.enum(CODES);

/** What a failed destination, and a failed request, says of the reason. What stands beside `code` depends on it. */
export const sendError = z.strictObject({
  code: errorCode,
  message: z.string().optional(),
  reason: z.enum(["not_member", "only_admins", "not_channel_admin", "community", "not_own"]).optional(),
  whatsapp_code: z.int().optional(),
  until: z.iso.datetime().optional(),
});

/** The `errors` of an answer that failed. Which fields stand beside `code` depends on the code. */
export const errorBody = sendError
  .extend({
    fields: z.record(z.string(), z.array(z.string()).min(1)).optional(),
    /** How many fields are wrong, when `fields` has not all of them. */
    total: z.int().optional(),
    permission: z.string().optional(),
    /** Of PLAN_LIMIT: how many the plan allows. */
    limit: z.int().optional(),
    scanned: z.string().optional(),
    request_id: z.string().optional(),
  })
  .meta({ id: "Error" });

/** The body of every failure. */
export const failure = answer({ errors: errorBody })
  .extend({ status: z.literal(false) })
  .meta({ id: "Failure" });
