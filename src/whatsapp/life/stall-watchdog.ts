import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import { MINUTE_MS, SECOND_MS, type Time } from "../../model/time.ts";
import type { Closed } from "../port.ts";

const LOOK_MS = 30 * SECOND_MS;
const TIMED_OUT = 408;
/** Messages to so many chats were taken by the service, and nothing at all came back: neither receipt nor answer. */
const SENT_TO = 3;
const SILENT_MS = 5 * MINUTE_MS;
/** A message came, and was not looked at for so long, nor any other. */
const STUCK_MS = 2 * MINUTE_MS;
/** What the service pushes by itself, unlike its answers. */
const PUSHED = ["message", "receipt", "notification", "call"];

/** What the stall watchdog looks at. */
interface StallWatchdogDeps {
  time: Pick<Time, "monotonic" | "every">;
  /** Messages that came and wait to be looked at, and when the last one was, in monotonic milliseconds. */
  waiting(): { messages: number; lastLookedAt: number };
  end(closed: Closed): void;
}

/**
 * Ends a connection that is open, answers pings, and yet hears nothing: either side may be stuck. What waits at the service
 * comes on the next one. A number to which nobody writes, and that itself writes to nobody, cannot be told
 * from one whose connection is stalled.
 *
 * @returns stops watching
 */
export function watchForStalls({ ws }: Pick<WASocket, "ws">, deps: StallWatchdogDeps): () => void {
  const { monotonic, every } = deps.time;
  let unanswered = new Set<string>();
  let silentSince = 0;

  for (const tag of PUSHED)
    ws.prependListener(`CB:${tag}`, () => {
      if (unanswered.size > 0) unanswered = new Set();
    });
  ws.prependListener("CB:ack,class:message", ({ attrs }: BinaryNode) => {
    if (attrs.error !== undefined || !attrs.from) return;
    if (unanswered.size === 0) silentSince = monotonic();
    if (unanswered.size < SENT_TO) unanswered.add(attrs.from);
  });

  return every(LOOK_MS, () => {
    const { messages, lastLookedAt } = deps.waiting();
    if (unanswered.size >= SENT_TO && monotonic() - silentSince >= SILENT_MS)
      deps.end({ code: TIMED_OUT, reason: "messages were sent to several chats, and nothing comes back" });
    else if (messages > 0 && monotonic() - lastLookedAt >= STUCK_MS)
      deps.end({ code: TIMED_OUT, reason: "messages have arrived and are not being handled" });
  });
}
