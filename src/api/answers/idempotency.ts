import { hash } from "node:crypto";
import type { Caller } from "../../accounts/caller.ts";
import { GatewayError } from "../../model/errors/errors.ts";
import { asText, NOT_UNICODE } from "../../model/fields.ts";
import type { GivenFile } from "../../model/media/media.ts";
import { inProgress, type Claim } from "../../outbox/submitting/idempotency.ts";
import { ConstraintViolation } from "../../store/errors.ts";
import type { Endpoint } from "../endpoint.ts";
import { failed, succeeded, type HttpAnswer } from "./envelope.ts";
import type { RawInput } from "../reading/input.ts";
import { outcomesResult } from "../work/send.ts";
import type { App } from "../services.ts";

const MAX_KEY_LENGTH = 255;
const REPLAYED = { "idempotency-replayed": "true" };

/**
 * Runs a send once per idempotency key: with one that was used before, the first answer comes again, word for word.
 *
 * @param key null: the caller named none
 * @param run the send; what it throws before anything was stored is not remembered
 * @throws IDEMPOTENCY_IN_PROGRESS, IDEMPOTENCY_KEY_REUSED
 */
export async function oncePerKey(
  {
    app,
    caller,
    key,
    endpoint,
    params,
    raw,
    file = null,
  }: {
    app: App;
    caller: Caller | null;
    key: string | null;
    endpoint: Endpoint;
    params: Record<string, string>;
    raw: RawInput;
    file?: GivenFile | null;
  },
  run: (claim: Claim | null) => Promise<HttpAnswer>,
): Promise<HttpAnswer> {
  if (key === null || caller === null) return run(null);
  const { api_key: _, idempotency_key: __, ...fields } = raw.fields;
  // What stands in the path says what is meant as much as a field does.
  const body = { ...byHash(fields, endpoint.fileIn, file), ...params };
  const begun = await app.idempotency.begin({ keyId: caller.keyId, route: endpoint.path, key, body });
  if (begun.kind === "answered") return replayed(begun.answer);
  if (begun.kind === "stored") {
    const answer = succeeded(outcomesResult(begun.results), endpoint.message);
    await begun.claim.end(plain(answer));
    return replayed(answer);
  }
  return answerOnce(begun.claim, run);
}

/** A file counts by its bytes, however it was given. */
function byHash(
  fields: Record<string, unknown>,
  fileIn: string | undefined,
  given: GivenFile | null,
): Record<string, unknown> {
  if (given !== null) return { ...fields, file: Buffer.from(given.sha256, "base64").toString("hex") };
  if (fileIn === undefined || typeof fields[fileIn] !== "string") return fields;
  const { [fileIn]: data, ...rest } = fields;
  return { ...rest, file: hash("sha256", Buffer.from(data as string, "base64"), "hex") };
}

async function answerOnce(claim: Claim, run: (claim: Claim) => Promise<HttpAnswer>): Promise<HttpAnswer> {
  try {
    const answer = await run(claim);
    await claim.end(plain(answer));
    return answer;
  } catch (error) {
    // A refusal after the messages were stored is an answer like any other; a fault is none.
    await claim.end(error instanceof GatewayError ? plain(failed(error)) : null);
    // Another process on the same database was faster; the whole commit failed, nothing was stored.
    throw error instanceof ConstraintViolation ? inProgress() : error;
  }
}

const plain = ({ httpStatus, body, headers = {} }: HttpAnswer) => ({ httpStatus, body, headers });
const replayed = (answer: HttpAnswer): HttpAnswer => ({
  ...answer,
  headers: { ...answer.headers, ...REPLAYED },
});

/**
 * The key that a send names in a header or among its fields.
 *
 * @returns null when it names none
 * @throws INVALID_PARAMETERS when both are there and differ, and for what is no key
 */
export function idempotencyKey(inHeader: string | null, fields: Record<string, unknown>): string | null {
  const field = fields["idempotency_key"] ?? null;
  if (inHeader === null && field === null) return null;
  const inField = asText(field);
  if (inHeader !== null && inField !== null && inHeader !== inField)
    throw wrongKey("Differs from the header Idempotency-Key.");
  const key = inHeader ?? inField;
  if (typeof key !== "string" || key.length < 1 || key.length > MAX_KEY_LENGTH)
    throw wrongKey(`Must be 1 to ${MAX_KEY_LENGTH} characters long.`);
  if (!key.isWellFormed()) throw wrongKey(NOT_UNICODE);
  return key;
}

const wrongKey = (problem: string): GatewayError =>
  new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", { fields: { idempotency_key: [problem] } });
