import { seededRandom } from "../../src/simulator/inside.ts";
import { openArena, type Arena } from "./arena.ts";
import type { CrashPoint } from "./points.ts";
import type { Row } from "./table.ts";

export interface TableOptions {
  points: CrashPoint[];
  /** Crashes at each of them. */
  runs: number;
  seed: string;
  /** Gateways that are killed at the same time. */
  worlds: number;
  /** `index.mjs` of a test build. Default: one of the present sources. */
  entry?: string;
  /** A row is complete. Rows come in the order of the points. */
  onRow(row: Row): void;
}

interface Run {
  point: CrashPoint;
  row: Row;
  number: number;
}

/** Every run of every point; the worlds take them one after the other. A run that fails is a problem of its row. */
export async function runTable(options: TableOptions): Promise<Row[]> {
  const rows = options.points.map(({ name, where }): Row => ({ ...EMPTY, point: name, where, problems: [] }));
  const waiting: Run[] = options.points.flatMap((point, index) =>
    Array.from({ length: options.runs }, (_, run) => ({ point, row: rows[index]!, number: run + 1 })),
  );
  let told = 0;
  const count = Math.min(options.worlds, waiting.length);
  await Promise.all(
    Array.from({ length: count }, async (_, world) => {
      await work(`${options.seed} ${world}`, waiting, options, () => {
        while (told < rows.length && rows[told]!.runs === options.runs) options.onRow(rows[told++]!);
      });
    }),
  );
  return rows;
}

const EMPTY = {
  runs: 0,
  messages: 0,
  lost: 0,
  duplicated: 0,
  outOfOrder: 0,
  repeated: 0,
  seconds: 0,
  slowestStartS: 0,
};

async function work(
  world: string,
  waiting: Run[],
  { seed, entry }: TableOptions,
  done: () => void,
): Promise<void> {
  let arena: Arena | null = null;
  let arenas = 0;
  try {
    for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
      arena ??= await openArena(`${world} ${++arenas}`, entry);
      try {
        await crash(arena, run, seed);
      } catch (error) {
        run.row.problems.push(`${nameOf(run)} ended early: ${(error as Error).message}`);
        // Nobody knows what it left behind.
        await arena.close();
        arena = null;
      }
      run.row.runs++;
      done();
    }
  } finally {
    await arena?.close();
  }
}

const nameOf = ({ point, number }: Run): string => `${point.name}, run ${number}`;

async function crash(arena: Arena, run: Run, seed: string): Promise<void> {
  const { row, point } = run;
  const random = seededRandom(`${seed} ${nameOf(run)}`);
  const started = Date.now();
  const verdict = await point.run(arena, () => random.integer(2 ** 32) / 2 ** 32);
  row.messages += verdict.messages;
  row.lost += verdict.lost;
  row.duplicated += verdict.duplicated;
  row.outOfOrder += verdict.outOfOrder;
  row.repeated += verdict.repeated;
  row.problems.push(...verdict.problems.map((what) => `${nameOf(run)}: ${what}`));
  row.seconds += (Date.now() - started) / 1000;
  row.slowestStartS = Math.max(row.slowestStartS, arena.world.gateway.slowestStartMs / 1000);
}
