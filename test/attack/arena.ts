import { connect as connectTo, type Socket } from "node:net";
import { link } from "../bench/gateway-client.ts";
import { startSimulatorProcess } from "../bench/processes.ts";
import { startGateway, type Gateway } from "../_setup/gateway.ts";
import { programIn, testPrograms } from "../_setup/programs.ts";
import type { Simulator } from "../../src/simulator/types.ts";
import type { Arena, Size, Tenant } from "./attack.ts";

const PATIENCE_MS = 10_000;

/** An arena that the runner can clear between attacks, and close. */
export interface OpenArena extends Arena {
  /** Ends the connections that an attack left open. */
  clear(): void;
  close(): Promise<void>;
}

/**
 * Starts a gateway and a simulator, and links one number for each of two tenants.
 *
 * @param entry `index.mjs` of a build
 */
export async function openArena(size: Size, entry: string): Promise<OpenArena> {
  const { sim, ready } = await startSimulatorProcess("attack", [
    programIn(await testPrograms(), "src/simulator/main.ts"),
  ]);
  const start = (env: Record<string, string>): Promise<Gateway> =>
    startGateway({
      entry,
      env: {
        WHATSAPP_WS_URL: ready.wsUrl,
        WHATSAPP_NOISE_ROOT: ready.noiseRoot,
        WHATSAPP_CA_FILE: ready.caFile,
        PLAN_PRO: '{"devices":null,"keys":null,"sends_per_day":null}',
        API_RATE_PER_MINUTE: "0",
        PACE_PER_MINUTE: "0",
        LOOP_GUARD_PER_MINUTE: "0",
        LOG_LEVEL: "warn",
        ...env,
      },
    });
  // Hostile files and webhooks are served from this machine.
  const gateway = await start({ ALLOW_PRIVATE_NETWORK: "1" });
  const attacker = await tenantOf(gateway, sim, "Attacker", "31600000066", "4915100000066");
  const victim = await tenantOf(gateway, sim, "Victim", "31600000001", "4915100000001");
  let guarded: Promise<{ gateway: Gateway; tenant: Tenant }> | null = null;
  const startGuarded = async () => {
    const other = await start({ ALLOW_PRIVATE_NETWORK: "0" });
    return { gateway: other, tenant: await tenantOf(other, sim, "Inside", "31600000077", "4915100000077") };
  };
  return {
    size,
    gateway,
    sim,
    attacker,
    victim,
    guarded: () => (guarded ??= startGuarded()),
    ...connections(gateway.port),
    async close() {
      await (await guarded)?.gateway.dispose();
      await gateway.dispose();
      await sim.stop();
    },
  };
}

async function tenantOf(
  gateway: Gateway,
  sim: Simulator,
  name: string,
  number: string,
  contact: string,
): Promise<Tenant> {
  const { id: accountId, key } = await gateway.createAccount(name);
  await link(gateway, sim, key, number);
  await sim.addContact(contact);
  return { accountId, key, number, contact };
}

function connections(port: number): Pick<OpenArena, "connect" | "exchange" | "clear"> {
  const open = new Set<Socket>();

  async function connect(): Promise<Socket> {
    const socket = connectTo(port, "127.0.0.1");
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    // A gateway that has had enough resets the connection.
    socket.on("error", () => undefined);
    await new Promise<void>((resolve) => socket.once("connect", resolve).once("close", () => resolve()));
    return socket;
  }

  return {
    connect,
    async exchange(bytes, patienceMs = PATIENCE_MS) {
      const socket = await connect();
      let text = "";
      socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
      const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
      socket.write(bytes);
      const late = setTimeout(() => socket.destroy(), patienceMs);
      await closed;
      clearTimeout(late);
      return text;
    },
    clear() {
      for (const socket of open) socket.destroy();
    },
  };
}
