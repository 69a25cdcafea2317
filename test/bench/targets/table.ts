import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname, join } from "node:path";
import { median } from "../figures.ts";
import { root } from "../processes.ts";

/** What one figure should be: at most (a cost), or at least (a share that is kept). */
export interface Target {
  what: string;
  unit: string;
  atMost?: number;
  atLeast?: number;
}

/** What an answered message, a number and a disk may cost; "× bare" is over a bare script on Baileys in the same run. */
export const TARGETS = {
  "bot-1": { what: "text → bot → reply, one chat", unit: "× bare", atMost: 0.55 },
  "bot-100": { what: "text → bot → reply, a hundred chats", unit: "× bare", atMost: 0.45 },
  "bun-1": { what: "the same on Bun (bare on Node), one chat", unit: "× bare", atMost: 0.42 },
  "bun-100": { what: "the same on Bun (bare on Node), a hundred chats", unit: "× bare", atMost: 0.4 },
  "webhook-1": { what: "text → webhook → reply, one chat", unit: "× bare", atMost: 0.8 },
  "webhook-100": { what: "text → webhook → reply, a hundred chats", unit: "× bare", atMost: 0.7 },
  "send-1": { what: "POST /send-message → ack, one chat", unit: "× bare", atMost: 1 },
  "send-100": { what: "POST /send-message → ack, a hundred chats", unit: "× bare", atMost: 0.9 },
  group: { what: "group of six: text → reply", unit: "× bare", atMost: 0.25 },
  "long-chat": { what: "a chat after 2,000 turns", unit: "× a fresh one", atMost: 1.1 },
  "disk-100": { what: "+5 ms a flush: throughput of a hundred chats", unit: "of without", atLeast: 0.7 },
  "disk-1": { what: "+5 ms a flush: p50 of an answer in one chat", unit: "ms", atMost: 16 },
  "idle-restarted": { what: "idle linked number, after a restart", unit: "MB", atMost: 1.5 },
  "idle-linked": { what: "idle linked number, right after linking", unit: "MB", atMost: 2.5 },
  "many-online": { what: "1,000 linked numbers: all connected within", unit: "s", atMost: 120 },
  "many-stall": { what: "1,000 linked numbers: longest computing", unit: "ms", atMost: 50 },
  "many-growth": { what: "1,000 linked numbers at 20 messages/s: growth", unit: "MB/min", atMost: 1 },
} satisfies Record<string, Target>;
export type TargetId = keyof typeof TARGETS;

/** One figure and what it was made of. */
export interface Figure {
  id: TargetId;
  value: number;
  /** In words: what it was made of, its spread. */
  of: string;
}

const HISTORY = join(root, ".bench/targets.jsonl");
const COMPARED = 5;
const MUCH_WORSE = 1.15;

interface Run {
  at: string;
  node: string;
  machine: string;
  values: Partial<Record<TargetId, number>>;
}

/** One row, with what it should be. */
export function shown({ id, value, of }: Figure): string {
  const { what, unit, atMost, atLeast }: Target = TARGETS[id];
  const goal = atMost ?? atLeast!;
  const missed = atMost === undefined ? goal / value : value / goal;
  const verdict = missed <= 1 ? "reached" : `missed by ${((missed - 1) * 100).toFixed(0)} %`;
  return `${what.padEnd(50)} ${value.toFixed(2).padStart(7)} ${unit.padEnd(13)} target ${String(goal).padEnd(5)} ${verdict.padEnd(16)} ${of}`;
}

/**
 * Keeps the figures of a run in `.bench/targets.jsonl`, and compares them with the last ones of this machine and version
 * of Node.
 *
 * @returns a line for each figure that is much worse than it was
 */
export function remember(figures: readonly Figure[]): string[] {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "unknown"}`;
  const earlier = readRuns().filter((run) => run.machine === machine && run.node === process.version);
  const values = Object.fromEntries(figures.map(({ id, value }) => [id, value]));
  const run: Run = { at: new Date().toISOString(), node: process.version, machine, values };
  mkdirSync(dirname(HISTORY), { recursive: true });
  appendFileSync(HISTORY, `${JSON.stringify(run)}\n`);
  return figures.flatMap((figure) => worse(figure, earlier));
}

function readRuns(): Run[] {
  if (!existsSync(HISTORY)) return [];
  return readFileSync(HISTORY, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Run);
}

function worse({ id, value }: Figure, earlier: Run[]): string[] {
  const before = earlier.flatMap(({ values }) => values[id] ?? []).slice(-COMPARED);
  if (before.length === 0) return [];
  const usual = median(before);
  const { what, unit, atMost }: Target = TARGETS[id];
  const ratio = atMost === undefined ? usual / value : value / usual;
  return ratio < MUCH_WORSE
    ? []
    : [`WORSE than it was: ${what}: ${value.toFixed(2)} ${unit}, before ${usual.toFixed(2)}`];
}
