import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { Reporter, SerializedError, TestModule, TestSpecification } from "vitest/node";

/** What a run ended with. `test/gate` reads it: Vitest's own JSON names neither errors outside of tests nor files whose worker died. */
export interface RunVerdict {
  /** Tests that passed. */
  passed: number;
  failed: FailedTest[];
  unhandled: OutsideError[];
  withoutVerdict: UnfinishedFile[];
}

export interface FailedTest {
  file: string;
  project: string;
  /** Null: the file, or a hook of it, failed outside of its tests. */
  test: string | null;
  error: string;
}

/** An error that no test caught: it fails the run, but belongs to no test. */
export interface OutsideError {
  /** `test/x.test.ts:12`; null when no line of its stack is ours. */
  place: string | null;
  error: string;
}

/** A file whose tests neither passed nor failed: its worker was killed, or never began. */
export interface UnfinishedFile {
  file: string;
  project: string;
  /** How many of its tests have a result. */
  done: number;
  /** How many tests it is known to have; 0 when it was never read. */
  tests: number;
}

/** Folder of a run's reports. The gate gives each of its runs a folder of its own. */
export const reportsFolder = (): string => process.env["TEST_REPORTS"] ?? ".test";

/** Writes `errors.json` at the end of a run. */
export default class Verdict implements Reporter {
  private planned: readonly TestSpecification[] = [];

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.planned = specifications;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const verdict: RunVerdict = {
      passed: tests.filter((test) => test.result().state === "passed").length,
      failed: modules.flatMap(failuresOf),
      unhandled: unhandled.map((error) => ({ place: placeOf(error), error: firstLine(error) })),
      withoutVerdict: [...modules.flatMap(unfinished), ...this.neverBegun(modules)],
    };
    const folder = reportsFolder();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "errors.json"), JSON.stringify(verdict, null, 2));
  }

  private neverBegun(modules: readonly TestModule[]): UnfinishedFile[] {
    const begun = new Set(modules.map((module) => `${module.project.name} ${module.moduleId}`));
    return this.planned
      .filter(({ project, moduleId }) => !begun.has(`${project.name} ${moduleId}`))
      .map(({ project, moduleId }) => ({ file: ours(moduleId), project: project.name, done: 0, tests: 0 }));
  }
}

const ours = (path: string): string => relative(process.cwd(), path);

function failuresOf(module: TestModule): FailedTest[] {
  const of = { file: ours(module.moduleId), project: module.project.name };
  const beside = [module, ...module.children.allSuites()].flatMap((suite) =>
    suite.errors().map((error) => ({
      ...of,
      test: suite.type === "suite" ? suite.fullName : null,
      error: firstLine(error),
    })),
  );
  const tests = [...module.children.allTests("failed")].map((test) => ({
    ...of,
    test: test.fullName,
    error: firstLine(test.result().errors?.[0]),
  }));
  return [...beside, ...tests];
}

function unfinished(module: TestModule): UnfinishedFile[] {
  const tests = [...module.children.allTests()];
  const done = tests.filter((test) => test.result().state !== "pending").length;
  const isOver = !["queued", "pending"].includes(module.state()) && done === tests.length;
  return isOver
    ? []
    : [{ file: ours(module.moduleId), project: module.project.name, done, tests: tests.length }];
}

function firstLine(error: SerializedError | undefined): string {
  if (error === undefined) return "failed without an error";
  const line = error.message?.split("\n").find((text) => text.trim() !== "") ?? "an error without a message";
  const cause = error.cause?.message?.split("\n")[0];
  const text = stripVTControlCharacters(`${error.name ?? "Error"}: ${line}${cause ? ` (${cause})` : ""}`);
  return text.length > 300 ? `${text.slice(0, 299)}…` : text;
}

/** The first line of ours in its stack. */
function placeOf({ stacks = [], stack = "" }: SerializedError): string | null {
  const root = `${process.cwd()}/`;
  const parsed = stacks.find(({ file }) => file.startsWith(root) && !file.includes("/node_modules/"));
  if (parsed) return `${ours(parsed.file)}:${parsed.line}`;
  const line = stack.split("\n").find((text) => text.includes(root) && !text.includes("/node_modules/"));
  return line?.slice(line.indexOf(root) + root.length).replace(/\)$/, "") ?? null;
}
