import type { Time } from "../time.ts";
import type { Stamps } from "./ports.ts";

/** Timestamps and ids for one service; ids count up from a million. */
export function createStamps(time: Time): Stamps {
  let lastId = 1_000_000;
  return {
    now: () => String(Math.floor(time.now() / 1000)),
    nextId: () => String(++lastId),
  };
}
