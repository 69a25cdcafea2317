/** The simulator's public types, by topic in `surface/`. */
export type * from "./surface/accounts.ts";
export type * from "./surface/addresses.ts";
export type * from "./surface/app-state.ts";
export type * from "./surface/behaviour.ts";
export type * from "./surface/calls.ts";
export type * from "./surface/channels.ts";
export type * from "./surface/content.ts";
export type * from "./surface/conversations.ts";
export type * from "./surface/evidence.ts";
export type * from "./surface/faults.ts";
export type * from "./surface/groups.ts";
export type * from "./surface/history.ts";
export type * from "./surface/media.ts";
export type * from "./surface/passkey.ts";
export type * from "./surface/profiles.ts";
export type * from "./surface/simulator.ts";
export type * from "./surface/stanzas.ts";
