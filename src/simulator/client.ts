import { fromJson, toJson } from "./control/json.ts";
import { FAULT_METHODS, PLAIN_METHODS } from "./control/methods.ts";
import { contactHandle, numberHandle } from "./driver/handles.ts";
import type { AccountNames } from "./driver/handles.ts";
import type { ReadyLine, Simulator, SimulatorFaults } from "./types.ts";

export type * from "./types.ts";

type Method = (...args: unknown[]) => Promise<unknown>;

/**
 * Connects to a simulator in another process.
 *
 * @param controlUrl  as printed by the simulator's program
 * @param wire        the same line: `wsUrl`, `noiseRoot`, `ca` and so on, when the caller needs them
 * @returns the same surface as `startSimulator`; `stop()` ends the other process's server
 * @throws each method throws the simulator's own error message
 */
export function connectSimulator(controlUrl: string, wire: Partial<ReadyLine> = {}): Simulator {
  const call = async (method: string, args: unknown[]): Promise<unknown> => {
    const response = await fetch(controlUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: toJson({ method, args }),
    });
    const { result, error } = fromJson(await response.text()) as { result?: unknown; error?: string };
    if (error !== undefined) throw new Error(error);
    return result ?? undefined;
  };
  const methods = (names: readonly string[], prefix = ""): Record<string, Method> =>
    Object.fromEntries(names.map((name) => [name, (...args: unknown[]) => call(prefix + name, args)]));
  const names = async (method: string, args: unknown[]) => (await call(method, args)) as AccountNames;

  const simulator = {
    controlUrl,
    wsUrl: wire.wsUrl ?? "",
    noiseRoot: wire.noiseRoot ?? "",
    mediaUrl: wire.mediaUrl ?? "",
    ca: wire.ca ?? "",
    caFile: wire.caFile ?? "",
    ...methods(PLAIN_METHODS),
    faults: methods(FAULT_METHODS, "faults.") as unknown as SimulatorFaults,
    addNumber: async (...args: unknown[]) => numberHandle(simulator, await names("addNumber", args)),
    addContact: async (...args: unknown[]) => contactHandle(simulator, await names("addContact", args)),
    number: async (...args: unknown[]) => numberHandle(simulator, await names("number", args)),
    contact: async (...args: unknown[]) => contactHandle(simulator, await names("contact", args)),
  } as unknown as Simulator;
  return simulator;
}
