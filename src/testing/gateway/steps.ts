import { AsyncLocalStorage } from "node:async_hooks";
import type { MadeCall } from "../network/network.ts";

type Step = Pick<MadeCall, "step" | "beginning">;

const steps = new AsyncLocalStorage<Step>();
const OUTSIDE: Step = { step: null, beginning: 0 };
let beginnings = 0;

/** Runs the work of a step; what it asks of the network can be told apart from what else is asked. */
export function inStep<T>(id: string, work: () => T): T {
  return steps.run({ step: id, beginning: ++beginnings }, work);
}

/** The step within which this is called. */
export const currentStep = (): Step => steps.getStore() ?? OUTSIDE;

/** How often steps have been begun, in all chats of this process. */
export const beginningsSoFar = (): number => beginnings;
