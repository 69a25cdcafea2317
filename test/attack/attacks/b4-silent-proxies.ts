import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import type { Attack } from "../attack.ts";
import { until, withNumbers } from "../numbers.ts";

const NUMBERS = 4;
/** How often each number's proxy is set. */
const CHANGES = { short: 10, full: 100 };
/** A connection that was given up may be open at this end for a moment longer than its successor is made. */
const MOST_OPEN = 2 * NUMBERS;

/** A proxy that takes every connection and says nothing, ever. */
async function listenInSilence() {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.resume());
    socket.on("error", () => undefined).once("close", () => open.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    open: () => open.size,
    port: (server.address() as AddressInfo).port,
    close() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}

const silentProxies: Attack = {
  name: "proxies that take connections and say nothing, set again and again",
  class: "B4",
  run: (arena) =>
    withNumbers(arena, { count: NUMBERS, prefix: "316000002" }, async (numbers) => {
      const { gateway, sim, attacker } = arena;
      const { key } = attacker;
      const proxy = await listenInSilence();
      const setProxy = async (number: string, to: string | null): Promise<void> => {
        const { status } = await gateway.patch(`/devices/${number}`, { proxy: to }, { key });
        if (status !== 200) throw new Error(`a proxy was answered with ${status}`);
      };
      try {
        for (let n = 0; n < CHANGES[arena.size]; n++) {
          const url = `${n % 2 === 0 ? "http" : "socks5"}://user:${n}@127.0.0.1:${proxy.port}`;
          await Promise.all(numbers.map((number) => setProxy(number, url)));
        }
        await until(() => proxy.open() > 0, "nobody connected to the proxy");
        await until(() => proxy.open() <= MOST_OPEN, "connections to a proxy are kept that nobody waits for");
        for (const number of numbers)
          if (await sim.online(number)) throw new Error("a number is online past its proxy");
        await Promise.all(numbers.map((number) => setProxy(number, null)));
        await Promise.all(numbers.map((number) => sim.waitOnline(number, 60_000)));
        await until(() => proxy.open() === 0, "connections to a proxy outlive it");
      } finally {
        proxy.close();
      }
    }),
};

export default silentProxies;
