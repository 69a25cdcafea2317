import {
  LibsqlBatchError,
  LibsqlError,
  createClient,
  type Client,
  type InStatement,
  type ResultSet,
} from "@libsql/client";
import { Agent } from "undici";
import { MINUTE_MS, SECOND_MS, type Time } from "../../model/time.ts";
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

/** Nobody listens there, or a packet filter drops what is sent: much sooner than an answer may take. */
const CONNECT_MS = 3_000;
let connections: Agent | null = null;

interface ClientOptions extends Omit<ServerAddress, "time"> {
  intMode?: "number" | "bigint";
}

/** Indexes over millions of rows take their time, and nobody waits for anything else meanwhile. */
const MIGRATION_MS = 10 * MINUTE_MS;

/** The driver's own client of a server, for what is asked while starting. Each request ends within its limit. */
export function openServerClient(options: ClientOptions): Client {
  const client = clientOf(options);
  const patient = clientOf({ ...options, requestMs: MIGRATION_MS });
  const close = client.close.bind(client);
  return Object.assign(client, {
    migrate: (statements: InStatement[]) => patient.migrate(statements),
    close() {
      close();
      patient.close();
    },
  });
}

function clientOf(options: ClientOptions): Client {
  const { url, authToken, requestMs = REQUEST_MS, intMode = "number" } = options;
  connections ??= new Agent({ connect: { timeout: CONNECT_MS } });
  const dispatcher = connections;
  return createClient({
    url,
    authToken: authToken ?? undefined,
    intMode,
    fetch: (request: Request) => fetchWhole(request, requestMs, dispatcher),
  });
}

/**
 * With its body, so that one limit holds for all of the answer. Uncompressed: sealed values do not shrink, and sqld 0.24.32
 * takes two seconds to compress a mebibyte of them, which arrives in 16,000 pieces.
 */
async function fetchWhole(request: Request, ms: number, dispatcher: Agent): Promise<Response> {
  request.headers.set("accept-encoding", "identity");
  try {
    const answer = await fetch(request, { signal: AbortSignal.timeout(ms), dispatcher } as RequestInit);
    const { status, statusText, headers } = answer;
    const body = await answer.arrayBuffer();
    return new Response(body.byteLength === 0 ? null : body, { status, statusText, headers });
  } catch (error) {
    throw isTimeout(error) ? new Error(notAnswered(ms), { cause: error }) : withReason(error);
  }
}

const notAnswered = (ms: number): string => `the server has not answered within ${ms / SECOND_MS} s`;
const isTimeout = (error: unknown): boolean => (error as { name?: string }).name === "TimeoutError";

/** Ends a request that takes too long. */
export type Within = <T>(request: Promise<T>) => Promise<T>;

/** One client of a server, each request of which has a time limit. */
export interface ServerClient {
  /** @throws {BatchFailed}: `uncertain` when the server may have done it */
  ask<T>(work: (client: Client) => Promise<T>): Promise<T>;
  /** The same for work of several requests, each of them `within` its time. */
  askOften<T>(work: (client: Client, within: Within) => Promise<T>): Promise<T>;
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
  // The client throws a whole result away when one of its integers is beyond 2^53.
  const client = clientOf({ url, authToken, requestMs, intMode: "bigint" });
  const late = (): Error => new Error(notAnswered(requestMs));
  const within: Within = (request) => time.deadline(requestMs + GRACE_MS, request, late);
  async function askOften<T>(work: (client: Client, within: Within) => Promise<T>): Promise<T> {
    try {
      return await work(client, within);
    } catch (error) {
      throw toBatchFailed(error);
    }
  }
  return {
    askOften,
    ask: (work) => askOften(() => within(work(client))),
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
  return new BatchFailed(kindOf(error), index, withLimit(error));
}

/** Of sqld 0.24.32, measured; a file takes a thousand million bytes. */
const LARGEST_VALUE = 4_194_304;

/** "String or blob too big" does not say what would not be. */
function withLimit(error: unknown): unknown {
  if (!(error instanceof Error) || !error.message.includes("string or blob too big")) return error;
  const limit = `at most 4 MiB (${LARGEST_VALUE.toLocaleString("en")} bytes)`;
  return new Error(`a value is larger than the limit of a libSQL server: ${limit}`, { cause: error });
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
