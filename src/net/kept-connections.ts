import { subscribe } from "node:diagnostics_channel";

/** Sockets that a request has been written to. */
const used = new WeakSet<object>();
/** Requests that were written to one of those. */
const late = new WeakSet<object>();
/** What such requests failed with. */
const cut = new WeakSet<object>();

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

subscribe("undici:client:sendHeaders", (message) => {
  const { request, socket } = message as { request: object; socket: object };
  if (used.has(socket)) late.add(request);
  used.add(socket);
});
subscribe("undici:request:error", (message) => {
  const { request, error } = message as { request: object; error: unknown };
  if (late.has(request) && isObject(error)) cut.add(error);
});

/** What the end of a connection looks like, whichever side of it is seen first. */
const ENDS = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/**
 * Whether a request that got no answer failed because a connection that was kept open from an earlier request had just come to
 * its end: servers close what is idle whenever they like, and a request may be on its way by then. That says nothing of
 * the server.
 *
 * @param error what it failed with, whatever that is wrapped in
 */
export function endedWithKeptConnection(error: unknown): boolean {
  for (let cause = error, depth = 0; isObject(cause) && depth < 8; depth++) {
    const { code, cause: deeper } = cause as { code?: string; cause?: unknown };
    if (cut.has(cause)) return ENDS.has(code ?? "");
    cause = deeper;
  }
  return false;
}
