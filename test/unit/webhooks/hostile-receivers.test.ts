import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, it, onTestFinished, vi } from "vitest";
import { ACCOUNT, DEVICE, gateway, receiver, status, storeWithNumber } from "./gateway.ts";

/** What an attempt may cost, whatever the receiver does. */
const TIMEOUT_MS = 1_000;
const MEBIBYTE = 1024 ** 2;
/** What lies in the buffers of both ends of a connection on loopback is no longer the sender's. */
const BUFFERS = 12 * MEBIBYTE;

interface RawReceiver {
  port: number;
  /** Requests that began. */
  posts: number;
  /** Connections that are open. */
  sockets: Set<Socket>;
  /** Bytes of answers that were taken. */
  taken: number;
}

/** A TCP server that does what HTTP servers do not: `answer` is called once a whole request is there. */
async function rawReceiver(answer: (socket: Socket) => void): Promise<RawReceiver> {
  const made: RawReceiver = { port: 0, posts: 0, sockets: new Set(), taken: 0 };
  const server = createServer((socket) => {
    made.sockets.add(socket);
    let request = "";
    socket.on("error", () => undefined);
    socket.on("close", () => {
      made.sockets.delete(socket);
      made.taken += socket.bytesWritten - socket.writableLength;
    });
    socket.on("data", (chunk) => {
      request += chunk.toString("latin1");
      const [head, body] = request.split("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(head!)?.[1] ?? 0);
      if (body === undefined || body.length < length) return;
      made.posts++;
      request = "";
      answer(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of made.sockets) socket.destroy();
    server.close();
  });
  made.port = (server.address() as AddressInfo).port;
  return made;
}

const says = (text: string) => (socket: Socket) => void socket.write(text);
const saysAndLeaves = (text: string | Buffer) => (socket: Socket) => void socket.end(text);

/** Writes as long as anybody takes it. */
const withoutEnd = (beginning: string, chunk: string) => (socket: Socket) => {
  socket.write(beginning);
  const more = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on("drain", more);
  more();
};

const dripping = (beginning: string, drop: string) => (socket: Socket) => {
  socket.write(beginning);
  const timer = setInterval(() => socket.write(drop), 200);
  socket.on("close", () => clearInterval(timer));
};

const OK = "HTTP/1.1 200 OK\r\n";
const reply = JSON.stringify({ message: "hello" });
const bomb = gzipSync(Buffer.alloc(64 * MEBIBYTE));

interface Case {
  answer: (socket: Socket) => void;
  /** `delivered`: the receiver has the event, its answer is of no use · `answered`: there is a reply */
  ends: "retrying" | "delivered" | "answered";
  statusCode: number | null;
  scheme?: "https";
}

const lost = (answer: Case["answer"], scheme?: "https"): Case => ({
  answer,
  ends: "retrying",
  statusCode: null,
  ...(scheme && { scheme }),
});
const delivered = (answer: Case["answer"]): Case => ({ answer, ends: "delivered", statusCode: 200 });

const CASES: Record<string, Case> = {
  "never answers": lost(() => undefined),
  "drips its header": lost(dripping("HTTP/1.1 200 OK\r\nx-slow: ", "a")),
  "drips its body": lost(dripping(`${OK}transfer-encoding: chunked\r\n\r\n`, "1\r\n \r\n")),
  "promises a body and sends none": lost(says(`${OK}content-length: 100\r\n\r\n`)),
  "answers without end": delivered(withoutEnd(`${OK}\r\n`, " ".repeat(65_536))),
  "answers an error without end": {
    ...lost(withoutEnd("HTTP/1.1 500 No\r\n\r\n", " ".repeat(65_536))),
    statusCode: 500,
  },
  "sends a gzip bomb": delivered(
    saysAndLeaves(
      Buffer.concat([
        Buffer.from(`${OK}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`),
        bomb,
      ]),
    ),
  ),
  "promises more than it sends": lost(saysAndLeaves(`${OK}content-length: 100\r\n\r\n${reply}`)),
  "sends more than it promises": delivered(says(`${OK}content-length: 5\r\n\r\n${reply}`)),
  "promises two lengths": lost(says(`${OK}content-length: 5\r\ncontent-length: 17\r\n\r\n${reply}`)),
  "leaves without a word": lost(saysAndLeaves("")),
  "leaves within its header": lost(saysAndLeaves("HTTP/1.1 200 OK\r\ncontent-ty")),
  "breaks the connection": lost((socket) => void socket.resetAndDestroy()),
  "says continue without end": lost(withoutEnd("", "HTTP/1.1 100 Continue\r\n\r\n".repeat(1000))),
  "gives early hints without end": lost(
    withoutEnd("", "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(1000)),
  ),
  "switches protocols": lost(says("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n")),
  "sends headers without end": lost(withoutEnd("HTTP/1.1 200 OK\r\n", `x-a: ${"b".repeat(8000)}\r\n`)),
  "sends a chunk of impossible size": lost(
    says(`${OK}transfer-encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\n`),
  ),
  "speaks no HTTP": lost(says("220 mail.example ESMTP\r\n")),
  "sends no UTF-8": delivered(
    saysAndLeaves(
      Buffer.concat([Buffer.from(`${OK}content-length: 4\r\n\r\n`), Buffer.from([0xff, 0xfe, 0xc0, 0x80])]),
    ),
  ),
  "speaks HTTP/1.0 without a length": {
    ...delivered(saysAndLeaves(`HTTP/1.0 200 OK\r\n\r\n${reply}`)),
    ends: "answered",
  },
  "answers twice": {
    ...delivered(says(`${OK}content-length: ${reply.length}\r\n\r\n${reply}`.repeat(2))),
    ends: "answered",
  },
  "speaks no TLS": lost(saysAndLeaves("HTTP/1.1 400 Bad Request\r\n\r\n"), "https"),
};

it.each(Object.entries(CASES))(
  "a receiver that %s costs one attempt, its timeout and a mebibyte at most",
  async (_, { answer, ends, statusCode, scheme = "http" }) => {
    const [store, raw] = await Promise.all([storeWithNumber(), rawReceiver(answer)]);
    const parley = await gateway(store, { random: () => 1 });
    const url = `${scheme}://127.0.0.1:${raw.port}/hook`;
    await parley.configure(url, { timeoutMs: TIMEOUT_MS });
    await parley.receive({ text: "question" });

    // However long the receiver goes on, there is an end, and the message has its decision.
    await vi.waitFor(async () => expect(await parley.decisions()).toHaveLength(1));
    const [delivery] = await parley.deliveries();
    expect(delivery).toMatchObject({
      state: ends === "retrying" ? "retrying" : "delivered",
      attempts: [{ statusCode }],
    });
    expect((await parley.sent()).map(({ text }) => text)).toEqual(ends === "answered" ? ["hello"] : []);
    expect(raw.posts).toBe(scheme === "https" ? 0 : 1);
    // Whoever answers as it should keeps its connection for the next event.
    if (ends === "retrying") await vi.waitFor(() => expect(raw.sockets.size).toBe(0));
    expect(raw.taken).toBeLessThan(MEBIBYTE + BUFFERS);
    for (const attempt of delivery!.attempts) expect((attempt.answer ?? "").length).toBeLessThanOrEqual(4096);
  },
);

it("a receiver that says nothing while TLS begins costs its timeout", async () => {
  const store = await storeWithNumber();
  const silent = createServer((socket) => void socket.on("error", () => undefined));
  const open = new Set<Socket>();
  silent.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket)).resume();
  });
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    silent.close();
  });
  const parley = await gateway(store);
  const { port } = silent.address() as AddressInfo;
  await parley.configure(`https://127.0.0.1:${port}/`, { timeoutMs: TIMEOUT_MS });
  await parley.receive();
  await vi.waitFor(async () => expect(await parley.decisions()).toHaveLength(1));
  expect((await parley.deliveries())[0]).toMatchObject({
    state: "retrying",
    attempts: [{ statusCode: null }],
  });
});

