import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { certificatesOfTests } from "./gateways-again.ts";

/** A proxy of a test's own that keeps account of what goes through it. */
export interface CountingProxy {
  /** Its address, with the name and the password that it wants. */
  url: string;
  /** `host:port` of everything that it was asked to connect to, in order. */
  targets: string[];
  /** How many were refused because of their password. */
  refused(): number;
  /** Ports from which it has connected to others. */
  ports: Set<number>;
  /** It takes no connection any more, and those that it has end. */
  stop(): Promise<void>;
}

export const PROXY_USER = "shop";
export const PROXY_PASSWORD = "p:ss wörd";
const USER_INFO = `${PROXY_USER}:${encodeURIComponent(PROXY_PASSWORD)}`;

/** What both kinds share: where they connect to, and their end. */
function createTunnels() {
  const targets: string[] = [];
  const ports = new Set<number>();
  const sockets = new Set<Socket>();
  let refusals = 0;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket));
  };

  function open(client: Socket, host: string, port: number, opened: () => void, failed: () => void): void {
    targets.push(`${host}:${port}`);
    const upstream = keep(connect(port, host));
    upstream.once("connect", () => {
      ports.add(upstream.localPort!);
      opened();
      client.pipe(upstream).pipe(client);
    });
    upstream.once("error", failed);
    client.once("close", () => upstream.destroy());
    upstream.once("close", () => client.destroy());
  }

  async function serve(server: Server, scheme: string): Promise<CountingProxy> {
    server.on("connection", keep).on("secureConnection", keep).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    let isOver = false;
    async function stop(): Promise<void> {
      if (isOver) return;
      isOver = true;
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    }
    onTestFinished(stop);
    return {
      url: `${scheme}://${USER_INFO}@127.0.0.1:${port}`,
      targets,
      ports,
      refused: () => refusals,
      stop,
    };
  }

  return { open, serve, refuse: () => void refusals++ };
}

const noTunnel: RequestListener = (_request, response) => response.writeHead(405).end();

/** An HTTP proxy (`CONNECT`) that wants a password; ends with the test. */
export const startHttpProxy = (): Promise<CountingProxy> => startConnectProxy("http");

/** The same behind TLS. Its certificate is of the tests' own authority: {@link trustingTests} makes a gateway trust that. */
export const startHttpsProxy = (): Promise<CountingProxy> => startConnectProxy("https");

/** Settings of a gateway that trusts the authority of the tests, as Node.js takes it. */
export const trustingTests = (): Record<string, string> => ({
  NODE_EXTRA_CA_CERTS: certificatesOfTests().caFile,
});

async function startConnectProxy(scheme: "http" | "https"): Promise<CountingProxy> {
  const { open, serve, refuse } = createTunnels();
  const wanted = `Basic ${Buffer.from(`${PROXY_USER}:${PROXY_PASSWORD}`).toString("base64")}`;
  const { certificate: cert, key } = certificatesOfTests().certificates;
  const server = scheme === "https" ? createTlsServer({ cert, key }, noTunnel) : createHttpServer(noTunnel);
  server.on("connect", (request, client: Socket) => {
    if (request.headers["proxy-authorization"] !== wanted) {
      refuse();
      client.end("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n");
      return;
    }
    const { hostname, port } = new URL(`http://${request.url}`);
    open(
      client,
      hostname,
      Number(port || 80),
      () => client.write("HTTP/1.1 200 Connection established\r\n\r\n"),
      () => client.end("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n"),
    );
  });
  return serve(server, scheme);
}

/** A SOCKS5 proxy that wants a password (RFC 1928, RFC 1929); ends with the test. */
export async function startSocksProxy(): Promise<CountingProxy> {
  const { open, serve, refuse } = createTunnels();
  const server = createServer((client) => {
    const read = reader(client);
    void (async () => {
      const [, methods] = await read(2);
      const offered = await read(methods!);
      if (!offered.includes(2)) {
        refuse();
        return client.end(Buffer.from([5, 0xff]));
      }
      client.write(Buffer.from([5, 2]));
      const [, userLength] = await read(2);
      const user = (await read(userLength!)).toString();
      const password = (await read((await read(1))[0]!)).toString();
      const isRight = user === PROXY_USER && password === PROXY_PASSWORD;
      client.write(Buffer.from([1, isRight ? 0 : 1]));
      if (!isRight) {
        refuse();
        return client.end();
      }
      const [, , , kind] = await read(4);
      const host = kind === 1 ? [...(await read(4))].join(".") : (await read((await read(1))[0]!)).toString();
      const port = (await read(2)).readUInt16BE();
      const reply = (code: number): Buffer => Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]);
      return open(
        client,
        host,
        port,
        () => client.write(reply(0)),
        () => client.end(reply(5)),
      );
    })().catch(() => client.destroy());
  });
  return serve(server, "socks5");
}

/** Reads exactly so many bytes. */
function reader(socket: Socket): (bytes: number) => Promise<Buffer> {
  return async (bytes) => {
    for (;;) {
      const chunk = socket.read(bytes) as Buffer | null;
      if (chunk !== null) return chunk;
      if (socket.readableEnded || socket.destroyed) throw new Error("The connection has ended.");
      await Promise.race([once(socket, "readable"), once(socket, "close")]);
    }
  };
}

/** Ports from which the servers of this process were connected to, by the servers' own ports. From now on, until the test ends. */
export function watchArrivals(): { at(port: number): number[] } {
  const arrived: { at: number; from: number }[] = [];
  const note = (message: unknown): void => {
    const { localPort, remotePort } = (message as { socket: Socket }).socket;
    arrived.push({ at: localPort!, from: remotePort! });
  };
  subscribe("net.server.socket", note);
  onTestFinished(() => void unsubscribe("net.server.socket", note));
  return { at: (port) => arrived.filter(({ at }) => at === port).map(({ from }) => from) };
}
