import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FailedTest, RunVerdict } from "../_setup/verdict.ts";
import { closingLines, wrongs, type Outcome } from "./closing.ts";
import { print, runCommand, whyItFailed, type Ended } from "./command.ts";
import { watchMachine } from "./machine.ts";

/**
 * The gate, from `.ci/run`: what is quick first, then all tests. Its last lines say why it is red, and count.
 * Started in the folder that it judges. `--all`: the tests run also when something quick is red.
 */
const QUICK = ["npm run lint", "npm run fmt:check", "npm run typecheck"];
const QUICK_TESTS = "npm run test:quick";
const TESTS = "npm test";

/** So many files are asked once more; when more fail, it is no coincidence. */
const MOST_AGAIN = 5;
/** Here a failure is a verdict, whatever the machine was doing. Every file that `docs/guarantees.md` names counts as well. */
const NEVER_AGAIN = /^test\/(?:crash|faults|properties|contracts|attack|security)\/|crash\.test\.ts$/;

const REPORTS = ".test";
const log = join(REPORTS, "gate.log");

/** One run of Vitest. */
interface TestRun {
  ended: Ended;
  verdict: RunVerdict;
}

async function main(goOn: boolean): Promise<number> {
  beginReports();
  const machine = watchMachine();
  const before = treeHash();
  const steps: Ended[] = [];
  for (const command of QUICK) steps.push(await runCommand(command, log));
  const quick = await runTests(QUICK_TESTS, "quick");
  const isRed = steps.some(({ code }) => code !== 0) || isBad(quick);
  if (isRed && !goOn) print(log, "\nRed already: the other tests are not run (.ci/run --all runs them).\n");
  const run = isRed && !goOn ? quick : await runTests(TESTS, "");
  const flaky = isRed ? [] : await askAgain(run);
  // What fails without naming anything: a setup that throws, a report that was never written.
  for (const { ended, verdict } of new Set([quick, run]))
    if (ended.code !== 0 && isClean(verdict)) steps.push(ended);
  const outcome: Outcome = {
    ...run.verdict,
    passed: run.verdict.passed + flaky.filter(({ test }) => test !== null).length,
    steps: steps
      .filter(({ code }) => code !== 0)
      .map((ended) => ({ command: ended.command, why: whyItFailed(ended) })),
    failed: run.verdict.failed.filter((test) => !flaky.includes(test)),
    flaky,
    machine: machine.end(),
    treeChanged: before === null ? null : before !== treeHash(),
  };
  print(log, closingLines(outcome));
  return wrongs(outcome) === 0 ? 0 : 1;
}

/** Reports of an earlier run go; what was built for tests stays. */
function beginReports(): void {
  mkdirSync(REPORTS, { recursive: true });
  for (const name of readdirSync(REPORTS))
    if (/^(?:quick|again-\d+|errors\.json|results\.json)$/.test(name))
      rmSync(join(REPORTS, name), { recursive: true });
  writeFileSync(log, "");
}

const isClean = ({ failed, unhandled, withoutVerdict }: RunVerdict): boolean =>
  failed.length + unhandled.length + withoutVerdict.length === 0;
const isBad = ({ ended, verdict }: TestRun): boolean => ended.code !== 0 || !isClean(verdict);

/** @param name folder of its reports within `.test` */
async function runTests(command: string, name: string): Promise<TestRun> {
  const folder = join(REPORTS, name);
  const ended = await runCommand(command, log, { TEST_REPORTS: folder, PARLEY_TEST_ALL: "1" });
  try {
    return { ended, verdict: JSON.parse(readFileSync(join(folder, "errors.json"), "utf8")) };
  } catch {
    // It ended before its report: its code says so.
    const verdict = { passed: 0, failed: [], unhandled: [], withoutVerdict: [] };
    return { ended: { ...ended, code: ended.code || 1 }, verdict };
  }
}

/** Runs files that failed once more, each by itself. @returns what was green then */
async function askAgain({ verdict }: TestRun): Promise<FailedTest[]> {
  const { failed, unhandled, withoutVerdict } = verdict;
  const files = [...new Set(failed.map(({ file }) => file))];
  const guaranteed = guaranteedFiles();
  const isFinal = (file: string): boolean => NEVER_AGAIN.test(file) || guaranteed.has(file);
  if (unhandled.length + withoutVerdict.length > 0 || files.length > MOST_AGAIN || files.some(isFinal))
    return [];
  const flaky: FailedTest[] = [];
  for (const [index, file] of files.entries()) {
    const ofFile = failed.filter((test) => test.file === file);
    const projects = [...new Set(ofFile.map(({ project }) => project))].map((name) => ` --project "${name}"`);
    const again = await runTests(`${TESTS} -- ${file}${projects.join("")}`, `again-${index + 1}`);
    if (!isBad(again) && again.verdict.passed > 0) flaky.push(...ofFile);
  }
  // One that fails again makes all of it red: nothing is told to be flaky beside it.
  return flaky;
}

/** Files that promises are proved by. */
function guaranteedFiles(): Set<string> {
  try {
    const page = readFileSync("docs/guarantees.md", "utf8");
    return new Set(Array.from(page.matchAll(/`(test\/[^`\s]+)`/g), ([, file]) => file!));
  } catch {
    return new Set();
  }
}

/** What the checkout is made of now; null outside of git. */
function treeHash(): string | null {
  try {
    const git = (...args: string[]): string =>
      execFileSync("git", args, {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
        maxBuffer: 1 << 28,
      });
    const parts = [git("rev-parse", "HEAD"), git("status", "--porcelain"), git("diff", "HEAD")];
    return createHash("sha256").update(parts.join("\n")).digest("hex");
  } catch {
    return null;
  }
}

process.exitCode = await main(process.argv.includes("--all"));
