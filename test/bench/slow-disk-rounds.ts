import { call, createAccount, link } from "./gateway-client.ts";
import { startGatewayProcess, startSimulatorProcess, type BenchGateway } from "./processes.ts";
import { roundTrips, steadily } from "./round-trips.ts";
import { slowDisk } from "./slow-disk.ts";

/** How often somebody asks whether the gateway lives. */
const ASK_EVERY_MS = 20;

export interface SlowDiskOptions {
  /** Added to each flush. */
  ms: number;
  rounds: number;
  messages: number;
  chats: number;
}

interface Side {
  name: string;
  gateway: BenchGateway;
  number: string;
  people: string[];
  /** Messages a second, per round. */
  rates: number[];
  /** How long `/health/live` took under as many messages as it can take, and under half as many; milliseconds. */
  answers: { full: number[]; half: number[] };
}

const median = (list: number[]): number => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]!;

/**
 * What a slow disk does to many chats: messages a second and the answers of `/health/live` meanwhile, with the disk as it
 * is and with each flush taking longer, with the database's thread and without. Rounds alternate; medians.
 */
export async function benchSlowDisk({ ms, rounds, messages, chats }: SlowDiskOptions): Promise<void> {
  const running = await startSimulatorProcess("slow-disk");
  const sides: Side[] = [];
  const slow = slowDisk(ms);
  const kinds: [string, Record<string, string>][] = [
    ["thread, disk as it is", {}],
    [`thread, +${ms} ms a flush`, slow],
    ["no thread, disk as it is", { STORE_THREAD: "off" }],
    [`no thread, +${ms} ms a flush`, { ...slow, STORE_THREAD: "off" }],
  ];
  for (const [index, [name, settings]] of kinds.entries()) {
    const gateway = await startGatewayProcess(running.ready, { env: settings });
    const number = `3160000010${index}`;
    const key = await createAccount(gateway);
    await link(gateway, running.sim, key, number);
    await call(gateway, "PUT", `/devices/${number}/bots`, { bots: [{ id: "ping", enabled: true }] }, key);
    const people = await running.sim.addContacts(chats, { prefix: `4916${index}00` });
    sides.push({ name, gateway, number, people, rates: [], answers: { full: [], half: [] } });
  }
  for (let round = -1; round < rounds; round++)
    for (const side of sides) {
      const asking = round < 0 ? null : askWhetherAlive(side.gateway, side.answers.full);
      const started = performance.now();
      const count = round < 0 ? chats * 2 : messages;
      await roundTrips(running.sim, side.people, side.number, "ping", count);
      if (round >= 0) side.rates.push((count * 1_000) / (performance.now() - started));
      await asking?.();
    }
  for (const { gateway, number, people, rates, answers } of sides) {
    const asking = askWhetherAlive(gateway, answers.half);
    await steadily(running.sim, people, number, "ping", { count: messages, perSecond: median(rates) / 2 });
    await asking();
  }
  console.log(`${chats} chats, ${rounds} rounds of ${messages}, medians; ${process.version}`);
  for (const { name, rates, answers } of sides) {
    console.log(
      `${name.padEnd(28)} ${median(rates).toFixed(0).padStart(5)} messages/s   /health/live ${shown(answers.full)}` +
        `   at half of that ${shown(answers.half)}`,
    );
  }
  const [base, slowed, baseOff, slowedOff] = sides.map(({ rates }) => median(rates));
  console.log(
    `kept: ${((100 * slowed!) / base!).toFixed(0)} % with the thread, ${((100 * slowedOff!) / baseOff!).toFixed(0)} % without`,
  );
}

function shown(answers: number[]): string {
  const sorted = answers.toSorted((a, b) => a - b);
  const at = (part: number): string => sorted[Math.floor((sorted.length - 1) * part)]!.toFixed(1);
  return `p50 ${at(0.5)} p99 ${at(0.99)} max ${at(1)} ms`;
}

/** @returns stops asking */
function askWhetherAlive(gateway: BenchGateway, answers: number[]): () => Promise<void> {
  const asking = { going: true };
  const asked = (async () => {
    while (asking.going) {
      const started = performance.now();
      await fetch(`${gateway.url}/health/live`).then((response) => response.arrayBuffer());
      answers.push(performance.now() - started);
      await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    }
  })();
  return () => {
    asking.going = false;
    return asked;
  };
}
