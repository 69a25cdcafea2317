import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mkdtempSync } from "node:fs";
import { seededRandom } from "../../src/simulator/inside.ts";
import { removeFolder } from "../_setup/folders.ts";
import { ok, until } from "../crash/apart.ts";
import { startHook, type Hook } from "../crash/hook.ts";
import type { Mark } from "../../src/demo/judge/judge.ts";
import { createContact } from "../crash/soak-actions.ts";
import { ORDER_BOT } from "../crash/soak-world.ts";
import { createBalancer, type Balancer } from "./balancer.ts";
import { startCluster, type Cluster, type ClusterOptions } from "./cluster.ts";
import { scanning } from "../_setup/scanning.ts";

/** A linked number, one person who writes to it, and the customer's server behind it. */
export interface DrillNumber {
  number: string;
  contact: string;
  hook: Hook;
  groups: string[];
}

/** A cluster with linked numbers, and people and programs that use them. */
export interface ClusterWorld {
  cluster: Cluster;
  key: string;
  numbers: DrillNumber[];
  balancer: Balancer;
  /** Ids of sends that were accepted, and how many were asked for, since the last look. */
  accepted: string[];
  sends: number;
  /** Up to where everything was judged; undefined: nothing was. */
  judged: Mark | undefined;
  /** People write and programs send, so much together. @returns ends it; resolves when what was asked for is accepted */
  startTraffic(perSecond: number): () => Promise<void>;
  close(): Promise<void>;
}

export interface WorldOptions extends Omit<ClusterOptions, "network"> {
  numbers: number;
  network?: ClusterOptions["network"];
}

const EVENTS = ["message"];
const AT_ONCE = 6;
/** Of five things that happen, one is a send by REST. */
const SENDS_IN = 5;
const AGAIN_MS = 300;
/** What people write here: texts that a bot or the webhook answers, or nobody. */
const WORDS = ["text"];

/** Starts a cluster and links the numbers. */
export async function openWorld(options: WorldOptions): Promise<ClusterWorld> {
  const { seed = "cluster", onStep = () => undefined } = options;
  const bots = mkdtempSync(join(tmpdir(), "parley-cluster-bots-"));
  mkdirSync(bots, { recursive: true });
  writeFileSync(join(bots, "order.mjs"), ORDER_BOT);
  process.once("exit", () => removeFolder(bots));
  const cluster = await startCluster({ ...options, env: { BOTS_DIR: bots, ...options.env } });
  const { key } = await cluster.nodes[0]!.client.createAccount("Drill");
  const balancer = createBalancer(cluster.nodes, () => key);
  onStep(`${options.numbers} numbers`);
  const numbers = await linkNumbers(cluster, balancer, options.numbers);
  balancer.failures.length = 0;
  const random = seededRandom(`traffic ${seed}`);
  let rounds = 0;
  let asked = 0;

  async function send({ number, contact }: DrillNumber): Promise<void> {
    const headers = { "idempotency-key": `${seed}-${++asked}` };
    const body = { sender: number, number: contact, message: `notice ${asked}` };
    world.sends++;
    await until("a send is accepted", async () => {
      const answer = await balancer.ask("POST", "/send-message", body, headers).catch(() => null);
      if (answer === null || answer.status === 409 || answer.status >= 500) {
        if (answer?.status === 409 && !answer.text.includes("IDEMPOTENCY_IN_PROGRESS"))
          balancer.failures.push(`a send was refused: ${answer.text.slice(0, 200)}`);
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
        return false;
      }
      world.accepted.push(ok(answer).body["id"]);
      return true;
    });
  }

  const world: ClusterWorld = {
    cluster,
    key,
    numbers,
    balancer,
    accepted: [],
    sends: 0,
    judged: undefined,
    startTraffic(perSecond) {
      const own = random.fork(`round ${++rounds}`);
      const people = numbers.map((one) => {
        const alone = { sim: cluster.sim, numbers: [one] };
        return createContact(alone, one.contact, own.fork(one.contact), WORDS);
      });
      const open = new Set<Promise<unknown>>();
      const state = { over: false };
      const writing = (async () => {
        while (!state.over) {
          const which = own.integer(numbers.length);
          const done = own.integer(SENDS_IN) === 0 ? send(numbers[which]!) : people[which]!.act();
          open.add(done);
          void done.finally(() => open.delete(done)).catch(() => undefined);
          await new Promise((resolve) => setTimeout(resolve, 1_000 / perSecond));
        }
      })();
      return async () => {
        state.over = true;
        await writing;
        await Promise.all(open);
      };
    },
    async close() {
      balancer.end();
      for (const { hook } of numbers) hook.close();
      await cluster.close();
      removeFolder(bots);
    },
  };
  return world;
}

async function linkNumbers(cluster: Cluster, balancer: Balancer, count: number): Promise<DrillNumber[]> {
  const { sim, network } = cluster;
  const contacts = await sim.addContacts(count, { prefix: "49151" });
  const waiting = contacts.map((contact, index) => ({
    contact,
    number: `3160${String(index + 1).padStart(7, "0")}`,
  }));
  const linked: DrillNumber[] = [];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        await link(cluster, balancer, next.number);
        const hook = await startHook(network.listenOn, network.clientsHost);
        const settings = { url: hook.url, events: EVENTS };
        const put = await balancer.ask("PUT", `/devices/${next.number}/webhook`, settings);
        hook.secret = ok(put).body["secret"];
        linked.push({ ...next, hook, groups: [] });
      }
    }),
  );
  return linked.toSorted((a, b) => a.number.localeCompare(b.number));
}

/** As a user does, at whichever node is asked. */
async function link({ sim }: Cluster, balancer: Balancer, number: string): Promise<void> {
  const owner = await sim.addNumber(number);
  const isLinked = scanning(owner);
  await until(`${number} is linked`, async () =>
    isLinked((await balancer.ask("POST", "/generate-qr", { device: number })).body),
  );
}
