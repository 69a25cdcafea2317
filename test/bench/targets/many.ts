import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { call, createAccount, link } from "../gateway-client.ts";
import { rssMb, startGatewayProcess, type BenchGateway, type RunningSimulator } from "../processes.ts";
import { steadily } from "../round-trips.ts";
import type { Figure } from "./table.ts";

const PROBE = fileURLToPath(new URL("../year/loop-delay.mjs", import.meta.url));
const LINKED_AT_ONCE = 8;
const PER_SECOND = 20;
const ASK_MS = 600_000;
const numberOf = (i: number): string => `3164${String(i).padStart(7, "0")}`;

export interface ManyOptions {
  /** Linked numbers. */
  numbers: number;
  /** How long they are written to. */
  minutes: number;
}

/** Many linked numbers in one process: how long a restart takes to have all online, and whether it then stays as it is. */
export async function manyTargets(
  { sim, ready }: RunningSimulator,
  { numbers, minutes }: ManyOptions,
): Promise<Figure[]> {
  const first = await startGatewayProcess(ready);
  const key = await createAccount(first);
  const waiting = Array.from({ length: numbers }, (_, i) => numberOf(i));
  const linkNext = async (): Promise<void> => {
    for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) {
      await link(first, sim, key, number);
      await call(first, "PUT", `/devices/${number}/bots`, { bots: [{ id: "ping", enabled: true }] }, key);
    }
  };
  await Promise.all(Array.from({ length: LINKED_AT_ONCE }, linkNext));
  first.child.kill("SIGTERM");
  await once(first.child, "exit");

  const started = performance.now();
  const gateway = await startGatewayProcess(ready, { again: first, probe: PROBE });
  for (let i = 0; i < numbers; i++) await sim.waitOnline(numberOf(i), ASK_MS);
  const online = (performance.now() - started) / 1_000;
  const connecting = await longestStall(gateway);
  const people = await sim.addContacts(PER_SECOND, { prefix: "49165" });
  const minute = (): Promise<void> => write(sim, people, numbers);
  await minute();
  const before = rssMb(gateway.child);
  let longest = connecting;
  for (let i = 0; i < minutes; i++) {
    await minute();
    const stall = await longestStall(gateway);
    if (stall.computingMs > longest.computingMs) longest = stall;
  }
  const after = rssMb(gateway.child);
  gateway.child.kill("SIGTERM");
  const measured = `${numbers} numbers`;
  return [
    { id: "many-online", value: online, of: measured },
    {
      id: "many-stall",
      value: longest.computingMs,
      of: `${measured}; while connecting ${connecting.computingMs.toFixed(0)} ms; the clock on the wall ${longest.stallMs.toFixed(0)} ms`,
    },
    {
      id: "many-growth",
      value: minutes === 0 ? 0 : (after - before) / minutes,
      of: `${measured}, ${minutes} minutes: ${before.toFixed(0)} → ${after.toFixed(0)} MB`,
    },
  ];
}

/** A minute of messages at the steady pace, to one number after the other. */
async function write(sim: RunningSimulator["sim"], people: string[], numbers: number): Promise<void> {
  const each = 60;
  await Promise.all(
    people.map((person, i) => {
      const number = numberOf(Math.floor(Math.random() * numbers + i) % numbers);
      return steadily(sim, [person], number, "ping", { count: each, perSecond: 1 });
    }),
  );
}

async function longestStall({ child }: BenchGateway): Promise<{ stallMs: number; computingMs: number }> {
  const answer = once(child, "message") as Promise<[{ stallMs: number; computingMs: number }]>;
  child.send("longest stall");
  return (await answer)[0];
}
