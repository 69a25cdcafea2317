import { createServer, type AddressInfo } from "node:net";
import type { Arena, Attack } from "../attack.ts";

/** This machine and what stands beside it, in every spelling that a URL has for it. */
const HOSTS = [
  "127.0.0.1",
  "127.1",
  "127.000.000.001",
  "2130706433",
  "0x7f000001",
  "0x7f.0.0.1",
  "0177.0.0.1",
  "017700000001",
  "0",
  "0.0.0.0",
  "localhost",
  "LOCALHOST.",
  "a.localhost",
  "[::1]",
  "[::]",
  "[0:0:0:0:0:0:0:1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "[64:ff9b:1::7f00:1]",
  "[2002:7f00:1::]",
  "[2001:0:7f00:1::]",
  "１２７.０.０.１",
  "①②⑦.⓪.⓪.①",
  "127。0。0。1",
  "%31%32%37.0.0.1",
  "user:secret@127.0.0.1",
  "example.com@127.0.0.1",
  "127.255.255.254",
];
/** Nobody is there to count who comes: the refusal is what is looked at. */
const ELSEWHERE = [
  "10.0.0.1",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "169.254.169.254",
  "[fd00:ec2::254]",
  "[fe80::1]",
  "100.64.0.1",
  "192.0.0.192",
  "198.18.0.1",
  "224.0.0.1",
  "[ff02::1]",
  "255.255.255.255",
];
const PATIENCE_MS = 30_000;

type Guarded = Awaited<ReturnType<Arena["guarded"]>>;
type Door = (inside: Guarded, url: string) => Promise<{ status: number; body: Record<string, any> }>;

/** A server on this machine, and how many connections were made to it. */
async function trap(): Promise<{ port: number; visits(): number; close(): void }> {
  let visits = 0;
  const server = createServer((socket) => {
    visits++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen({ port: 0, host: "::", ipv6Only: false }, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    visits: () => visits,
    close: () => void server.close(),
  };
}

const through = (door: string, ask: Door): Attack => ({
  name: `private addresses in every spelling, through ${door}`,
  class: "B1",
  async run(arena) {
    const inside = await arena.guarded();
    const { port, visits, close } = await trap();
    try {
      const tried = [...HOSTS, ...ELSEWHERE].map(async (host) => {
        const answer = await ask(inside, `http://${host}:${port}/`);
        return answer.status === 400 || answer.status === 422 ? [] : [`${host} (${answer.status})`];
      });
      const taken = (await Promise.all(tried)).flat();
      if (taken.length > 0) throw new Error(`not refused: ${taken.join(", ")}`);
      if (visits() > 0) throw new Error(`${visits()} connections were made to this machine`);
    } finally {
      close();
    }
  },
});

/** The host is in the customer's hands: no look at the settings can tell. */
const hostOfMessage: Attack = {
  name: "a private address that a message completes, through a bot",
  class: "B1",
  async run(arena) {
    const { gateway, tenant } = await arena.guarded();
    const { port, visits, close } = await trap();
    const path = `/devices/${tenant.number}/bots`;
    const bots = [{ id: "order-status", enabled: true, config: { lookupUrl: `http://{order}:${port}/` } }];
    try {
      const saved = await gateway.put(path, { bots }, { key: tenant.key });
      if (saved.status !== 200 && saved.status !== 400 && saved.status !== 422)
        throw new Error(`the settings were answered ${saved.status}`);
      if (saved.status === 200) {
        await arena.sim.sendText(tenant.contact, tenant.number, "order 2130706433");
        await arena.sim.waitForMessage(tenant.contact, { from: tenant.number }, PATIENCE_MS);
      }
      if (visits() > 0) throw new Error("the bot asked this machine");
    } finally {
      await gateway.put(path, { bots: [] }, { key: tenant.key });
      close();
    }
  },
};

export default [
  through("a file to send", ({ gateway, tenant: { key, number, contact } }, url) =>
    gateway.post("/send-media", { api_key: key, sender: number, number: contact, media_type: "pdf", url }),
  ),
  through("a webhook", ({ gateway, tenant }, url) =>
    gateway.put(`/devices/${tenant.number}/webhook`, { url }, { key: tenant.key }),
  ),
  through("a bot's settings", ({ gateway, tenant }, url) =>
    gateway.put(
      `/devices/${tenant.number}/bots`,
      { bots: [{ id: "order-status", enabled: true, config: { lookupUrl: `${url}{order}` } }] },
      { key: tenant.key },
    ),
  ),
  hostOfMessage,
] satisfies Attack[];
