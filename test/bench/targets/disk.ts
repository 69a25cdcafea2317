import { median } from "../figures.ts";
import type { RunningSimulator } from "../processes.ts";
import { roundTrips } from "../round-trips.ts";
import { slowDisk } from "../slow-disk.ts";
import { startMeasured, type Extent, type Measured } from "./chats.ts";
import type { Figure } from "./table.ts";

const SLOWER_MS = 5;

interface Side {
  measured: Measured;
  alone: string[];
  many: string[];
  /** Messages a second of all chats, per round. */
  rates: number[];
  /** Milliseconds of every answer in one chat. */
  answers: number[];
}

/** What 5 ms more for each flush of the disk do. */
export async function diskTargets(
  running: RunningSimulator,
  { rounds, messages, chats }: Extent,
): Promise<Figure[]> {
  const open = async (index: number, env: Record<string, string>): Promise<Side> => ({
    measured: await startMeasured(running, index, undefined, env),
    alone: await running.sim.addContacts(1, { prefix: `4917${index}1` }),
    many: await running.sim.addContacts(chats, { prefix: `4917${index}2` }),
    rates: [],
    answers: [],
  });
  const [usual, slow] = [await open(7, {}), await open(8, slowDisk(SLOWER_MS))];
  for (let round = -1; round < rounds; round++)
    for (const side of round % 2 === 0 ? [usual, slow] : [slow, usual]) {
      const { measured, alone, many, rates, answers } = side;
      const count = round < 0 ? chats * 2 : messages;
      const started = performance.now();
      await roundTrips(running.sim, many, measured.forBots, "ping", count);
      const rate = (count * 1_000) / (performance.now() - started);
      const took = await roundTrips(running.sim, alone, measured.forBots, "ping", round < 0 ? 20 : messages);
      if (round < 0) continue;
      rates.push(rate);
      answers.push(...took);
    }
  for (const { measured } of [usual, slow]) measured.gateway.child.kill("SIGTERM");
  const rate = (side: Side): string => `${median(side.rates).toFixed(0)}/s`;
  return [
    {
      id: "disk-100",
      value: median(slow.rates) / median(usual.rates),
      of: `${rate(slow)}, without ${rate(usual)}`,
    },
    {
      id: "disk-1",
      value: median(slow.answers),
      of: `without ${median(usual.answers).toFixed(2)} ms`,
    },
  ];
}
