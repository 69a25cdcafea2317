/**
 * The process in which a stored conversation is told again to bots as their files are now. It has neither the gateway's data
 * nor its environment, reaches no network, starts no program, and is killed when it takes too long or too much. Built as a
 * file of its own, see `nitro.config.ts`.
 */
import childProcess from "node:child_process";
import dgram from "node:dgram";
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import type { ForkAsked, ForkSaid } from "../../path/fork.ts";
import { fork } from "./fork.ts";

const LONGEST_PROBLEM = 2000;

const say = (said: ForkSaid): void => void process.send?.(said);

const refuse = (what: string) => (): never => {
  throw new Error(`${what} is not available in the sandbox.`);
};

/** What the kit leaves alone, because tests of authors may want it. */
function closeOff(): void {
  for (const name of ["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork"] as const)
    childProcess[name] = refuse(`Starting a program (${name})`) as never;
  dgram.createSocket = refuse("UDP") as never;
  for (const name of ["lookup", "resolve", "resolve4", "resolve6"] as const)
    dns[name] = refuse("Looking up names") as never;
  syncBuiltinESMExports();
}

async function answerOf(asked: ForkAsked): Promise<ForkSaid> {
  try {
    return { kind: "played", forked: await fork(asked, (turns) => say({ kind: "told", turns })) };
  } catch (error) {
    const problem = (error instanceof Error ? error.message : String(error)).slice(0, LONGEST_PROBLEM);
    return { kind: "failed", problem };
  }
}

// What Parley itself needs is loaded; bots are read afterwards.
closeOff();
process.on("message", (asked: ForkAsked) => void answerOf(asked).then(say));
process.on("disconnect", () => process.exit());
say({ kind: "ready" });
