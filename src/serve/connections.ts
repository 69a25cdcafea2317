import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { isMultipart } from "../api/reading/file-part.ts";
import { readingOf } from "../api/reading/held-body.ts";
import { AT_ONCE_BYTES, inTurn, letPass } from "../api/reading/turns.ts";
import { GatewayError } from "../model/errors/errors.ts";
import { checkHead, headersTooLarge, MAX_HEADER_BYTES, MAX_REQUEST_LINE_BYTES } from "./head.ts";
import { type Refusals, tooSlow, unreadable } from "./refuse.ts";

/** What connections may hold before a request is complete; see `LIMITS`. */
export interface ConnectionLimits {
  /** Bytes of requests that have not come to their end, over all connections. */
  unfinishedBytes: number;
  /** Connections of one address that have no complete request: idle ones, and those whose request is still coming. */
  waitingPerAddress: number;
  /** Connections of one address. */
  perAddress: number;
}

/** What a server's connections are held to. */
export interface ConnectionRules {
  refusals: Refusals;
  /** Default: `LIMITS`. */
  limits?: ConnectionLimits;
  /** False behind a proxy, whose address is everybody's. Default true. */
  perAddress?: boolean;
}

/** Thirty-two requests of the largest size at once; as many connections as a busy customer's machine opens. */
export const LIMITS: ConnectionLimits = {
  unfinishedBytes: 33_554_432,
  waitingPerAddress: 500,
  perAddress: 2_000,
};

/** Of all addresses; further ones are closed unheard. */
export const MAX_CONNECTIONS = 10_000;

/** How long a caller who was answered before he had sent everything may take to read it. */
const LINGER_MS = 1_000;

/**
 * How long the head of a request, and a whole request, may take to come, and an idle connection may stay. A request that is
 * streamed to the disk may take longer.
 */
export const TIMES = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  // Node looks this often.
  connectionsCheckingInterval: 1_000,
  // Longer than proxies keep an idle connection (60 s): who closes first must be the side that sends the requests.
  keepAliveTimeout: 65_000,
};

/** One connection and what of its next request has come. */
interface Connection {
  socket: Socket;
  address: string;
  /** Requests whose head was read and that are not answered. */
  underWay: number;
  /** The last of them, until its body has come as well. */
  current: ServerResponse | null;
  /** Bytes of the request that is still coming, as far as anybody keeps them. */
  unfinished: number;
  lineEnded: boolean;
  headerBytes: number;
  /** It has had its last answer; what still comes is not looked at. */
  refused: boolean;
}

/** Of one address. A set keeps its order: the first has waited longest for a request. */
interface Address {
  all: number;
  waiting: Set<Connection>;
}

const NOTHING_CAME = { unfinished: 0, lineEnded: false, headerBytes: 0 };
/** Larger requests are read and thrown away. */
const MOST_KEPT = MAX_REQUEST_LINE_BYTES + MAX_HEADER_BYTES;

/**
 * Stands between the port and the application: what is no request is refused in JSON, what never ends is ended, and
 * nobody fills the memory with halves of requests. Who is over a limit makes room by losing the connection that has
 * waited longest, so that a new caller from the same address is served.
 *
 * @param handle takes the requests that are in order
 */
export function guardConnections(
  server: Server,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  { refusals, limits = LIMITS, perAddress = true }: ConnectionRules,
): void {
  const known = new WeakMap<Socket, Connection>();
  const addresses = new Map<string, Address>();
  const unfinished = createUnfinished();

  function open(socket: Socket): void {
    letPass();
    const address = perAddress ? (socket.remoteAddress ?? "") : "";
    const connection = { socket, address, underWay: 0, current: null, ...NOTHING_CAME, refused: false };
    known.set(socket, connection);
    const here = addresses.get(address) ?? { all: 0, waiting: new Set() };
    addresses.set(address, here);
    here.all++;
    here.waiting.add(connection);
    closeGently(connection).once("close", () => close(connection, here));
    // After the parser's own listener: what a chunk completes is known when this runs.
    socket.on("data", (chunk: Buffer) => came(connection, chunk));
    if (perAddress && here.all > limits.perAddress) refuse(connection, tooManyConnections());
    else if (perAddress && here.waiting.size > limits.waitingPerAddress)
      refuse(first(here.waiting), tooSlow());
  }

  function close(connection: Connection, here: Address): void {
    unfinished.remove(connection);
    here.waiting.delete(connection);
    if (--here.all === 0) addresses.delete(connection.address);
  }

  function came(connection: Connection, chunk: Buffer): void {
    const { current, refused } = connection;
    if (refused) return;
    if (current?.req.complete) {
      // The rest of the chunk may begin the next request: that one is counted from its next chunk on.
      unfinished.remove(connection);
      connection.current = null;
      return;
    }
    unfinished.add(connection, chunk.length);
    if (isLarge(connection)) inTurn(pause(connection));
    if (current === null && !headFits(connection, chunk)) refuse(connection, headersTooLarge());
    while (unfinished.isOver(limits.unfinishedBytes)) refuse(unfinished.oldest(), tooSlow());
  }

  function refuse(connection: Connection, refusal: GatewayError): void {
    const { socket, current, unfinished: begun } = connection;
    if (connection.refused) return;
    connection.refused = true;
    unfinished.remove(connection);
    addresses.get(connection.address)?.waiting.delete(connection);
    // The parser gets no more of it: nothing that was refused becomes a request after all. Read it must be, or the
    // answer would be lost on the way, but in turns as well: discarding the rest of many costs as much as keeping it.
    socket
      .removeAllListeners("data")
      .on("data", () => inTurn(pauseSocket(socket)))
      .resume();
    // A second answer in the middle of the first would be read as part of it; one to no request as one to the next.
    if (current?.headersSent || (begun === 0 && refusal.code === "REQUEST_TIMEOUT")) socket.end();
    else refusals.socket(socket, refusal);
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  }

  function take(request: IncomingMessage, response: ServerResponse): void {
    const connection = known.get(request.socket);
    if (connection === undefined || connection.refused) return;
    connection.current = response;
    connection.underWay++;
    const waiting = addresses.get(connection.address)?.waiting;
    waiting?.delete(connection);
    response.once("close", () => {
      if (--connection.underWay === 0 && !connection.refused && !request.socket.destroyed)
        waiting?.add(connection);
    });
    const refusal = checkHead(request);
    if (refusal !== null) refusals.request(response, refusal);
    else inItsTurn(request, () => connection.refused || handle(request, response));
  }

  // Node would drop the two thousand and first without a word; bytes are what is counted here.
  server.maxHeadersCount = 0;
  server.on("connection", open);
  server.on("request", take);
  // What else might be expected of the answer is not ours to promise; the request itself is like any other.
  server.on("checkExpectation", (request, response) => void server.emit("request", request, response));
  server.on("connect", (request, socket) => refusals.socket(socket as Socket, unreadable(undefined, true)));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const connection = known.get(socket as Socket);
    if (connection === undefined || error.code === "ECONNRESET") socket.destroy();
    else if (!mayTakeLonger(connection, error.code)) {
      // Whatever was wrong, something had come.
      connection.unfinished ||= 1;
      refuse(connection, unreadable(error.code, connection.lineEnded));
    }
  });
}

