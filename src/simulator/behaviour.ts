import type { ServiceBehaviour } from "./surface/behaviour.ts";

/** The service as it was last year. */
const OFF: ServiceBehaviour = {
  wholePhash: false,
  accountSync: false,
  backlogWindows: false,
  aggregatedReceipts: false,
  secretOutsideOwnCopy: false,
  sealedEdits: false,
};

/** The names of everything that can be switched on. */
export const BEHAVIOURS = Object.keys(OFF) as (keyof ServiceBehaviour)[];

/** A service with some of its behaviour switched on. */
export const behaviourOf = (on: Partial<ServiceBehaviour> = {}): ServiceBehaviour => ({ ...OFF, ...on });
