import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { OpenArena } from "./arena.ts";
import type { Attack } from "./attack.ts";
import type { Seen, Watched } from "./watch.ts";

/** What holds while any attack runs. */
export const ANSWERS_WITHIN_MS = 250;
export const SENDS_WITHIN_MS = 2_000;

/** What became of one attack. */
export interface Outcome extends Seen {
  attack: Attack;
  seconds: number;
  /** Which part of the yardstick broke, and how; empty when it held. */
  broken: string[];
}

/** Holds the yardstick against a gateway while attacks run, one after the other. */
export interface Yardstick {
  measure(attack: Attack): Promise<Outcome>;
  close(): void;
}

/**
 * @param shared a machine on which others compute as well: everything may take four times as long, and an answer is late
 *   only when the gateway itself was busy for so long
 */
export async function createYardstick(arena: OpenArena, shared: boolean): Promise<Yardstick> {
  const watcher = fork(fileURLToPath(new URL("watch.ts", import.meta.url)), {
    execArgv: ["--import", "tsx"],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const { gateway, victim } = arena;
  const watched: Watched = {
    url: gateway.url,
    pid: gateway.pid,
    key: victim.key,
    sender: victim.number,
    to: victim.contact,
  };
  const ask = async (message: Watched | "stop"): Promise<unknown> => {
    watcher.send(message);
    return (await once(watcher, "message"))[0];
  };

  return {
    async measure(attack) {
      await ask(watched);
      const started = performance.now();
      const failure = await attack.run(arena).then(
        () => [],
        (error: unknown) => [error instanceof Error ? error.message : String(error)],
      );
      const seconds = (performance.now() - started) / 1000;
      const seen = (await ask("stop")) as Seen;
      arena.clear();
      return { ...seen, attack, seconds, broken: [...failure, ...judge(attack, seen, shared)] };
    },
    close: () => void watcher.kill("SIGKILL"),
  };
}

/** On a machine where others compute, the same work takes so many times as long. A stall of seconds is seen all the same. */
const SHARED_PATIENCE = 4;

function judge({ maxMemoryMb }: Attack, seen: Seen, shared: boolean): string[] {
  const stallMs = Math.round(shared ? Math.min(seen.longestMs, seen.longestCpuMs) : seen.longestMs);
  const patience = shared ? SHARED_PATIENCE : 1;
  const sendMs = Math.round(seen.longestSendMs);
  const grownMb = Math.round(seen.peakMb - seen.idleMb);
  return [
    ...seen.problems,
    ...(stallMs > ANSWERS_WITHIN_MS * patience ? [`GET /health/live took ${stallMs} ms`] : []),
    ...(sendMs > SENDS_WITHIN_MS * patience ? [`another account's send took ${sendMs} ms`] : []),
    ...(maxMemoryMb !== undefined && grownMb > maxMemoryMb
      ? [`memory grew by ${grownMb} MB, more than ${maxMemoryMb}`]
      : []),
  ];
}
