import { until } from "../../crash/apart.ts";
import type { Fault, Strike } from "../drill.ts";
import { fakeTimeLibrary } from "../tools.ts";
import { pause } from "./pause.ts";

/** A node that the seed chooses among those that have numbers, and these. */
export async function anyNode({ cluster, random, ownedBy }: Strike) {
  const all = await Promise.all(cluster.nodes.map(async (node) => ({ node, hit: await ownedBy(node) })));
  const busy = all.filter(({ hit }) => hit.length > 0);
  if (busy.length === 0) throw new Error("no node has any number");
  return busy[random.integer(busy.length)]!;
}

const REFUSED_WITHIN_MS = 30_000;
const BALANCED_WITHIN_MS = 120_000;
/** Long enough for a load balancer to see a node come and go. */
const BETWEEN_MS = 3_000;

/** Nothing at all: what the other rows are to be compared with. */
export const nothing: Fault = {
  name: "nothing",
  what: "no fault: everybody asks something in the same moment",
  async run(strike) {
    await strike.struck();
    await strike.answered();
  },
};

export const nodeKilled: Fault = {
  name: "node-killed",
  what: "SIGKILL of a node; started again when the others have answered for it",
  async run(strike) {
    const { node: victim, hit } = await anyNode(strike);
    await victim.part.kill();
    await strike.struck(hit);
    await strike.answered();
    await victim.part.start();
  },
};

export const nodePaused: Fault = {
  name: "node-paused",
  what: "SIGSTOP of a node for longer than its lease, then SIGCONT",
  async run(strike) {
    const { node: victim, hit } = await anyNode(strike);
    victim.part.signal("SIGSTOP");
    await strike.struck(hit);
    await Promise.all([strike.answered(), pause(strike.leaseMs * 1.5)]);
    victim.part.signal("SIGCONT");
    await pause(strike.leaseMs);
  },
};

export const nameTaken: Fault = {
  name: "name-taken",
  what: "a second node under a name that is taken must not start",
  async run(strike) {
    const twin = await strike.cluster.prepareNode((await anyNode(strike)).node.name);
    await strike.struck();
    const started = twin.part.start().then(
      () => true,
      () => false,
    );
    const late = pause(REFUSED_WITHIN_MS).then(() => true);
    if (await Promise.race([started, late])) strike.problem("a second node of the same name was let in");
    await twin.part.kill();
    await strike.answered();
  },
};

export const rollingRestart: Fault = {
  name: "rolling-restart",
  what: "SIGTERM and start of one node after the other",
  async run(strike) {
    for (const { part } of strike.cluster.nodes) {
      const { code, signal } = await part.stop();
      if (code !== 0) strike.problem(`${part.name} ended by ${signal ?? code} instead of 0`);
      await part.start();
      await pause(BETWEEN_MS);
    }
    if (strike.balancer.failures.length > 0)
      strike.problem(`${strike.balancer.failures.length} requests failed`);
  },
};

export const nodeAdded: Fault = {
  name: "node-added",
  what: "a node comes, takes its share, and leaves by SIGTERM",
  async run(strike) {
    const { nodes } = strike.cluster;
    const share = Math.floor(strike.numbers.length / (nodes.length + 1) / 2);
    const added = await strike.cluster.addNode();
    const hasShare = async () => (await strike.ownedBy(added)).length >= share;
    await until("the new node has its share", hasShare, BALANCED_WITHIN_MS).catch((error: Error) =>
      strike.problem(error.message),
    );
    await pause(BETWEEN_MS);
    await added.part.stop();
    nodes.splice(nodes.indexOf(added), 1);
  },
};

/** A node whose clock is wrong from its start on. */
const skewed = (name: string, minutes: string): Fault => ({
  name,
  what: `the clock of a node goes ${minutes} minutes wrong`,
  async run(strike) {
    const library = fakeTimeLibrary();
    if (library === null) return strike.problem("faketime is not installed: apt-get install faketime");
    const { node: victim } = await anyNode(strike);
    const wrong = { LD_PRELOAD: library, FAKETIME: `${minutes}m`, FAKETIME_DONT_FAKE_MONOTONIC: "1" };
    await victim.part.stop();
    await victim.part.start(wrong);
    await pause(strike.leaseMs * 1.5);
    await strike.struck();
    await strike.answered();
    await pause(strike.leaseMs);
    await victim.part.stop();
    await victim.part.start();
  },
});

export const clockAhead = skewed("clock-ahead", "+10");
export const clockBehind = skewed("clock-behind", "-10");