it("a redirect is not followed, neither to another server nor into the gateway's own network", async () => {
  const store = await storeWithNumber();
  const [shop, inside] = await Promise.all([receiver(), receiver()]);
  const parley = await gateway(store);
  await parley.configure(shop.url);
  for (const code of [301, 302, 303, 307, 308]) {
    shop.answer(status(code, "", { location: inside.url }));
    await parley.receive({ chat: `${code}@lid`, chatKey: `${code}@lid` });
  }
  await vi.waitFor(async () => expect(await parley.decisions()).toHaveLength(5));
  expect(inside.posts).toEqual([]);
  for (const { state, attempts } of await parley.deliveries()) {
    expect(state).toBe("retrying");
    expect(attempts).toMatchObject([{ error: expect.stringMatching(/redirects are not followed/) }]);
  }
});

it("one number's hanging receiver gets a bounded number of connections, and another number's is asked at once", async () => {
  const [store, shop, hanging] = await Promise.all([
    storeWithNumber(),
    receiver(),
    rawReceiver(() => undefined),
  ]);
  await store.writer.commit([
    {
      sql: "insert into devices (id, account_id, number, state, since, created_at) values (2, ?, '4930666', 'connected', 0, 0)",
      args: [ACCOUNT],
    },
  ]);
  const parley = await gateway(store);
  await parley.configure(`http://127.0.0.1:${hanging.port}/`, { timeoutMs: 30_000 });
  await parley.webhooks.put(2, { url: shop.url });
  shop.answer(status(200, { message: "at once" }));
  for (let i = 0; i < 300; i++) await parley.receive({ chat: `${i}@lid`, chatKey: `${i}@lid` }, DEVICE);
  await vi.waitFor(() => expect(hanging.posts).toBe(256));

  await parley.receive({ text: "open?" }, 2);
  await vi.waitFor(() => expect(shop.posts).toHaveLength(1));
  await vi.waitFor(async () => expect(await parley.decisions()).toHaveLength(1));
  expect(hanging.posts).toBe(256);
  expect(hanging.sockets.size).toBe(256);
});
