import { LibsqlBatchError, LibsqlError, createClient, type Client, type ResultSet } from "@libsql/client";
import type { Time } from "../../model/time.ts";
import { BatchFailed, failureKind, type FailureKind } from "../engine.ts";
import type { RawRows, RawValue } from "../query.ts";
import { fromBigint } from "../result.ts";

/** A libSQL server, and how long it is waited for. */
export interface ServerAddress {
  url: string;
  authToken: string | null;
  time: Time;
  /** How long one request may take until it counts as lost. Default 10 s. */
  requestMs?: number;
}

const REQUEST_MS = 10_000;
// The request itself is given up first; this is for addresses that are no HTTP.
const GRACE_MS = 1_000;

/** One client of a server, each request of which has a time limit. */
export interface ServerClient {
  /** @throws {BatchFailed}: `uncertain` when the server may have done it */
  ask<T>(work: (client: Client) => Promise<T>): Promise<T>;
  reconnect(): void;
  close(): void;
}

/** A client of the server; an address that does not answer is noticed at the first question. */
export function connectToServer({
  url,
  authToken,
  time,
  requestMs = REQUEST_MS,
}: ServerAddress): ServerClient {
  const client = createClient({
    url,
    authToken: authToken ?? undefined,
    // The client throws a whole result away when one of its integers is beyond 2^53.
    intMode: "bigint",
    fetch: (request: Request) => fetch(request, { signal: AbortSignal.timeout(requestMs) }),
  });
  const late = (): Error => new Error(`the server has not answered within ${requestMs} ms`);
  return {
    async ask(work) {
      try {
        return await time.deadline(requestMs + GRACE_MS, work(client), late);
      } catch (error) {
        throw toBatchFailed(error);
      }
    },
    reconnect: () => void client.reconnect(),
    close: () => client.close(),
  };
}

/** A result of the client in the shape that both engines answer with. */
export function toRawRows({ columns, rows }: ResultSet): RawRows {
  const values = rows.map((row) => columns.map((_, index): RawValue => fromBigint(row[index]!)));
  return { columns, values };
}

function toBatchFailed(error: unknown): BatchFailed {
  const index = error instanceof LibsqlBatchError ? error.statementIndex : null;
  return new BatchFailed(kindOf(error), index, withReason(error));
}

function kindOf(error: unknown): FailureKind {
  if (error instanceof LibsqlError && isAnswer(error))
    return failureKind(error.extendedCode ?? error.code, error.message);
  return wasRefused(error) ? "unavailable" : "uncertain";
}

/** The server said so itself: what it refuses it has not done. */
function isAnswer(error: LibsqlError): boolean {
  const { name, status } = (error.cause ?? {}) as { name?: string; status?: number };
  const refusedByHttp = status !== undefined && status >= 400 && status < 500;
  return name === "ResponseError" || refusedByHttp || /^(SQLITE|SQL|ARGS)_/.test(error.code);
}

const NOT_REACHED = [
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
];

/** No connection came about, so nothing was sent. */
function wasRefused(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code, errors } = at as { code?: string; errors?: { code?: string }[] };
    if (code !== undefined && NOT_REACHED.includes(code)) return true;
    if (errors?.length && errors.every((one) => NOT_REACHED.includes(one.code ?? ""))) return true;
    if (at.message === "bad port") return true;
  }
  return false;
}

/** "fetch failed" alone says nothing; its cause has what happened. */
function withReason(error: unknown): unknown {
  if (!(error instanceof TypeError) || !(error.cause instanceof Error)) return error;
  const { message, code } = error.cause as Error & { code?: string };
  return new Error(`${error.message}: ${message || (code ?? "no reason given")}`, { cause: error });
}