/** On its way to the disk: it holds no more than its reader has room for, and waits for its turn as long as it must. */
const isStreamed = ({ current }: Connection): boolean =>
  current !== null && readingOf(current.req) === "streamed";

/**
 * A caller who still sends when he has had the last answer has time to read it: closed at once, the connection would be reset,
 * and the answer lost on its way. Node closes connections by this method.
 */
function closeGently(connection: Connection): Socket {
  const { socket } = connection;
  const closeAtOnce = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    if (connection.current?.req.complete ?? true) return closeAtOnce();
    socket.end();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
  return socket;
}

/** A file costs as much as many small requests, and whole batches of them come at once. Whoever leaves gives up the place. */
function inItsTurn(request: IncomingMessage, goOn: () => void): void {
  const { headers } = request;
  const isSmall = Number(headers["content-length"]) <= AT_ONCE_BYTES;
  if (isSmall || !isMultipart(headers["content-type"] ?? "")) goOn();
  else request.once("close", inTurn(goOn));
}

/** How long a file may take is its reader's to say. Node says it once. */
const mayTakeLonger = (connection: Connection, code: string | undefined): boolean =>
  code === "ERR_HTTP_REQUEST_TIMEOUT" && isStreamed(connection);

/** It is to go on in turns with others, unless its reader stops it himself. */
const isLarge = ({ current, unfinished }: Connection): boolean =>
  unfinished > AT_ONCE_BYTES && (current === null || readingOf(current.req) === null);

/** Whose requests are still coming, and how much of them is kept. */
function createUnfinished() {
  /** In the order in which their requests began. */
  const connections = new Set<Connection>();
  let bytes = 0;
  function remove(connection: Connection): void {
    if (connections.delete(connection)) bytes -= connection.unfinished;
    Object.assign(connection, NOTHING_CAME);
  }
  return {
    /** Whether there are more bytes than that. What is streamed since it was counted counts no more. */
    isOver(limit: number): boolean {
      while (bytes > limit && isStreamed(first(connections))) remove(first(connections));
      return bytes > limit;
    },
    oldest: () => first(connections),
    add(connection: Connection, length: number): void {
      if (isStreamed(connection)) return remove(connection);
      const kept = Math.min(length, MOST_KEPT - connection.unfinished);
      connections.add(connection);
      connection.unfinished += kept;
      bytes += kept;
    },
    remove,
  };
}

/** Stops the reading of one connection. @returns what goes on with it */
function pause({ socket, current }: Connection): () => void {
  // A body that somebody reads starts its socket itself, and one that nobody reads yet must not be let flow.
  const reading = current?.req.readableFlowing ? current.req : socket;
  reading.pause();
  return () => void reading.resume();
}

/** The same of a refused one, which nothing but this reads. */
function pauseSocket(socket: Socket): () => void {
  socket.pause();
  return () => void socket.resume();
}

/** Whether what has come after the request line is no more than headers may be. */
function headFits(connection: Connection, chunk: Buffer): boolean {
  const lineEnd = connection.lineEnded ? -1 : chunk.indexOf("\n");
  if (!connection.lineEnded && lineEnd < 0) return true;
  connection.lineEnded = true;
  connection.headerBytes += chunk.length - lineEnd - 1;
  return connection.headerBytes <= MAX_HEADER_BYTES;
}

const first = <T>(set: Set<T>): T => set.values().next().value as T;

const tooManyConnections = (): GatewayError =>
  new GatewayError("UNAVAILABLE", "This address has too many open connections.", { retryAfter: 5 });
