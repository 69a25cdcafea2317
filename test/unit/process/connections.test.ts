import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { H3Event } from "h3";
import { holdBody, type HeldBody } from "../../../src/api/reading/held-body.ts";
import { guardConnections, type ConnectionLimits } from "../../../src/serve/connections.ts";
import { createRefusals } from "../../../src/serve/refuse.ts";

const FEW: ConnectionLimits = { unfinishedBytes: 100_000, waitingPerAddress: 5, perAddress: 10 };
/** For tests of something else than time. */
const PATIENT = { headersTimeout: 30_000, requestTimeout: 30_000 };
const servers: Server[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server that answers every request that reaches it with its path, once its body has come. */
async function guarded(
  limits: ConnectionLimits = FEW,
  handle = (request: IncomingMessage, response: ServerResponse): void =>
    void request.resume().once("end", () => response.end(JSON.stringify({ url: request.url }))),
  { perAddress = true, headersTimeout = 5_000, requestTimeout = 10_000 } = {},
): Promise<number> {
  const server = createServer({
    headersTimeout,
    requestTimeout,
    connectionsCheckingInterval: 50,
    maxHeaderSize: 1_064_960,
    requireHostHeader: false,
  });
  servers.push(server);
  guardConnections(server, handle, { refusals: createRefusals(false), limits, perAddress });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** One that waits for nobody. */
const impatient = (): Promise<number> =>
  guarded(FEW, undefined, { headersTimeout: 300, requestTimeout: 600 });

interface Line {
  socket: Socket;
  text(): string;
  closed: Promise<void>;
}

async function open(port: number, bytes: string | Buffer = ""): Promise<Line> {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  sockets.push(socket);
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await once(socket, "connect");
  if (bytes.length > 0) await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
  return { socket, text: () => text, closed };
}

async function exchange(port: number, bytes: string): Promise<{ status: number; head: string; body: any }> {
  const line = await open(port, bytes);
  await line.closed;
  const [head = "", body = ""] = line.text().split("\r\n\r\n", 2);
  return { status: Number(head.split(" ")[1]), head: head.toLowerCase(), body: JSON.parse(body || "null") };
}

const get = (path: string, ...headers: string[]): string =>
  [`GET ${path} HTTP/1.1`, "Host: gateway", "Connection: close", ...headers, "", ""].join("\r\n");

/** `409 CODE`, when it has the envelope and the headers that every answer has. */
function refusalOf({ status, head, body }: Awaited<ReturnType<typeof exchange>>): string {
  const complete =
    body.status === false &&
    body.msg === body.message &&
    head.includes("content-type: application/json") &&
    head.includes("x-request-id: ");
  return complete ? `${status} ${body.errors.code}` : `${status} without its envelope`;
}

describe("what is no request", () => {
  it.each<[string, string]>([
    ["no HTTP", "hello\r\n\r\n"],
    ["no Host", "GET / HTTP/1.1\r\n\r\n"],
    ["an empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n"],
    ["two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"],
    ...[
      "0055119",
      "1.2.3.4.5",
      "256.1.1.1",
      "a b",
      "a/b",
      "user@host",
      "[::1",
      "[zz]",
      "a:b",
      "a:99999",
      "ä",
      "a?b",
      "a#b",
      "%61",
      "<a>",
      "a,b",
      "..",
      "x".repeat(300),
    ].map((host): [string, string] => [
      `Host: ${host}`,
      `GET /x//y HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    ]),
    ["a target without a slash", "GET nowhere HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["a target with a host that is none", "GET http://0055119/ HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["a target of another scheme", "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["two lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"],
  ])("is 400 as JSON: %s", async (_, bytes) => {
    expect(refusalOf(await exchange(await guarded(), bytes))).toBe("400 INVALID_PARAMETERS");
  });

  it.each(["gateway", "gateway:3000", "127.0.0.1:80", "[::1]:3000", "a_b.example.org", "EXAMPLE.org"])(
    "is not what has Host: %s",
    async (host) => {
      const answer = await exchange(
        await guarded(),
        `GET /x//y?z HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      );
      expect(answer).toMatchObject({ status: 200, body: { url: "/x//y?z" } });
    },
  );

  it("is not what old clients send without Host, proxies with it, or anybody with Expect", async () => {
    const port = await guarded();
    const old = await exchange(port, "GET /old HTTP/1.0\r\n\r\n");
    const proxied = await exchange(
      port,
      "GET http://Gateway/path?q=1 HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n",
    );
    const expecting = await exchange(port, get("/expecting", "Expect: nothing"));
    expect(old.body).toEqual({ url: "/old" });
    expect(proxied.body).toEqual({ url: "/path?q=1" });
    expect(expecting.body).toEqual({ url: "/expecting" });
  });
});

describe("headers", () => {
  it.each([
    ["one long", [`X-A: ${"x".repeat(17_000)}`]],
    ["one of blanks", [`Authorization: Bearer a${" ".repeat(120_000)}b`]],
    ["many", Array.from({ length: 2_000 }, (_, index) => `X-${index}: value`)],
    ["many empty", Array.from({ length: 5_000 }, () => "a:")],
  ])("beside the request line of more than 16 KiB are 431: %s", async (_, headers) => {
    expect(refusalOf(await exchange(await guarded(), get("/", ...headers)))).toBe("431 HEADERS_TOO_LARGE");
  });

  it("of more than 16 KiB are 431 before they end", async () => {
    const line = await open(await guarded(), `GET / HTTP/1.1\r\nHost: a\r\nX-A: ${"x".repeat(17_000)}`);
    await line.closed;
    expect(line.text()).toContain("HEADERS_TOO_LARGE");
  });

  it("may be 16 KiB beside a request line of nearly a mebibyte", async () => {
    const path = `/${"x".repeat(1_000_000)}`;
    const answer = await exchange(
      await guarded({ ...FEW, unfinishedBytes: 2_000_000 }, undefined, PATIENT),
      get(path, `X-A: ${"x".repeat(16_000)}`),
    );
    expect(answer).toMatchObject({ status: 200, body: { url: path } });
  });

  it("and a request line of more is 413", async () => {
    const answer = await exchange(
      await guarded({ ...FEW, unfinishedBytes: 2_000_000 }, undefined, PATIENT),
      get(`/${"x".repeat(1_100_000)}`),
    );
    expect(refusalOf(answer)).toBe("413 BODY_TOO_LARGE");
  });
});

describe("requests that do not end", () => {
  it.each([
    ["nothing", ""],
    ["half a request line", "GET /half"],
    ["half a head", "GET / HTTP/1.1\r\nHost: a\r\nX-"],
    ["half a body", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{"],
  ])("are 408 in time: %s", async (_, bytes) => {
    expect(refusalOf(await exchange(await impatient(), bytes))).toBe("408 REQUEST_TIMEOUT");
  });

  it("are 408 although a byte comes now and then", async () => {
    const line = await open(await impatient(), "GET / HTTP/1.1\r\nHost: a\r\n");
    const drip = setInterval(() => line.socket.write("X-A: b\r\n"), 20);
    await line.closed;
    clearInterval(drip);
    expect(line.text()).toContain("REQUEST_TIMEOUT");
  });

  it("make room for others once they hold too much: the oldest is 408, the others stay", async () => {
    const port = await guarded(FEW, undefined, PATIENT);
    const half = `GET /${"x".repeat(40_000)}`;
    const oldest = await open(port, half);
    const second = await open(port, half);
    const third = await open(port, half);
    await oldest.closed;

    expect(oldest.text()).toContain("REQUEST_TIMEOUT");
    expect([second.socket.destroyed, third.socket.destroyed]).toEqual([false, false]);
    third.socket.write(" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    await third.closed;
    expect(third.text()).toContain("200 OK");
  });

  it("count no more than is kept of them", async () => {
    const port = await guarded(
      { ...FEW, unfinishedBytes: 2_000_000 },
      (_, response) => void response.writeHead(413, { connection: "close" }).end("{}"),
      PATIENT,
    );
    const waiting = await open(port, "GET /waiting");
    const large = await open(
      port,
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\n${"x".repeat(5_000_000)}`,
    );
    await large.closed;
    expect(large.text()).toContain(" 413 ");
    expect(waiting.text()).toBe("");
  });
});

describe("connections of one address", () => {
  it("beyond the limit cost the one that has waited longest, never the new one", async () => {
    const port = await guarded(FEW, undefined, PATIENT);
    const lines = [];
    for (let count = 0; count < 6; count++) lines.push(await open(port, "GET"));
    await lines[0]!.closed;
    const answer = await exchange(port, get("/new"));

    expect(lines[0]!.text()).toContain("REQUEST_TIMEOUT");
    expect(answer.body).toEqual({ url: "/new" });
    expect(lines.slice(2).map(({ socket }) => socket.destroyed)).toEqual([false, false, false, false]);
  });

  it("are closed without a word where nothing was asked", async () => {
    const port = await guarded(FEW, undefined, PATIENT);
    const idle = await open(port);
    for (let count = 0; count < 5; count++) await open(port);
    await idle.closed;
    expect(idle.text()).toBe("");
  });

  it("that wait for an answer are left alone, and others are refused once there are very many", async () => {
    const waiting: ServerResponse[] = [];
    const port = await guarded(FEW, (_, response) => void waiting.push(response), PATIENT);
    const lines = [];
    for (let count = 0; count < 10; count++) lines.push(await open(port, get("/slow")));
    await expect.poll(() => waiting.length).toBe(10);

    const refused = await exchange(port, get("/one-more"));
    for (const response of waiting) response.end("{}");
    for (const line of lines) await line.closed;

    expect(refusalOf(refused)).toBe("503 UNAVAILABLE");
    expect(refused.head).toContain("retry-after: ");
    expect(lines.map((line) => line.text().startsWith("HTTP/1.1 200"))).not.toContain(false);
  });

  it("are not counted behind a proxy, where the address is everybody's", async () => {
    const port = await guarded(FEW, undefined, { ...PATIENT, perAddress: false });
    const lines = [];
    for (let count = 0; count < 20; count++) lines.push(await open(port));
    expect((await exchange(port, get("/proxied"))).body).toEqual({ url: "/proxied" });
    expect(lines.map(({ socket }) => socket.destroyed)).not.toContain(true);
  });

  it("serve one request after the other, also when several come at once", async () => {
    const port = await guarded();
    const line = await open(
      port,
      "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET /2 HTTP/1.1\r\nHost: a\r\n\r\n",
    );
    await expect.poll(() => line.text()).toContain('"/2"');
    line.socket.write(get("/3"));
    await line.closed;
    expect(line.text().match(/"\/\d"/g)).toEqual(['"/1"', '"/2"', '"/3"']);
  });
});

describe("whoever is answered before everything was sent", () => {
  it("has time to read the answer when the connection is closed after it", async () => {
    const port = await guarded(
      FEW,
      (_, response) => void response.writeHead(413, { connection: "close" }).end("{}"),
      PATIENT,
    );
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    sockets.push(socket);
    const errors: Error[] = [];
    let text = "";
    socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
    socket.on("error", (error) => errors.push(error));
    socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\nbegun");
    await once(socket, "end");
    // A connection that is closed for both sides would be reset by this.
    socket.end("x".repeat(1_000_000));
    await new Promise<void>((resolve) => socket.once("close", () => resolve()));
    expect(text).toContain(" 413 ");
    expect(errors).toEqual([]);
  });
});

it("a request behind the last answer is not done: nobody would hear of it, and it would be asked again", async () => {
  const handled: string[] = [];
  const port = await guarded(
    FEW,
    ({ url }, response) => {
      handled.push(url!);
      response.writeHead(413, { connection: "close" }).end("{}");
    },
    PATIENT,
  );
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  sockets.push(socket);
  socket.resume().on("error", () => undefined);
  socket.write("POST /first HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nbeg");
  await once(socket, "end");
  socket.end(`uns${get("/second")}`);
  await new Promise<void>((resolve) => socket.once("close", () => resolve()));
  expect(handled).toEqual(["/first"]);
});

it("a large request whose caller leaves at once is handled all the same", async () => {
  const handled: string[] = [];
  const port = await guarded({ ...FEW, unfinishedBytes: 1_000_000 }, (request, response) => {
    let size = 0;
    request.on("data", (chunk: Buffer) => (size += chunk.length));
    request.once("end", () => {
      handled.push(`${request.url} ${size}`);
      response.end("{}");
    });
  });
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  sockets.push(socket);
  socket.end(`POST /sent HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n${"x".repeat(50_000)}`);
  await expect.poll(() => handled).toEqual(["/sent 50000"]);
});

describe("large requests that come all at once", () => {
  const LARGE = 40;
  const large = (): string =>
    "POST /large HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000\r\n\r\n";

  it("let a small one pass that came after them, and are all handled", async () => {
    const handled: string[] = [];
    const port = await guarded(
      { ...FEW, waitingPerAddress: 100, perAddress: 100 },
      ({ url }, response) => {
        handled.push(url!);
        response.end("{}");
      },
      PATIENT,
    );
    await Promise.all(
      [...Array.from({ length: LARGE }, large), get("/small")].map((bytes) => open(port, bytes)),
    );
    await expect.poll(() => handled.length).toBe(LARGE + 1);
    expect(handled.indexOf("/small")).toBeLessThan(LARGE / 4);
  });
});

describe("a body that is streamed to the disk", () => {
  const begin = (port: number, size: number): Promise<Line> =>
    open(port, `POST /file HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`);

  /** A handler that reads one piece at a time, when it is told to. */
  function reading() {
    const bodies: HeldBody[] = [];
    const requests: IncomingMessage[] = [];
    const handle = (request: IncomingMessage, response: ServerResponse): void => {
      const body = holdBody({ runtime: { node: { req: request } } } as unknown as H3Event);
      bodies.push(body);
      requests.push(request);
      request.once("end", () => response.end("{}"));
    };
    return { bodies, requests, handle };
  }

  it("may take longer than other requests, but for its reader's limits", async () => {
    const { bodies, handle } = reading();
    const port = await guarded(FEW, handle, { headersTimeout: 300, requestTimeout: 300 });
    const slow = await begin(port, 2);
    const other = await begin(port, 2);
    await expect.poll(() => bodies.length).toBe(2);
    bodies[0]!.stream();
    await other.closed;
    expect(other.text()).toContain("408");
    expect(slow.text()).toBe("");
    slow.socket.write("ab");
    while ((await bodies[0]!.next()) !== null);
    await expect.poll(() => slow.text()).toContain("200");
  });

  it("holds no memory of those whose request is unfinished, however much of it has come", async () => {
    const { bodies, handle } = reading();
    const port = await guarded({ ...FEW, unfinishedBytes: 100_000 }, handle, PATIENT);
    const large = await begin(port, 1_000_000);
    await expect.poll(() => bodies.length).toBe(1);
    const [body] = bodies;
    body!.stream();
    large.socket.write(Buffer.alloc(999_999));
    for (let read = 0; read < 999_999;) read += (await body!.next())!.length;
    large.socket.write("x");
    while ((await body!.next()) !== null);
    await expect.poll(() => large.text()).toContain("200");
  });

  it("comes as fast as it is read", async () => {
    const { bodies, requests, handle } = reading();
    const port = await guarded({ ...FEW, unfinishedBytes: 50_000_000 }, handle, PATIENT);
    const size = 40_000_000;
    const line = await begin(port, size);
    await expect.poll(() => bodies.length).toBe(1);
    bodies[0]!.stream();
    line.socket.write(Buffer.alloc(size));
    const { socket } = requests[0]!;
    await expect.poll(() => socket.bytesRead).toBeGreaterThan(10_000);
    for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
    expect(socket.bytesRead).toBeLessThan(1_000_000);
    for (let read = 0; read < size;) read += (await bodies[0]!.next())!.length;
    expect(await bodies[0]!.next()).toBeNull();
    await expect.poll(() => line.text()).toContain("200");
  });
});
