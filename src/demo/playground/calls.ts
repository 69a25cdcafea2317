import { setTimeout as pause } from "node:timers/promises";
import type { Simulator } from "../../simulator/types.ts";
import { NUMBER } from "../services.ts";
import { Refusal } from "./refusal.ts";
import type { CallView } from "./view.ts";

/** Calls of the phones to the number. Nobody hears anything: it rings, and the gateway does what the number's settings say. */
export interface Calls {
  all(): CallView[];
  /** @param phone digits */
  begin(phone: string): Promise<void>;
  end(phone: string): Promise<void>;
  stop(): void;
}

interface Needs {
  simulator: Pick<Simulator, "call" | "endCall" | "callState">;
  /** @throws Refusal when there is no such phone, or it is off */
  requireOnline(phone: string): void;
  onChange(): void;
}

const LOOK_EVERY_MS = 200;

/** Nobody calls yet. */
export function createCalls({ simulator, requireOnline, onChange }: Needs): Calls {
  const calls = new Map<string, CallView & { id: string }>();
  const ended = new AbortController();

  /** Until the caller hangs up, or somebody else has said something. */
  async function follow(phone: string, id: string): Promise<void> {
    while (calls.get(phone)?.id === id) {
      const { state } = await simulator.callState(NUMBER, id);
      const known = calls.get(phone);
      if (known?.id !== id) return;
      if (state !== known.state) {
        calls.set(phone, { ...known, state });
        onChange();
      }
      if (state !== "ringing") return;
      await pause(LOOK_EVERY_MS, undefined, { signal: ended.signal });
    }
  }
  return {
    all: () => [...calls.values()].map(({ phone, state }) => ({ phone, state })),
    async begin(phone) {
      requireOnline(phone);
      if (calls.has(phone)) throw new Refusal(409, "This phone is calling already: hang up first.");
      const { id } = await simulator.call(phone, NUMBER);
      calls.set(phone, { phone, id, state: "ringing" });
      onChange();
      void follow(phone, id).catch(() => undefined);
    },
    async end(phone) {
      const call = calls.get(phone);
      if (call === undefined) throw new Refusal(409, "This phone is not calling.");
      calls.delete(phone);
      onChange();
      if (call.state === "ringing") await simulator.endCall(phone, NUMBER, call.id);
    },
    stop: () => ended.abort(),
  };
}
