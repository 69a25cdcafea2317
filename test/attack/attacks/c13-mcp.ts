import { MAX_DISCARDED_BYTES } from "../../../src/api/reading/body.ts";
import type { Arena, Attack } from "../attack.ts";

const AT_ONCE = 16;
const client = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } };
const call = (name: string, args: object) => ({ method: "tools/call", params: { name, arguments: args } });
const ofOne = (id: number, message: object): string => JSON.stringify({ jsonrpc: "2.0", id, ...message });

/** What a client sends that understands nothing, or wants to be a burden. */
const BODIES: ((id: number) => string)[] = [
  (id) => ofOne(id, { method: "initialize", params: client }),
  (id) => ofOne(id, { method: "tools/list", params: { cursor: "x".repeat(50_000) } }),
  (id) => ofOne(id, call("nothing", { x: "x".repeat(200_000) })),
  (id) => ofOne(id, call("list_chats", { q: "%".repeat(10_000), limit: 1e9 })),
  () => "[".repeat(100_000),
  (id) => `[${Array.from({ length: 2_000 }, (_, n) => ofOne(id + n, { method: "ping" })).join(",")}]`,
  () => '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
  () => "\u0000",
];
/** A tool's error is an answer; so is that there were too many. */
const FINE = new Set([200, 202, 400, 413, 429]);

async function post({ gateway, attacker: { key } }: Arena, body: string): Promise<void> {
  const { status } = await fetch(`http://127.0.0.1:${gateway.port}/mcp`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body,
  });
  if (!FINE.has(status)) throw new Error(`${body.slice(0, 80)} was answered with ${status}`);
}

/** Twice what the gateway throws away before it closes: kernels on both sides hold some of it. */
const MOST_READ = 2 * MAX_DISCARDED_BYTES;
const CHUNK = 65_536;

/** A body without an end. @throws when the gateway goes on reading it */
async function pour({ connect, attacker: { key } }: Arena): Promise<void> {
  const socket = await connect();
  socket.resume();
  const ended = new Promise<void>((resolve) => {
    for (const event of ["close", "end", "error"]) socket.on(event, () => resolve());
  });
  const head = ["POST /mcp HTTP/1.1", "Host: gateway", `Authorization: Bearer ${key}`];
  socket.write(
    `${[...head, "Content-Type: application/json", "Transfer-Encoding: chunked"].join("\r\n")}\r\n\r\n`,
  );
  const chunk = `${CHUNK.toString(16)}\r\n${"x".repeat(CHUNK)}\r\n`;
  for (let written = 0; socket.writable && !socket.readableEnded; written += CHUNK) {
    if (written > MOST_READ) throw new Error("a body without an end was read on and on");
    const isFull = !socket.write(chunk);
    if (isFull) await Promise.race([ended, new Promise((resolve) => void socket.once("drain", resolve))]);
    await new Promise(setImmediate);
  }
}

const mcp: Attack = {
  name: "an MCP client that begins with every request, calls what there is not, and never ends",
  class: "C13",
  async run(arena) {
    const times = arena.size === "full" ? 10_000 : 400;
    let asked = 0;
    const ask = async (): Promise<void> => {
      while (asked < times) {
        const id = asked++;
        await post(arena, BODIES[id % BODIES.length]!(id));
      }
    };
    await Promise.all([...Array.from({ length: AT_ONCE }, ask), pour(arena)]);
  },
};

export default mcp;
