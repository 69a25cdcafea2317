import type { ServiceBehaviour } from "./surface/behaviour.ts";

/** The service as it is; what is off here is the service of last year. */
const DEFAULTS: ServiceBehaviour = {
  wholePhash: true,
  accountSync: true,
  backlogWindows: true,
  aggregatedReceipts: true,
  secretOutsideOwnCopy: true,
  sealedEdits: true,
  leaveIsRemove: true,
  groupVersions: true,
  joinersGetGroup: true,
  staleAddressing: true,
  channelUpdates: true,
  lidChats: true,
  privacyTokens: true,
  deviceHashes: true,
  ownReading: true,
  presence: true,
  appState: true,
  edgeRouting: true,
};

/** The names of everything that can be switched. */
export const BEHAVIOURS = Object.keys(DEFAULTS) as (keyof ServiceBehaviour)[];

/** A service with some of its behaviour switched on or off. */
export const behaviourOf = (chosen: Partial<ServiceBehaviour> = {}): ServiceBehaviour => ({
  ...DEFAULTS,
  ...chosen,
});
