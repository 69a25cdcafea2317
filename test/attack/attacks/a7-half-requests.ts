import type { Arena, Attack } from "../attack.ts";

const CONNECTIONS = { short: 60, full: 150 } as const;
const MEGABYTE = "x".repeat(1_000_000);
/** What is kept of unfinished requests at most is 32 MB; the rest is sockets, and what V8 has not collected yet. */
const MAY_GROW_MB = 120;

/** Opens many connections, sends as much on each, and never the end. */
const halves = (what: string, head: string, rest: string): Attack => ({
  name: `${what} on many connections, never finished`,
  class: "A7",
  maxMemoryMb: MAY_GROW_MB,
  async run({ connect, size }) {
    const sockets = await Promise.all(Array.from({ length: CONNECTIONS[size] }, () => connect()));
    const written = sockets.map(
      (socket) =>
        new Promise<void>((resolve) => {
          socket.resume().once("close", resolve);
          socket.write(head + rest, () => resolve());
        }),
    );
    await Promise.all(written);
  },
});

/** The new caller is served although the same address has filled every place. */
const crowd: Attack = {
  name: "idle connections beyond the limit",
  class: "A7",
  async run(arena) {
    const count = arena.size === "full" ? 2_500 : 700;
    for (let opened = 0; opened < count; opened += 50)
      await Promise.all(Array.from({ length: 50 }, () => arena.connect()));
    await served(arena);
  },
};

const byteByByte: Attack = {
  name: "a body that comes in chunks of one byte",
  class: "A7",
  maxMemoryMb: MAY_GROW_MB,
  async run({ exchange, size }) {
    const bytes = size === "full" ? 1_000_000 : 200_000;
    const head =
      "POST /send-message HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
    const answer = await exchange(`${head}${"1\r\n{\r\n".repeat(bytes)}0\r\n\r\n`, 30_000);
    if (!answer.startsWith("HTTP/1.1 400")) throw new Error(`was answered: ${answer.slice(0, 200)}`);
  },
};

async function served({ gateway, attacker }: Arena): Promise<void> {
  const ask = () => gateway.get("/account", { key: attacker.key });
  // A connection that was kept may be the one that had to go: who is new has none.
  const { status } = await ask().catch(ask);
  if (status !== 200) throw new Error(`a new caller was answered ${status}`);
}

const POST = "POST /send-message HTTP/1.1\r\nHost: a\r\n";
export default [
  halves("a megabyte of headers", `GET / HTTP/1.1\r\nHost: a\r\nX-A: `, MEGABYTE),
  halves("a megabyte of request line", "GET /", MEGABYTE),
  halves("a megabyte of body", `${POST}Content-Length: 1048576\r\n\r\n`, MEGABYTE),
  halves("headers of one byte", POST, "a:\r\n".repeat(4_000)),
  byteByByte,
  crowd,
];
