import { setTimeout as pause } from "node:timers/promises";
import { GatewayRefusal, type GatewayClient } from "../../cli/gateway-client.ts";
import { NUMBER } from "../services.ts";
import type { WhyView } from "./view.ts";

/** What is read of `GET /messages/{id}/trace`. */
interface Trace {
  direction: "in" | "out";
  outcome: string;
  silence: WhyView["silence"];
  steps: { step: string; by?: string; outcome?: string }[];
}

/** Asks the gateway about messages until what it says does not change any more. */
export interface Asker {
  /** A message that the gateway has taken, or has sent. */
  ask(id: string): void;
  end(): void;
}

const LOOK_EVERY_MS = 250;
/** What does not change is looked at less and less often: a key may ask 600 times a minute. */
const LONGEST_PAUSE_MS = 4_000;
/** At most so many in one round, the newest first. */
const AT_ONCE = 12;
/** Half a minute without change: whoever opens the whole trace sees what came later. */
const PATIENCE_MS = 30_000;
const FINAL = new Set(["read", "played", "failed", "expired"]);

/** @param tell gets what is known, each time that it may have changed */
export function createAsker(gateway: GatewayClient, tell: (id: string, why: WhyView) => void): Asker {
  const open = new Map<string, { until: number; said: string; next: number; pauseMs: number }>();
  const ended = new AbortController();

  const look = async (id: string): Promise<void> => {
    const asked = open.get(id)!;
    if (Date.now() > asked.until) return void open.delete(id);
    asked.pauseMs = Math.min(1.5 * asked.pauseMs, LONGEST_PAUSE_MS);
    asked.next = Date.now() + asked.pauseMs;
    const trace = await traceOf(gateway, id);
    if (trace === null) return;
    const why = summaryOf(trace);
    if (JSON.stringify(why) !== asked.said) {
      asked.said = JSON.stringify(why);
      asked.until = Date.now() + PATIENCE_MS;
      asked.pauseMs = LOOK_EVERY_MS;
    }
    if (FINAL.has(why.outcome) || (why.outcome === "answered" && why.by !== null)) open.delete(id);
    tell(id, why);
  };
  const follow = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      const due = [...open].filter(([, { next }]) => next <= Date.now()).map(([id]) => id);
      await Promise.all(due.slice(-AT_ONCE).map(look));
      await pause(LOOK_EVERY_MS, undefined, { signal: ended.signal }).catch(() => {});
    }
  };
  void follow();
  return {
    ask(id) {
      open.delete(id);
      open.set(id, { until: Date.now() + PATIENCE_MS, said: "", next: 0, pauseMs: LOOK_EVERY_MS });
    },
    end: () => ended.abort(),
  };
}

/** Null: not known yet, or the gateway does not answer. */
async function traceOf(gateway: GatewayClient, id: string): Promise<Trace | null> {
  const path = `/messages/${encodeURIComponent(id)}/trace?sender=${NUMBER}`;
  try {
    return (await gateway.get<{ data: Trace }>(path)).data;
  } catch (error) {
    if (error instanceof GatewayRefusal || (error as Error).name === "GatewayAway") return null;
    throw error;
  }
}

function summaryOf({ direction, outcome, silence, steps }: Trace): WhyView {
  const by =
    direction === "out"
      ? steps.find(({ step }) => step === "stored")?.by
      : steps.findLast((step) => step.step === "asked" && step.outcome === "answered")?.by;
  const delivery = steps.some(({ step }) => step === "delivery");
  return { outcome, silence, by: by ?? (outcome === "answered" && delivery ? "webhook" : null) };
}
