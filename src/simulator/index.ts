import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { behaviourOf } from "./behaviour.ts";
import { serveControl } from "./control/http.ts";
import { Population } from "./driver/population.ts";
import { createRecorder } from "./driver/recorder.ts";
import { createFaults } from "./faults/index.ts";
import { makeCertificates, type Certificates } from "./media/certificates.ts";
import { serveMedia } from "./media/host.ts";
import { phoneFiles } from "./media/phone-files.ts";
import { MediaStore } from "./media/store.ts";
import type { DeviceAddress } from "./people/address.ts";
import { seededRandom } from "./random.ts";
import { createChanges } from "./server/changes.ts";
import { firstAnswer } from "./server/hooks.ts";
import { createServer } from "./server/server.ts";
import type { SimulatorServer } from "./server/server.ts";
import { createSimulator } from "./simulator.ts";
import type { Simulator, SimulatorOptions } from "./surface/simulator.ts";
import { timeWithClock } from "./time.ts";
import { Transcript } from "./transcript.ts";
import { Violations } from "./violations.ts";
import { listenForSockets } from "./wire/listener.ts";
import { World } from "./world/world.ts";

export type * from "./types.ts";

/**
 * Starts an offline WhatsApp on loopback: a WebSocket server for clients, people to talk to, and a control API.
 *
 * @returns the simulator; end it with `stop()`
 * @throws when a given port is taken
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { server, population, files } = createService(options);
  const closers: (() => Promise<void>)[] = [];
  const sockets = await listenForSockets({
    port: options.port ?? 0,
    host: options.host ?? "127.0.0.1",
    refuse: () => firstAnswer(server.hooks.upgrade),
    onSocket: (socket) => server.accept(socket),
  });
  closers.push(() => sockets.close());
  const media = await startMediaHost(server, options.certificates ?? makeCertificates());
  closers.push(() => media.close());
  const addresses = {
    wsUrl: sockets.url,
    controlUrl: "",
    noiseRoot: server.identity.rootPublicKey.toString("hex"),
    mediaUrl: media.url,
    ca: media.ca,
    caFile: media.caFile,
  };
  const stop = async (): Promise<void> => {
    population.sleep();
    server.close();
    for (const close of closers.splice(0).toReversed()) await close();
  };
  const faults = createFaults({ ...server, population });
  const simulator = createSimulator({ server, population, files, faults, addresses, stop });
  if (options.controlPort === false) return simulator;
  const control = await serveControl(simulator, server.transcript, options.controlPort ?? 0);
  closers.push(() => control.close());
  return Object.assign(simulator, { controlUrl: control.url });
}

/** The service and the people in it, all in memory. */
function createService(options: SimulatorOptions) {
  const time = options.time ?? timeWithClock(options.clock ?? Date.now);
  const random = seededRandom(options.seed ?? "parley");
  const world = new World();
  const seen = {
    violations: new Violations(time),
    transcript: new Transcript(time),
    changes: createChanges(),
  };
  const serverRandom = random.fork("server");
  const media = new MediaStore(serverRandom.fork("media"), time);
  const files = phoneFiles(media);
  const behaviour = behaviourOf(options.behaviour);
  const phones = {
    time,
    random: random.fork("people"),
    recorder: createRecorder({ world, ...seen, ...seen.changes }),
    files,
    behaviour,
    attach: (address: DeviceAddress) => server.attach(address),
  };
  const population = new Population(world, phones, random);
  const { qrRefs: refs = 6, qrFirstMs: firstMs = 60_000, qrNextMs: nextMs = 20_000 } = options;
  const server: SimulatorServer = createServer({
    world,
    random: serverRandom,
    time,
    media,
    behaviour,
    ...seen,
    wake: (account) => population.wake(account),
    qr: { refs, firstMs, nextMs },
  });
  return { server, population, files };
}

/** The media host over TLS, with the certificate of its authority in a file that goes away with it. */
async function startMediaHost(server: SimulatorServer, certificates: Certificates) {
  const host = await serveMedia(server, certificates);
  const folder = await mkdtemp(join(tmpdir(), "simulator-"));
  const caFile = join(folder, "ca.pem");
  await writeFile(caFile, certificates.ca);
  return {
    url: host.url,
    ca: certificates.ca,
    caFile,
    async close() {
      await host.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
