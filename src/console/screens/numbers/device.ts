import type { Schemas } from "../../../client/index.ts";

/** A number as `GET /devices` shows it. */
export type Device = Schemas["Device"];
/** The answer of `GET /devices/{number}/why`. */
export type Why = Schemas["Why"];

/** In these states a code can be asked for. */
export const canLink = (state: Device["state"]): boolean => state !== "connected" && state !== "connecting";
