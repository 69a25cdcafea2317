import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { buildIfStale } from "../cli/build.ts";
import { createGatewayClient, type GatewayClient } from "../cli/gateway-client.ts";
import type { Steps } from "../cli/terminal.ts";
import { connectSimulator } from "../simulator/client.ts";
import type { ReadyLine, Simulator } from "../simulator/types.ts";
import type { Cleanup } from "./cleanup.ts";
import { freePort, startProgram, type Program, type ProgramOptions } from "./programs.ts";
import { startReceiver } from "./receiver.ts";
import { readQrImage } from "./scan-qr-image.ts";

/** The number that the gateway links, digits. */
export const NUMBER = "31600000001";
/** The person who writes to it: number in digits, and the name that WhatsApp shows. */
export const CONTACT = { number: "31600000002", name: "Ana" };

const GATEWAY_START_MS = 60_000;
const SIMULATOR_START_MS = 30_000;
const LINK_MS = 60_000;

/** Everything that a conversation needs, up and linked. */
export interface Stage {
  simulator: Simulator;
  /** Asks as the demo's account. */
  gateway: GatewayClient;
  apiKey: string;
  /** Ids of the bots that are on. */
  bots: string[];
}

/**
 * Builds, starts and links, one step after the other.
 *
 * @param root    repository root
 * @param cleanup gets an entry for everything that must not outlive the demo
 * @param watch   gets a promise of each program that rejects when it ends by itself
 * @param onGatewayLine the gateway is that of `nitro dev`, which reads bots anew when they change, and this gets what it
 *   writes; without it: the built gateway, and a webhook behind the bots
 * @throws Error of the step that failed
 */
export async function openStage(
  root: string,
  steps: Steps,
  cleanup: Cleanup,
  watch: (crashed: Promise<never>) => void,
  onGatewayLine?: (line: string) => void,
): Promise<Stage> {
  const isDev = onGatewayLine !== undefined;
  if (!isDev)
    await steps.run("build", async (report) => {
      const seconds = await buildIfStale(root, report);
      return seconds === null ? "up to date" : `${seconds.toFixed(1)} s`;
    });
  const folder = await ownFolder(root, cleanup);
  const start = (options: Omit<ProgramOptions, "cwd" | "logFile">): Program => {
    const logFile = join(folder, `${options.name}.log`);
    const program = startProgram({ ...options, cwd: root, logFile });
    cleanup.add(() => program.stop());
    watch(program.crashed);
    return program;
  };
  const simulator = await openSimulator(start, steps);
  const operator = await openGateway(start, join(folder, "data"), simulator, steps, onGatewayLine);

  let apiKey = "";
  await steps.run("account", async () => {
    const made = await operator.post<{ api_key: string }>("/admin/accounts", { name: "demo" });
    apiKey = made.api_key;
    return "demo, with its first API key";
  });
  const gateway = operator.as(apiKey);
  await steps.run("number", async (report) => linkNumber(simulator, gateway, report));
  const bots = await bindBots(gateway, steps, isDev);
  if (!isDev) await steps.run("webhook", async () => setWebhook(gateway, cleanup));
  return { simulator, gateway, apiKey, bots };
}

/** `.demo/<process id>`: two demos do not disturb each other, and what a killed one left behind is removed. */
async function ownFolder(root: string, cleanup: Cleanup): Promise<string> {
  const parent = join(root, ".demo");
  await mkdir(parent, { recursive: true });
  for (const name of await readdir(parent)) {
    if (!isRunning(Number(name))) await rm(join(parent, name), { recursive: true, force: true });
  }
  const folder = join(parent, String(process.pid));
  await mkdir(join(folder, "data"), { recursive: true });
  // After a failure the logs stay until the next run.
  cleanup.add((failed) => rm(failed ? join(folder, "data") : folder, { recursive: true, force: true }));
  return folder;
}

function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

type Start = (options: Omit<ProgramOptions, "cwd" | "logFile">) => Program;

async function openSimulator(start: Start, steps: Steps): Promise<Simulator> {
  let simulator!: Simulator;
  await steps.run("simulator", async (report) => {
    report("starting an offline WhatsApp");
    const program = start({
      name: "simulator",
      args: ["--import", "tsx", "src/simulator/main.ts", "--with-parent"],
      env: {},
      readOutput: true,
    });
    const late = tooLate("The simulator", SIMULATOR_START_MS);
    const ready = await Promise.race([readReadyLine(program), program.crashed, late]);
    simulator = connectSimulator(ready.controlUrl, ready);
    await simulator.addNumber(NUMBER, { name: "Demo shop" });
    await simulator.addContact(CONTACT.number, { name: CONTACT.name });
    return `offline WhatsApp at ${ready.wsUrl}`;
  });
  return simulator;
}

