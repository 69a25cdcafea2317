import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { call, createAccount, link } from "./gateway-client.ts";
import { type BenchGateway, rssMb, startGatewayProcess, type RunningSimulator } from "./processes.ts";

const SENDER = "31600000007";
const FILE_MB = 60;
const DESTINATIONS = 10;
const SAMPLE_MS = 10;
const GOAL_MB = 40;
const SETTLE_MS = 5_000;

/** Peak resident memory of a process while something is done, in MB. */
async function peakMb(child: BenchGateway["child"], work: () => Promise<void>): Promise<number> {
  let peak = rssMb(child);
  const sampling = setInterval(() => (peak = Math.max(peak, rssMb(child))), SAMPLE_MS);
  try {
    await work();
  } finally {
    clearInterval(sampling);
  }
  return Math.max(peak, rssMb(child));
}

/** Serves a zip of any length, made as it is asked for. `/<MB>` */
async function startFiles(): Promise<{ url: string; close(): void }> {
  const piece = Buffer.alloc(65_536, 7);
  const server = createServer(async (request, response) => {
    const bytes = Number(request.url!.slice(1)) * 1024 * 1024;
    response.writeHead(200, { "content-length": bytes });
    response.write("PK\x03\x04");
    for (let left = bytes - 4; left > 0; left -= piece.length)
      if (!response.write(piece.subarray(0, Math.min(left, piece.length))))
        await new Promise((resolve) => response.once("drain", resolve));
    response.end();
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

/** What a large file to many destinations costs in memory; the goal is that it is never held as a whole. */
export async function benchMedia({ sim, ready }: RunningSimulator): Promise<void> {
  const gateway = await startGatewayProcess(ready);
  const files = await startFiles();
  const key = await createAccount(gateway);
  await link(gateway, sim, key, SENDER);
  const people = await sim.addContacts(DESTINATIONS, { prefix: "49157" });
  const send = async (megabytes: number): Promise<void> => {
    const file = { media_type: "zip", url: `${files.url}/${megabytes}` };
    await call(gateway, "POST", "/send-media", { sender: SENDER, number: people.join("|"), ...file }, key);
    await sim.settle();
  };
  // Sessions with ten people, compiled code and open connections are no part of the file.
  await send(1);
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));

  const idle = rssMb(gateway.child);
  const started = performance.now();
  const over = (await peakMb(gateway.child, () => send(FILE_MB))) - idle;
  console.log(
    `${FILE_MB} MB file to ${DESTINATIONS} destinations: peak ${over.toFixed(1)} MB over the ${idle.toFixed(0)} MB idle ` +
      `(goal ${GOAL_MB}), ${((performance.now() - started) / 1000).toFixed(1)} s, ` +
      `${(await sim.mediaRequests({ direction: "upload" })).length - 1} upload`,
  );
  files.close();
  gateway.child.kill("SIGTERM");
}
