import { lookup as resolve, type LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { Agent, buildConnector, type Dispatcher } from "undici";
import { literalAddress } from "./addresses.ts";
import { OutboundError } from "./errors.ts";

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * A dispatcher that connects to allowed addresses only. The check is made where the connection is: on the address itself
 * when the URL holds one, on every address that a name resolves to, and on the peer once connected. A name that
 * resolves differently a second later gains nothing.
 *
 * @param isAllowed rule for one IPv4 or IPv6 address; null lets everything through
 * @param options   `ca`: PEM certificates to trust instead of the system's; `keeps`: whether connections are kept open for
 *   further requests, default true
 */
export function createGuardedAgent(
  isAllowed: ((address: string) => boolean) | null,
  { ca, keeps = true }: { ca?: string[]; keeps?: boolean } = {},
): Dispatcher {
  return createBoundedAgent(createGuardedConnector(isAllowed, { ca }), keeps);
}

/** A dispatcher that connects as it is told, and ends what answers in bits without end. */
export function createBoundedAgent(connect: buildConnector.connector, keeps = true): Dispatcher {
  return new Agent({ connect, ...(keeps ? {} : { pipelining: 0 }) }).compose(boundedHints);
}

/** Makes connections to allowed addresses only: what a guarded agent has beneath it. */
export function createGuardedConnector(
  isAllowed: ((address: string) => boolean) | null,
  { ca }: { ca?: string[] | undefined } = {},
): buildConnector.connector {
  const options = { timeout: CONNECT_TIMEOUT_MS, ...(ca && { ca }) };
  if (isAllowed === null) return buildConnector(options);
  const connect = buildConnector({ ...options, lookup: guardedLookup(isAllowed) });
  return (target, callback) => {
    const literal = literalAddress(target.hostname);
    // Node asks no lookup for an address.
    if (literal !== null && !isAllowed(literal)) return callback(notAllowed(), null);
    return connect(target, (...outcome) => {
      const [error, socket] = outcome;
      if (error !== null) return callback(error, null);
      if (isAllowed(socket.remoteAddress ?? "")) return callback(null, socket);
      socket.destroy();
      return callback(notAllowed(), null);
    });
  };
}

/** Interim answers (1xx) before the one that counts; a server that sends them without end has none. */
const MOST_HINTS = 50;

const boundedHints: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch(options, countingHints(handler));

function countingHints(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
  let hints = 0;
  const start: Dispatcher.DispatchHandler["onResponseStart"] = (controller, status, ...rest) => {
    if (status < 200 && ++hints > MOST_HINTS)
      controller.abort(
        new OutboundError("unreachable", "Too many interim answers (1xx) came before the answer."),
      );
    else handler.onResponseStart?.(controller, status, ...rest);
  };
  // Whatever else it can do, and it is asked what it can do, stays its own.
  return new Proxy(handler, {
    get(target, name) {
      if (name === "onResponseStart") return start;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** The refusal of an address that is private or local, in words for whoever configured it. */
export function notAllowed(): OutboundError {
  return new OutboundError(
    "not_allowed",
    "The address is private or local. The operator may allow such addresses with ALLOW_PRIVATE_NETWORK=1.",
  );
}

function guardedLookup(isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
      const [first] = found ?? [];
      if (error !== null || first === undefined) return callback(error ?? notFound(hostname), []);
      // One private address among several is enough: which of them is used is up to the network.
      if (!found.every(({ address }) => isAllowed(address))) return callback(notAllowed(), []);
      return options.all ? callback(null, found) : callback(null, first.address, first.family);
    });
  };
}

function notFound(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} has no address`), { code: "ENOTFOUND" });
}
