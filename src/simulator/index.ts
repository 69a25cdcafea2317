import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveControl } from "./control/http.ts";
import { makeFaults } from "./faults/index.ts";
import { makeCertificates } from "./media/certificates.ts";
import { serveMedia } from "./media/host.ts";
import { phoneFiles } from "./media/phone-files.ts";
import { Population } from "./population.ts";
import { seededRandom } from "./random.ts";
import { makeRecorder } from "./recorder.ts";
import { SimulatorServer } from "./server/server.ts";
import { firstAnswer } from "./server/hooks.ts";
import { LibrarySimulator } from "./simulator.ts";
import { Transcript } from "./transcript.ts";
import type { Simulator, SimulatorOptions } from "./types.ts";
import { Violations } from "./violations.ts";
import { listenForSockets } from "./wire/listener.ts";
import { World } from "./world.ts";

export type * from "./types.ts";

/**
 * Starts an offline WhatsApp on loopback: a WebSocket server for clients, people to talk to, and a control API.
 *
 * @returns the simulator; end it with `stop()`
 * @throws when a given port is taken
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const clock = options.clock ?? Date.now;
  const random = seededRandom(options.seed ?? "parley");
  const world = new World();
  const phones = {
    clock: { now: clock },
    random: random.fork("people"),
    recorder: makeRecorder(() => server),
    files: phoneFiles(() => server.media),
    attach: (address: Parameters<SimulatorServer["attach"]>[0]) => server.attach(address),
  };
  const population = new Population(world, phones, random);
  const server: SimulatorServer = new SimulatorServer({
    world,
    random: random.fork("server"),
    clock,
    violations: new Violations(clock),
    transcript: new Transcript(clock),
    wake: (account) => population.wake(account),
    qr: {
      refs: options.qrRefs ?? 6,
      firstMs: options.qrFirstMs ?? 60_000,
      nextMs: options.qrNextMs ?? 20_000,
    },
  });
  const simulator = new LibrarySimulator(server, population, makeFaults(server, population));
  const sockets = await listenForSockets({
    port: options.port ?? 0,
    refuse: () => firstAnswer(server.hooks.upgrade),
    onSocket: (socket) => server.accept(socket),
  });
  simulator.wsUrl = sockets.url;
  simulator.onStop(() => sockets.close());
  const certificates = makeCertificates();
  const media = await serveMedia(server, certificates);
  const folder = await mkdtemp(join(tmpdir(), "simulator-"));
  await writeFile(join(folder, "ca.pem"), certificates.ca);
  simulator.mediaUrl = media.url;
  simulator.ca = certificates.ca;
  simulator.caFile = join(folder, "ca.pem");
  simulator.onStop(async () => {
    await media.close();
    await rm(folder, { recursive: true, force: true });
  });
  if (options.controlPort !== false) {
    const control = await serveControl(simulator, server.transcript, options.controlPort ?? 0);
    simulator.controlUrl = control.url;
    simulator.onStop(() => control.close());
  }
  return simulator;
}
