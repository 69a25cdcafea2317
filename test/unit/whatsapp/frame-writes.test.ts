import { EventEmitter, once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { writeTogether } from "../../../src/whatsapp/send/frame-writes.ts";

/** A connection over the loopback, and what the other side gets. */
async function connected() {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const accepted = once(server, "connection");
  const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    perMessageDeflate: false,
  });
  const ws = Object.assign(new EventEmitter(), { socket });
  writeTogether({ ws } as never);
  await once(socket, "open");
  ws.emit("open");
  const [other] = (await accepted) as [WebSocket];
  const got: string[] = [];
  other.on("message", (data: Buffer) => got.push(data.toString()));
  // oxlint-disable-next-line no-underscore-dangle -- the name is that of `ws`
  const connection = (socket as unknown as { _socket: { _writev: unknown; _write: unknown } })._socket;
  let calls = 0;
  for (const name of ["_write", "_writev"] as const) {
    const original = connection[name] as (...args: unknown[]) => unknown;
    connection[name] = (...args: unknown[]) => (calls++, original.apply(connection, args));
  }
  const end = async (): Promise<void> => {
    socket.terminate();
    server.close();
    await once(server, "close");
  };
  return { socket, got, calls: () => calls, end };
}

const written = (socket: WebSocket, text: string): Promise<void> =>
  new Promise((resolve, reject) => socket.send(text, (error) => (error ? reject(error) : resolve())));

describe("frames", () => {
  it("of one go leave together, in order, and are known to be written", async () => {
    const { socket, got, calls, end } = await connected();

    await Promise.all(Array.from({ length: 50 }, (_, i) => written(socket, `frame ${i}`)));

    expect(calls()).toBe(1);
    await written(socket, "another");
    expect(calls()).toBe(2);
    await vi.waitFor(() => expect(got).toHaveLength(51));
    expect(got).toEqual([...Array.from({ length: 50 }, (_, i) => `frame ${i}`), "another"]);
    await end();
  });
});