async function readReadyLine(program: Program): Promise<ReadyLine> {
  const output = program.child.stdout;
  if (!output) throw new Error("The simulator's output cannot be read.");
  const [line] = (await once(createInterface({ input: output }), "line")) as [string];
  return JSON.parse(line) as ReadyLine;
}

async function openGateway(
  start: Start,
  dataDir: string,
  simulator: Simulator,
  steps: Steps,
  onLine?: (line: string) => void,
): Promise<GatewayClient> {
  let operator!: GatewayClient;
  await steps.run("gateway", async (report) => {
    report("starting");
    const port = await freePort();
    const adminToken = randomBytes(24).toString("hex");
    const program = start({
      name: "gateway",
      args: onLine
        ? devServer(port)
        : ["--import", "./src/demo/end-with-parent.mjs", ".output/server/index.mjs"],
      readOutput: onLine !== undefined,
      env: {
        NODE_ENV: onLine ? "development" : "production",
        HOST: "127.0.0.1",
        PORT: String(port),
        DATA_DIR: dataDir,
        PARLEY_ADMIN_TOKEN: adminToken,
        WHATSAPP_WS_URL: simulator.wsUrl,
        WHATSAPP_NOISE_ROOT: simulator.noiseRoot,
        // The demo's webhook receiver listens on loopback.
        ALLOW_PRIVATE_NETWORK: "1",
      },
    });
    if (onLine && program.child.stdout) createInterface({ input: program.child.stdout }).on("line", onLine);
    operator = createGatewayClient(`http://127.0.0.1:${port}`, adminToken);
    const late = tooLate("The gateway", GATEWAY_START_MS);
    await Promise.race([untilReady(operator), program.crashed, late]);
    return operator.baseUrl;
  });
  return operator;
}

const devServer = (port: number): string[] => [
  "--import",
  "./src/demo/end-with-parent.mjs",
  "node_modules/nitro/dist/cli/index.mjs",
  "dev",
  "--host",
  "127.0.0.1",
  "--port",
  String(port),
];

async function untilReady(gateway: GatewayClient): Promise<void> {
  const deadline = Date.now() + GATEWAY_START_MS;
  while (Date.now() < deadline) {
    const ready = await gateway.get("/health/ready").catch(() => null);
    if (ready) return;
    await pause(50);
  }
}

async function tooLate(who: string, afterMs: number): Promise<never> {
  await pause(afterMs, undefined, { ref: false });
  throw new Error(`${who} did not start within ${afterMs / 1_000} seconds.`);
}

interface LinkAnswer {
  status: boolean;
  state: string;
  qrcode?: string;
}

/** Asks for the QR image, reads it and holds it before the owner's phone, until the number is connected. */
async function linkNumber(
  simulator: Simulator,
  gateway: GatewayClient,
  report: (doing: string) => void,
): Promise<string> {
  const deadline = Date.now() + LINK_MS;
  let scanned: { text: string; width: number } | null = null;
  while (Date.now() < deadline) {
    const answer = await gateway.post<LinkAnswer>("/generate-qr", { device: NUMBER });
    if (answer.status && answer.state === "connected")
      return `+${NUMBER}, linked by scanning its QR code (${scanned?.width} px)`;
    if (answer.qrcode && !scanned) {
      report("scanning the QR code");
      scanned = readQrImage(answer.qrcode);
      await simulator.scan(NUMBER, scanned.text);
      report("waiting for the connection");
    }
    await pause(100);
  }
  throw new Error(`The number +${NUMBER} was not connected within ${LINK_MS / 1_000} seconds.`);
}

/** The shipped examples answer nobody until somebody binds them to a number. */
async function bindBots(gateway: GatewayClient, steps: Steps, mayBeBroken: boolean): Promise<string[]> {
  let ids: string[] = [];
  await steps.run("bots", async () => {
    const { data } = await gateway.get<{ data: { id: string; error?: string }[] }>("/bots");
    const broken = data.find((bot) => bot.error);
    if (broken && !mayBeBroken) throw new Error(`The bot ${broken.id} cannot be used: ${broken.error}`);
    ids = data.map((bot) => bot.id);
    await gateway.put(`/devices/${NUMBER}/bots`, { bots: ids.map((id) => ({ id, enabled: true })) });
    return ids.join(", ");
  });
  return ids;
}

async function setWebhook(gateway: GatewayClient, cleanup: Cleanup): Promise<string> {
  const receiver = await startReceiver();
  cleanup.add(() => receiver.close());
  const made = await gateway.put<{ secret: string }>(`/devices/${NUMBER}/webhook`, { url: receiver.url });
  receiver.trust(made.secret);
  return `${receiver.url}, for what no bot answers`;
}
