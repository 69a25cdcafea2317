import { StartError } from "../../model/errors/errors.ts";

/** Where the state of a copy stands in the database that it is made in, until it is whole. */
export const UNFINISHED = "unfinished_move";
/** In `meta` of the database that is copied: which copy is being made of it. Gone when a gateway has run on it since. */
export const MOVING = "moving";
/** In `meta` of the database that was copied: where it is now, and since when. */
export const MOVED_TO = "moved_to";

/** @throws {StartError} for whoever would use what was moved away */
export function refuseMoved(movedTo: string, name: string): never {
  const [address, at] = movedTo.split(" ");
  throw new StartError(
    `${name} was moved to ${address} at ${at}, and newer data is there: set DATABASE_URL to that address.`,
  );
}
