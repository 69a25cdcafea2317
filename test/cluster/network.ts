import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, readlinkSync } from "node:fs";
import { atExit } from "../_setup/at-exit.ts";
import { setPriv } from "./tools.ts";

/** What a node speaks to. `clients`: those who ask it, and the customers' servers. */
export type Service = "database" | "redis" | "whatsapp" | "clients";

/** Where everything lies. Nodes are numbered from 1. */
export interface Network {
  /** Connections can be cut. */
  readonly canCut: boolean;
  /** Where a service must listen, so that nodes reach it. */
  readonly listenOn: string;
  /** A customer's server as every node sees it. */
  readonly clientsHost: string;
  /** A service as a node sees it; its port is the same from everywhere. */
  hostFor(node: number, service: Service, port: number): Promise<string>;
  /** Makes the place in which a node lives. @returns what stands before its command, and its address as we see it */
  join(node: number): Promise<{ prefix: string[]; host: string }>;
  /** Everything that a node and a service send each other is lost from now on, without a word to either. */
  cut(node: number, service: Service): void;
  mend(node: number, service: Service): void;
}

/** Everything on loopback. */
export const loopback: Network = {
  canCut: false,
  listenOn: "127.0.0.1",
  clientsHost: "127.0.0.1",
  hostFor: async () => "127.0.0.1",
  join: async () => ({ prefix: [], host: "127.0.0.1" }),
  cut() {
    throw new Error("Nothing can be cut on loopback.");
  },
  mend: () => undefined,
};

const SERVICES: Service[] = ["database", "redis", "whatsapp", "clients"];
const hosts = SERVICES.map((service, index) => [service, `10.99.0.${index + 1}`] as const);
const hostOf = (service: Service): string => Object.fromEntries(hosts)[service]!;

/**
 * Each node in a network of its own, with one cable to each service; to be used by a process that has a network of its own as
 * well, see `apart.ts`. A cable whose end is taken down is a cut: packets vanish, connections stand.
 */
export function namespaces(): Network {
  ip("link set lo up");
  for (const [, host] of hosts) ip(`addr add ${host}/32 dev lo`);
  const holders: ChildProcess[] = [];
  atExit(() => holders.forEach((holder) => holder.kill("SIGKILL")));
  const cable = (node: number, service: Service): string => `n${node}${service}`;

  return {
    canCut: true,
    // Nobody else is in this network.
    listenOn: "0.0.0.0",
    clientsHost: hostOf("clients"),
    hostFor: async (_node, service) => hostOf(service),
    async join(node) {
      const holder = await holdNetwork();
      holders.push(holder);
      const inside = ["nsenter", "--target", String(holder.pid), "--net", "--"];
      const within = (command: string): void => run([...inside, "ip", ...command.split(" ")]);
      within("link set lo up");
      for (const [index, service] of SERVICES.entries()) {
        const end = cable(node, service);
        ip(`link add ${end} type veth peer name ${service} netns ${holder.pid}`);
        ip(`addr add 10.${90 + index}.${node}.1/30 dev ${end}`);
        ip(`link set ${end} up`);
        within(`addr add 10.${90 + index}.${node}.2/30 dev ${service}`);
        within(`link set ${service} up`);
        within(`route add ${hostOf(service)}/32 via 10.${90 + index}.${node}.1`);
      }
      return { prefix: inside, host: `10.93.${node}.2` };
    },
    cut: (node, service) => ip(`link set ${cable(node, service)} down`),
    mend: (node, service) => ip(`link set ${cable(node, service)} up`),
  };
}

/** A process that does nothing but be in a new network, which is there as long as it lives. */
async function holdNetwork(): Promise<ChildProcess> {
  const holder = spawn(setPriv()[0] ?? "unshare", [...setPriv().slice(1), ...UNSHARE, "sleep", "infinity"], {
    stdio: "ignore",
    detached: true,
  });
  const ours = readlinkSync("/proc/self/ns/net");
  while (!isElsewhere(holder.pid!, ours)) {
    if (holder.exitCode !== null) throw new Error("No network could be made: unshare has failed.");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return holder;
}

const UNSHARE = setPriv().length > 0 ? ["unshare", "--net"] : ["--net"];

function isElsewhere(pid: number, ours: string): boolean {
  const place = `/proc/${pid}/ns/net`;
  return existsSync(place) && readlinkSync(place) !== ours;
}

const ip = (command: string): void => run(["ip", ...command.split(" ")]);

function run([program, ...args]: string[]): void {
  execFileSync(program!, args, { stdio: ["ignore", "ignore", "pipe"] });
}
