import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { BenchGateway } from "../processes.ts";
import type { Facts } from "./data.ts";
import { callForKey } from "./tenants.ts";

/** While nothing comes, it is waited for no longer. */
const PATIENCE_MS = 60_000;

/** A customer's server that has come back. */
export interface Receiver {
  readonly events: number;
  /** Chats in which an event came after a later one. */
  readonly outOfOrder: number;
  /** Tells the gateway where it is. */
  announce(gateway: BenchGateway, facts: Facts): Promise<void>;
  /** Until so many events have come, or none comes any more. */
  until(count: number): Promise<void>;
  close(): void;
}

/** It takes everything and remembers in what order it came. */
export async function startReceiver(): Promise<Receiver> {
  const lastOf = new Map<string, string>();
  const disordered = new Set<string>();
  const seen = { events: 0 };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { chat, id } = JSON.parse(Buffer.concat(chunks).toString()) as { chat: string; id: string };
    // Their ids rise with their places in the year.
    if ((lastOf.get(chat) ?? "") > id) disordered.add(chat);
    lastOf.set(chat, id);
    seen.events++;
    response.writeHead(204).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    get events() {
      return seen.events;
    },
    get outOfOrder() {
      return disordered.size;
    },
    async announce(gateway, { busy }) {
      const url = `http://127.0.0.1:${port}/webhook`;
      await callForKey(gateway, busy.key)("PUT", `/devices/${busy.number}/webhook`, { url, mode: "always" });
    },
    async until(count) {
      let last = { events: seen.events, at: performance.now() };
      while (performance.now() - last.at < PATIENCE_MS) {
        if (seen.events >= count) return;
        await new Promise((resolve) => setTimeout(resolve, 50));
        if (seen.events > last.events) last = { events: seen.events, at: performance.now() };
      }
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
