import { median } from "./figures.ts";
import { call, createAccount, link } from "./gateway-client.ts";
import { startGatewayProcess, startSimulatorProcess, type BenchGateway } from "./processes.ts";

const SHOP = "31600000001";
const OTHER = "31600000002";
/** Destinations of one request. */
const AT_ONCE = 10;
const PEOPLE = 100;
const SEND_EVERY_MS = 100;
const WATCHED_MS = 20_000;
const REQUESTS_AT_ONCE = 8;
const PACE_PER_MINUTE = 600;

/** How much is measured. */
export interface DueBenchOptions {
  messages: number;
  say(line: string): void;
}

/** A number that goes on sending, and how long each of its sends took. */
interface Sending {
  /** Milliseconds, with the time at which each began. */
  took: { at: number; ms: number }[];
  stop(): Promise<void>;
}

/**
 * `npm run bench -- --due`: how long it takes from the time at which many scheduled messages of one number are due until all of
 * them are queued, at which pace they leave, and what another number's sends take before and meanwhile.
 */
export async function benchDue({ messages, say }: DueBenchOptions): Promise<void> {
  const { sim, ready } = await startSimulatorProcess("bench-due");
  const gateway = await startGatewayProcess(ready, { env: { PACE_PER_MINUTE: String(PACE_PER_MINUTE) } });
  const key = await createAccount(gateway);
  for (const number of [SHOP, OTHER]) await link(gateway, sim, key, number);
  const people = await sim.addContacts(PEOPLE, { prefix: "49151" });
  const [friend] = await sim.addContacts(1, { prefix: "49152" });
  await call(
    gateway,
    "POST",
    "/send-message",
    { sender: OTHER, number: friend!, message: "first contact" },
    key,
  );

  const began = performance.now();
  const due = await schedule(gateway, key, people, messages);
  say(
    `${messages} messages scheduled in ${((performance.now() - began) / 1_000).toFixed(1)} s, to ${PEOPLE} people`,
  );
  const other = keepSending(gateway, key, friend!);
  let queuedMs: number | null = null;
  while (Date.now() < due + WATCHED_MS) {
    if (Date.now() >= due && queuedMs === null) {
      const { data } = await call(gateway, "GET", "/scheduled?limit=1", undefined, key);
      if ((data as unknown[]).length === 0) queuedMs = Date.now() - due;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await other.stop();
  const left = await sim.arrivals({ from: SHOP });
  say(`all queued ${queuedMs === null ? "not in time" : `${queuedMs} ms`} after they were due`);
  say(`left in ${WATCHED_MS / 1_000} s: ${left.length}, at ${PACE_PER_MINUTE} a minute and a burst`);
  const meanwhile = other.took.filter(({ at }) => at >= due && at < due + 5_000).map(({ ms }) => ms);
  const before = other.took.filter(({ at }) => at < due).map(({ ms }) => ms);
  for (const [when, list] of [
    ["before", before],
    ["in the five seconds after", meanwhile],
  ] as const)
    say(
      `another number's send ${when}: median ${median(list).toFixed(0)} ms, longest ${Math.max(...list).toFixed(0)} ms (${list.length})`,
    );
}

/** @returns when they are due */
async function schedule(
  gateway: BenchGateway,
  key: string,
  people: string[],
  messages: number,
): Promise<number> {
  const due = Date.now() + 20_000 + messages * 10;
  const requests = Array.from({ length: Math.ceil(messages / AT_ONCE) }, (_, n) => n);
  const work = async (): Promise<void> => {
    for (let n = requests.shift(); n !== undefined; n = requests.shift()) {
      const from = (n * AT_ONCE) % people.length;
      const number = people.slice(from, from + AT_ONCE).join("|");
      const asked = { sender: SHOP, number, message: `no. ${n}`, send_at: new Date(due).toISOString() };
      await call(gateway, "POST", "/send-message", asked, key);
    }
  };
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, work));
  if (Date.now() > due - 5_000) throw new Error("Scheduling took longer than it was given.");
  return due;
}

function keepSending(gateway: BenchGateway, key: string, to: string): Sending {
  const took: Sending["took"] = [];
  const stopping = new AbortController();
  const ended = (async () => {
    while (!stopping.signal.aborted) {
      const at = Date.now();
      const began = performance.now();
      await call(gateway, "POST", "/send-message", { sender: OTHER, number: to, message: "still here" }, key);
      took.push({ at, ms: performance.now() - began });
      await new Promise((resolve) => setTimeout(resolve, SEND_EVERY_MS));
    }
  })();
  return {
    took,
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}
