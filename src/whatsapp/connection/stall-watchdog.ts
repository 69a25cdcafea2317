import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import type { Closed } from "../port.ts";

const LOOK_MS = 30_000;
const TIMED_OUT = 408;
/** Messages to so many chats were taken by the service, and nothing at all came back: neither receipt nor answer. */
const SENT_TO = 3;
const SILENT_MS = 5 * 60_000;
/** A message came, and was not looked at for so long, nor any other. */
const STUCK_MS = 2 * 60_000;
/** What the service pushes by itself, unlike its answers. */
const PUSHED = ["message", "receipt", "notification", "call"];

export interface DeafnessDeps {
  /** Milliseconds of a clock that nobody sets. Default `performance.now`. */
  now?(): number;
  /** Messages that came and wait to be looked at, and when the last one was, by the same clock. */
  waiting(): { messages: number; lastLookedAt: number };
  end(closed: Closed): void;
}

/**
 * Ends a connection that is open, answers pings, and yet hears nothing: either side may be stuck. What waits at the service
 * comes on the next one. A number to which nobody writes, and that itself writes to nobody, cannot be told from a deaf one.
 *
 * @returns stops watching
 */
export function watchDeafness({ ws }: Pick<WASocket, "ws">, deps: DeafnessDeps): () => void {
  const now = deps.now ?? (() => performance.now());
  let unanswered = new Set<string>();
  let silentSince = 0;

  for (const tag of PUSHED)
    ws.prependListener(`CB:${tag}`, () => {
      if (unanswered.size > 0) unanswered = new Set();
    });
  ws.prependListener("CB:ack,class:message", ({ attrs }: BinaryNode) => {
    if (attrs.error !== undefined || !attrs.from) return;
    if (unanswered.size === 0) silentSince = now();
    if (unanswered.size < SENT_TO) unanswered.add(attrs.from);
  });

  const timer = setInterval(() => {
    const { messages, lastLookedAt } = deps.waiting();
    if (unanswered.size >= SENT_TO && now() - silentSince >= SILENT_MS)
      deps.end({ code: TIMED_OUT, reason: "messages were sent to several chats, and nothing comes back" });
    else if (messages > 0 && now() - lastLookedAt >= STUCK_MS)
      deps.end({ code: TIMED_OUT, reason: "messages have come and are not being handled" });
  }, LOOK_MS).unref();
  return () => clearInterval(timer);
}
