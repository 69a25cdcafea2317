import type { Socket } from "node:net";
import { SocksClient } from "socks";
import { buildConnector, Client } from "undici";
import { SECOND_MS } from "../model/time.ts";
import { literalAddress } from "./addresses.ts";
import { OutboundError } from "./errors.ts";
import { createGuardedConnector, notAllowed } from "./guard.ts";
import { hostOf, type ProxyAddress } from "./proxy-address.ts";

/** Nothing came about through a proxy. The message is fit for the customer: it holds neither address nor password. */
export class ProxyFailed extends Error {
  constructor(problem: string) {
    super(`The proxy does not work: ${problem}`);
    this.name = "ProxyFailed";
  }
}

/** Where connections through a proxy may go. */
interface ProxyRules {
  /** Rule for the proxy's own addresses, asked again for each connection; null lets all through. */
  mayBeProxy: ((address: string) => boolean) | null;
  /** The same for targets that are named by their address; what a name is, only the proxy learns. */
  mayBeReached: ((address: string) => boolean) | null;
  /** PEM certificates of targets, instead of the system's. */
  ca?: string[] | undefined;
}

/** Each step of the three: to the proxy, through it, and the target's TLS. */
const STEP_MS = 10 * SECOND_MS;
const PROXY_AUTHENTICATION_REQUIRED = 407;

/**
 * Makes connections through a proxy, and none without it. The proxy resolves the names of targets.
 *
 * @returns fails with `ProxyFailed`
 */
export function createProxyConnector(
  proxy: ProxyAddress,
  { mayBeProxy, mayBeReached, ca }: ProxyRules,
): buildConnector.connector {
  const toProxy = createGuardedConnector(mayBeProxy);
  const secure = buildConnector({ timeout: STEP_MS, ...(ca && { ca }) });
  const tunnel = proxy.protocol === "socks5" ? tunnelBySocks : tunnelByHttp;

  async function open(options: buildConnector.Options): Promise<Socket> {
    const { hostname, protocol } = options;
    const literal = literalAddress(hostname);
    if (literal !== null && mayBeReached?.(literal) === false) throw notAllowed();
    const host = literal ?? hostname;
    const port = Number(options.port || (protocol === "https:" ? 443 : 80));
    const socket = await tunnel(proxy, toProxy, { host, port });
    if (protocol !== "https:") return socket;
    return connected((callback) => secure({ ...options, httpSocket: socket }, callback)).catch(
      (error: unknown) => {
        socket.destroy();
        throw new ProxyFailed(`no secure connection came about through it (${reasonOf(error)}).`);
      },
    );
  }

  return (options, callback) => {
    open(options).then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(asFailure(error), null),
    );
  };
}

interface Target {
  host: string;
  port: number;
}

/** `CONNECT` of RFC 9110, section 9.3.6. */
async function tunnelByHttp(
  proxy: ProxyAddress,
  toProxy: buildConnector.connector,
  target: Target,
): Promise<Socket> {
  const { protocol, username, password } = proxy;
  const pair = Buffer.from(`${username}:${password}`).toString("base64");
  const path = hostOf(target);
  const client = new Client(`${protocol}://${hostOf(proxy)}`, { connect: toProxy });
  try {
    const { statusCode, socket } = await client.connect({
      path,
      headers: {
        host: path,
        ...(username !== "" || password !== "" ? { "proxy-authorization": `Basic ${pair}` } : {}),
      },
      signal: AbortSignal.timeout(STEP_MS),
    });
    if (statusCode >= 200 && statusCode < 300) return socket as Socket;
    socket.on("error", () => undefined).destroy();
    throw new ProxyFailed(
      statusCode === PROXY_AUTHENTICATION_REQUIRED
        ? "it wants another user name or password (407)."
        : `it answered ${statusCode} when it was asked for a connection to ${path}.`,
    );
  } catch (error) {
    await client.destroy();
    throw error;
  }
}

/** RFC 1928, with the password of RFC 1929. */
async function tunnelBySocks(
  proxy: ProxyAddress,
  toProxy: buildConnector.connector,
  target: Target,
): Promise<Socket> {
  const { host, port, username, password } = proxy;
  const own = { hostname: host, host: hostOf(proxy), protocol: "http:", port: String(port) };
  const existing_socket = await connected((callback) => toProxy(own, callback));
  const { socket } = await SocksClient.createConnection({
    proxy: { host, port, type: 5, ...(username !== "" && { userId: username, password }) },
    command: "connect",
    destination: target,
    timeout: STEP_MS,
    existing_socket,
  });
  return socket;
}

const connected = (connect: (callback: buildConnector.Callback) => void): Promise<Socket> =>
  new Promise((resolve, reject) =>
    connect((...outcome) => {
      const [error, socket] = outcome;
      if (error === null) resolve(socket);
      else reject(error);
    }),
  );

/** What libraries fail with may hold the password: nothing but words of theirs is kept. */
function asFailure(error: unknown): ProxyFailed {
  if (error instanceof ProxyFailed) return error;
  return new ProxyFailed(`${reasonOf(error)}.`);
}

function reasonOf(error: unknown): string {
  if (error instanceof OutboundError) return error.message.replace(/\.$/, "");
  const { code, name, message } = error as { code?: string; name?: string; message?: string };
  if (name === "TimeoutError") return `no answer within ${STEP_MS / SECOND_MS} s`;
  return code ?? message ?? "the connection failed";
}
