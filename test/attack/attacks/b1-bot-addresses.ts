import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Attack } from "../attack.ts";

const PATIENCE_MS = 60_000;

/** A tenant's own server, at an address that stands in the settings of a bot. */
const asking = (what: string, answer: (response: ServerResponse, port: number) => void): Attack => ({
  name: `bots ask a server of their tenant that ${what}`,
  class: "B1",
  async run({ gateway, sim, attacker, size }) {
    const server = createServer((_request, response) => answer(response, port));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    try {
      const config = { lookupUrl: `http://127.0.0.1:${port}/{order}` };
      const bots = [{ id: "order-status", enabled: true, config }];
      const saved = await gateway.put(`/devices/${attacker.number}/bots`, { bots }, { key: attacker.key });
      if (saved.status !== 200) throw new Error(`binding was answered ${saved.status}`);
      const times = size === "full" ? 10 : 2;
      for (let order = 1; order <= times; order++)
        await sim.sendText(attacker.contact, attacker.number, `order ${100 + order}`);
      await sim.waitForMessage(
        attacker.contact,
        {
          from: attacker.number,
          text: "I cannot look that up at the moment. Please try again in a few minutes.",
        },
        PATIENCE_MS,
      );
    } finally {
      server.closeAllConnections();
      server.close();
    }
  },
});

const chunk = Buffer.alloc(65_536, 0x20);

export default [
  asking("answers without end", (response) => {
    const write = (): void => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once("drain", write);
    };
    write();
  }),
  asking("sends in circles", (response, port) => {
    response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end();
  }),
  asking("sends to another scheme", (response) => {
    response.writeHead(302, { location: "file:///etc/passwd" }).end();
  }),
  asking("packs gigabytes into kilobytes", (response) => {
    response.writeHead(200, { "content-encoding": "gzip" }).end(chunk);
  }),
  asking("answers with deep JSON", (response) => {
    response.writeHead(200, { "content-type": "application/json" }).end("[".repeat(900_000));
  }),
];
