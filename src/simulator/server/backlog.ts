import type { Time } from "../time.ts";
import { element } from "../wire/nodes.ts";
import type { Connection, Device } from "../world/accounts.ts";
import { SERVER_JID } from "../world/jid.ts";
import type { QueuedStanza } from "../world/queue.ts";
import type { Delivery } from "./delivery.ts";
import { anyHook } from "./hooks.ts";
import type { Hooks } from "./hooks.ts";
import type { Movement } from "./ports.ts";

interface Needs extends Movement, Pick<Delivery, "transmit"> {
  hooks: Pick<Hooks, "hold" | "withholdOffline">;
  time: Time;
}

/** What waited while a device was away. */
export interface Backlog {
  /** Sends it first, marked as offline, between `<ib><offline_preview>` and `<ib><offline>`. */
  flushOffline(device: Device): void;
}

/** Hands the whole backlog over at once, as soon as a device is ready for stanzas. */
export function createBacklog(needs: Needs): Backlog {
  const { hooks, time } = needs;
  return {
    flushOffline(device) {
      const { connection } = device;
      if (!connection || !device.active) return;
      const waiting = device.queue.waiting().filter(({ held }) => !held);
      if (waiting.length > 0) announce(connection, waiting);
      if (!anyHook(hooks.hold, device)) {
        for (const [index, stanza] of waiting.entries()) {
          device.queue.markSent(stanza, connection, time.now());
          const { node } = stanza;
          const attrs = { ...node.attrs, offline: String(index) };
          needs.transmit(connection, device, { ...node, attrs });
        }
      }
      if (!anyHook(hooks.withholdOffline, device)) {
        const end = element("offline", { count: String(waiting.length) });
        connection.send(element("ib", { from: SERVER_JID }, [end]));
      }
      needs.changed();
    },
  };
}

function announce(connection: Connection, waiting: readonly QueuedStanza[]): void {
  const count = (tag: string) => String(waiting.filter(({ node }) => node.tag === tag).length);
  const preview = element("offline_preview", {
    count: String(waiting.length),
    message: count("message"),
    receipt: count("receipt"),
    notification: count("notification"),
    appdata: "0",
    call: "0",
  });
  connection.send(element("ib", { from: SERVER_JID }, [preview]));
}
