import type { ServiceBehaviour } from "../../surface/behaviour.ts";
import type { Time } from "../../time.ts";
import { child, element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import type { Connection, Device } from "../../world/accounts.ts";
import { SERVER_JID } from "../../world/jid.ts";
import type { QueuedStanza } from "../../world/queue.ts";
import type { Delivery } from "./delivery.ts";
import { anyHook } from "../hooks.ts";
import type { Hooks } from "../hooks.ts";
import type { Movement, StanzaHandler } from "../ports.ts";

/** How many stanzas of a backlog come unasked when it is delivered in windows. */
const PRIMER = 5;

interface Needs extends Movement, Pick<Delivery, "transmit" | "flush"> {
  hooks: Pick<Hooks, "hold" | "withholdOffline">;
  time: Time;
  behaviour: ServiceBehaviour;
}

/** What waited while a device was away. */
export interface Backlog {
  /** Sends it ahead of anything live, marked `offline`, between `<ib><offline_preview>` and `<ib><offline>`; or begins to. */
  flushOffline(device: Device): void;
  /** The client asks for so many more of it (`<ib><offline_batch count>`). */
  sendWindow(connection: Connection, count: number): void;
}

/** A backlog that has been sent in part. */
interface Drain {
  device: Device;
  connection: Connection;
  left: QueuedStanza[];
  sent: number;
}

/** Delivers a backlog as soon as a device is ready for stanzas: all at once, or in windows. */
export function createBacklog(needs: Needs): Backlog {
  const drains = new WeakMap<Connection, Drain>();
  return {
    flushOffline(device) {
      const { connection } = device;
      if (!connection || !device.active) return;
      const waiting = device.queue.waiting().filter(({ held }) => !held);
      const isHeld = anyHook(needs.hooks.hold, device);
      // Whoever keeps everything back says nothing of it.
      if (waiting.length > 0 && !isHeld) announce(connection, waiting);
      const drain = { device, connection, left: waiting, sent: 0 };
      const asks = needs.behaviour.backlogWindows && device.account.kind === "owner" && device.id !== 0;
      if (asks) drains.set(connection, drain);
      device.isDraining = asks;
      if (isHeld) endDrain(needs, drain);
      else sendNext(needs, drain, asks ? PRIMER : Infinity);
      needs.changed();
    },
    sendWindow(connection, count) {
      const drain = drains.get(connection);
      if (!drain?.device.isDraining || drain.device.connection !== connection) return;
      sendNext(needs, drain, count);
    },
  };
}

/** Handles `<ib>` from a client. Telemetry gets no answer; it is in the stanza log. */
export function createIbs({ sendWindow }: Pick<Backlog, "sendWindow">): StanzaHandler {
  return (connection, node) => {
    const count = Number(child(node, "offline_batch")?.attrs.count);
    if (count > 0) sendWindow(connection, count);
  };
}

function sendNext(needs: Needs, drain: Drain, count: number): void {
  const { device, connection } = drain;
  for (const stanza of drain.left.splice(0, count)) {
    device.queue.markSent(stanza, connection, needs.time.now());
    needs.transmit(connection, device, marked(stanza.node, drain.sent++));
  }
  if (drain.left.length === 0) endDrain(needs, drain);
}

const marked = (node: BinaryNode, index: number): BinaryNode => ({
  ...node,
  attrs: { ...node.attrs, offline: String(index) },
});

/** Announces the end of the backlog; whatever has arrived in the meantime follows. */
function endDrain(needs: Needs, { device, connection, sent, left }: Drain): void {
  if (!anyHook(needs.hooks.withholdOffline, device)) {
    const end = element("offline", { count: String(sent + left.length) });
    connection.send(element("ib", { from: SERVER_JID }, [end]));
  }
  if (!device.isDraining) return;
  device.isDraining = false;
  needs.flush(device);
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
