import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Folders whose tests wait for processes and for time, longest first. */
const LONG = ["cli", "crash", "faults", "e2e", "security", "simulator", "bots", "demo", "whatsapp"];

/** Begins with the folders that take long, so that no worker ends up alone with one; within a folder Vitest decides. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const known = await super.sort(files);
    const rank = (file: TestSpecification): number => {
      const folder = /\/test\/(\w+)\//.exec(file.moduleId)?.[1] ?? "";
      return LONG.includes(folder) ? LONG.indexOf(folder) : LONG.length;
    };
    return known.toSorted((a, b) => rank(a) - rank(b));
  }
}
