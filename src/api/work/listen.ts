import type { H3Event } from "h3";
import type { Caller } from "../../accounts/caller.ts";
import { GatewayError } from "../../model/errors/errors.ts";
import { callerStill } from "../access/authenticate.ts";
import { RawResult } from "../answers/envelope.ts";
import { eventStream, lastEventId, requireHearing } from "./event-stream.ts";
import { mayReach } from "../access/recipients.ts";
import type { App } from "../services.ts";

/**
 * Opens the account's events to one caller.
 *
 * @throws PERMISSION_DENIED for a key that may hear nothing: it would take a place
 * @throws RATE_LIMITED when the account, or this key of it, has as many listeners as it may
 */
export async function listen(app: App, caller: Caller, event: H3Event): Promise<RawResult> {
  requireHearing(caller);
  const after = lastEventId(event.req.headers.get("last-event-id"));
  const reader = await app.events.read(caller.accountId, caller.keyId, after);
  if (reader === null)
    throw new GatewayError(
      "RATE_LIMITED",
      "This key or its account has too many open event streams; close one.",
      {
        retryAfter: 15,
      },
    );
  const stream = eventStream({
    reader,
    caller: () => callerStill(app, event, caller),
    async mayReach(listener, number, chat) {
      const device = app.numbers.find(listener.accountId, number);
      return device !== null && (await mayReach(app, listener, device.id, chat));
    },
    ending: event.context.drain.signal,
  });
  return new RawResult(stream, {
    "content-type": "text/event-stream; charset=utf-8",
    // Proxies that collect an answer before they pass it on would never pass this one on.
    "x-accel-buffering": "no",
  });
}
