import type { JsonResult } from "../answers/envelope.ts";
import { send, type SendCall } from "./send.ts";

interface PollInput {
  name: string;
  option: string[];
  countable: "0" | "1";
}

/** Sends a poll; see {@link send}. */
export function sendPollOf(call: SendCall & { input: PollInput }): Promise<JsonResult> {
  const { name, option: options, countable } = call.input;
  return send(call, { kind: "poll", name, options, selectable: countable === "1" ? 1 : 0 });
}
