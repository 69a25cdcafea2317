import type { Statement } from "../model/statement.ts";
import { DAY_MS } from "../model/time.ts";

/** As far as a clock may have been set back since: what is over by more needs no release. */
const OVER_FOR_CERTAIN_MS = DAY_MS;
const RELEASE = `update chat_state indexed by chat_state_held set held_until = null
  where held_until > ?1 and device_id = ?2`;

/** Releases all chats that a number's webhook holds, in the table; `Holds.forget` does so in memory. @param now Unix milliseconds */
export const releaseHolds = (deviceId: number, now: number): Statement => ({
  sql: RELEASE,
  args: [now - OVER_FOR_CERTAIN_MS, deviceId],
});
