import { setTimeout as pause } from "node:timers/promises";
import type { GatewayClient } from "../cli/gateway-client.ts";
import type { Steps } from "../cli/terminal.ts";
import type { Simulator } from "../simulator/types.ts";
import type { Cleanup } from "./cleanup.ts";
import { startReceiver } from "./receiver.ts";
import { readQrImage } from "./scan-qr-image.ts";
import { CONTACT, NUMBER, openServices, type Development } from "./services.ts";
import { startStandIns, type StandIns } from "./stand-ins.ts";

export { CONTACT, NUMBER } from "./services.ts";

const LINK_MS = 60_000;

/** Everything that a conversation needs, up and linked. */
export interface Stage {
  simulator: Simulator;
  /** Asks as the demo's account. */
  gateway: GatewayClient;
  apiKey: string;
  /** Ids of the bots that are on. */
  bots: string[];
  /** Of the gateway. */
  dataDir: string;
}

/**
 * Builds, starts and links, one step after the other.
 *
 * @param root    repository root
 * @param cleanup gets an entry for everything that must not outlive the demo
 * @param watch   gets a promise of each program that rejects when it ends by itself
 * @param dev the gateway is that of `nitro dev`, which reads bots anew when they change; without it: the built gateway, and a
 *   webhook behind the bots
 * @throws Error of the step that failed
 */
export async function openStage(
  root: string,
  steps: Steps,
  cleanup: Cleanup,
  watch: (crashed: Promise<never>) => void,
  dev?: Development,
): Promise<Stage> {
  const { simulator, gateway, apiKey, dataDir } = await openServices({ root, steps, cleanup, watch, dev });
  await simulator.addContact(CONTACT.number, { name: CONTACT.name });
  await steps.run("number", async (report) => linkNumber(simulator, gateway, report));
  let bots: string[] = [];
  await steps.run("bots", async () => {
    const standIns = await startStandIns();
    cleanup.add(() => standIns.close());
    bots = await bindBots(gateway, dev !== undefined, standIns);
    return bots.join(", ");
  });
  if (dev === undefined) await steps.run("webhook", async () => setWebhook(gateway, cleanup));
  return { simulator, gateway, apiKey, bots, dataDir };
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

/**
 * The shipped examples answer nobody until somebody binds them to a number. Those that ask other systems get the stand-ins'
 * addresses, where their settings have such a name.
 *
 * @returns their ids
 * @throws Error when one cannot be used, unless they may be broken
 */
export async function bindBots(
  gateway: GatewayClient,
  mayBeBroken: boolean,
  { settings }: Pick<StandIns, "settings">,
): Promise<string[]> {
  const { data } = await gateway.get<{ data: ListedBot[] }>("/bots");
  const broken = data.find((bot) => bot.error);
  if (broken && !mayBeBroken) throw new Error(`The bot ${broken.id} does not work: ${broken.error}`);
  const bots = data.map(({ id, schema }) => {
    const known = Object.entries(settings).filter(([name]) => Object.hasOwn(schema?.properties ?? {}, name));
    return { id, enabled: true, ...(known.length > 0 && { config: Object.fromEntries(known) }) };
  });
  await gateway.put(`/devices/${NUMBER}/bots`, { bots });
  return bots.map(({ id }) => id);
}

/** A new bot that waits to be bound would answer nobody. */
export async function switchOn(gateway: GatewayClient, id: string): Promise<void> {
  await gateway.patch(`/devices/${NUMBER}/bots`, { bots: [{ id, enabled: true }] });
}

interface ListedBot {
  id: string;
  error?: string;
  /** JSON Schema of its settings. */
  schema?: { properties?: object } | null;
}

async function setWebhook(gateway: GatewayClient, cleanup: Cleanup): Promise<string> {
  const receiver = await startReceiver();
  cleanup.add(() => receiver.close());
  const made = await gateway.put<{ secret: string }>(`/devices/${NUMBER}/webhook`, { url: receiver.url });
  receiver.trust(made.secret);
  return `${receiver.url}, for messages that no bot answers`;
}
