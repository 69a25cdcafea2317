import { dirname, relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import { LEFT_OUT } from "./drills.ts";

const SHOWN = 10;
/** `npm test` should take under ten minutes on two quiet cores; everything (`npm run test:all`) has no budget. */
const BUDGET_MINUTES = 9;

interface Row {
  name: string;
  ms: number;
}

/**
 * Ends a run with the files that took longest, those that cost most CPU (`cpu.ts`), and what each folder of tests costs: where the
 * next minute can be saved. Warns when the run has used up its budget.
 */
export default class SlowestFiles implements Reporter {
  private startedAt = 0;

  onTestRunStart(): void {
    this.startedAt = performance.now();
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length <= SHOWN) return;
    const fileOf = (module: TestModule): string => relative(process.cwd(), module.moduleId);
    const costs = modules.map((module) => ({ name: fileOf(module), ms: module.meta().cpuMs ?? 0 }));
    print(
      "Slowest files",
      modules.map((module) => ({ name: fileOf(module), ms: module.diagnostic().duration })),
    );
    print("Costliest files, in CPU", costs);
    print("Costliest folders, in CPU", byFolder(costs));
    const sum = costs.reduce((all, { ms }) => all + ms, 0);
    process.stdout.write(`\n CPU of all files: ${seconds(sum)}\n`);
    const minutes = (performance.now() - this.startedAt) / 60_000;
    if (LEFT_OUT.length > 0 && minutes > BUDGET_MINUTES)
      process.stdout.write(
        `\n WARNING: the run took ${minutes.toFixed(1)} minutes; its budget is ${BUDGET_MINUTES}. Long drills belong into test/_setup/drills.ts.\n`,
      );
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1).padStart(7)} s`;

function byFolder(files: readonly Row[]): Row[] {
  const sums = new Map<string, number>();
  for (const { name, ms } of files) {
    // Two levels: `test/unit/bot`, but `test/e2e`.
    const folder = dirname(name).split("/").slice(0, 3).join("/");
    sums.set(folder, (sums.get(folder) ?? 0) + ms);
  }
  return Array.from(sums, ([name, ms]) => ({ name, ms }));
}

function print(title: string, rows: readonly Row[]): void {
  const lines = rows
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, Number(process.env["SLOWEST_SHOWN"] ?? SHOWN))
    .map(({ name, ms }) => `${seconds(ms)}  ${name}`);
  process.stdout.write(`\n ${title}\n${lines.join("\n")}\n`);
}
