import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

const SHOWN = 10;

/** Ends a run with the files that took longest, and those that cost most CPU (`cpu.ts`): where the next minute can be saved. */
export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length <= SHOWN) return;
    const costs = new Map(modules.map((module) => [module, module.meta().cpuMs ?? 0]));
    print("Slowest files", modules, (module) => module.diagnostic().duration);
    print("Costliest files, in CPU", modules, (module) => costs.get(module)!);
    const sum = [...costs.values()].reduce((all, ms) => all + ms, 0);
    process.stdout.write(`\n CPU of all files: ${(sum / 1000).toFixed(0)} s\n`);
  }
}

function print(title: string, modules: readonly TestModule[], msOf: (module: TestModule) => number): void {
  const rows = modules
    .map((module) => ({ file: relative(process.cwd(), module.moduleId), ms: msOf(module) }))
    .sort((a, b) => b.ms - a.ms)
    .slice(0, Number(process.env["SLOWEST_SHOWN"] ?? SHOWN))
    .map(({ file, ms }) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${file}`);
  process.stdout.write(`\n ${title}\n${rows.join("\n")}\n`);
}
