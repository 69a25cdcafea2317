import type { WebSocket } from "ws";
import type { DeviceAddress, Link } from "../people/link.ts";
import { MediaStore } from "../media/store.ts";
import type { Random } from "../random.ts";
import type { Transcript } from "../transcript.ts";
import type { Violations } from "../violations.ts";
import { element } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import { makeServerIdentity } from "../wire/noise.ts";
import type { ServerIdentity } from "../wire/noise.ts";
import type { Account, World } from "../world.ts";
import { AcceptedMessages } from "./accepted-messages.ts";
import type { Channel } from "./channels.ts";
import type { Connection } from "./connection.ts";
import { DeliveredStanzas } from "./delivered-stanzas.ts";
import type { Device } from "./device.ts";
import { anyHook, noHooks } from "./hooks.ts";
import { SERVER_JID } from "./jid.ts";
import { attachLink } from "./link-connection.ts";
import { MessageBook } from "./message-book.ts";
import { PairingDesk } from "./pairing.ts";
import { Reachout } from "./reachout.ts";
import { authorOf } from "./receipts.ts";
import { SocketConnection } from "./session.ts";
import { StanzaLog } from "./stanza-log.ts";

export interface ServerParts {
  world: World;
  random: Random;
  /** Milliseconds since 1970. */
  clock: () => number;
  violations: Violations;
  transcript: Transcript;
  /** Brings the phones of an account online, when they never were. */
  wake: (account: Account) => Promise<void>;
  qr: { refs: number; firstMs: number; nextMs: number };
}

/** The simulated service: connections, queues and what all handlers share. */
export class SimulatorServer {
  readonly world: World;
  readonly random: Random;
  readonly clock: () => number;
  readonly violations: Violations;
  readonly transcript: Transcript;
  readonly wake: (account: Account) => Promise<void>;
  readonly qr: ServerParts["qr"];
  readonly identity: ServerIdentity;
  readonly hooks = noHooks();
  readonly media: MediaStore;
  /** Channels by their address. */
  readonly channels = new Map<string, Channel>();
  /** Posts that channels did not take, and why. */
  readonly refusedPosts: { id: string; channel: string; reason: string }[] = [];
  readonly reachout = new Reachout();
  readonly stanzas: StanzaLog;
  readonly book = new MessageBook();
  readonly accepted = new AcceptedMessages();
  readonly delivered = new DeliveredStanzas();
  readonly pairing: PairingDesk;
  /** Timestamps and names that a caller gave for single messages, by sender and id. */
  readonly overrides = new Map<string, { t?: string; notify?: string }>();
  readonly connections = new Set<Connection>();
  #lastId = 0;
  #lastPost = 0;
  #listeners = new Set<() => void>();

  constructor(parts: ServerParts) {
    this.world = parts.world;
    this.random = parts.random;
    this.clock = parts.clock;
    this.violations = parts.violations;
    this.transcript = parts.transcript;
    this.wake = parts.wake;
    this.qr = parts.qr;
    this.identity = makeServerIdentity(parts.random.fork("noise"));
    this.stanzas = new StanzaLog(parts.clock);
    this.media = new MediaStore(parts.random.fork("media"), parts.clock);
    this.pairing = new PairingDesk(this);
  }

  /** A companion has connected. */
  accept(socket: WebSocket): void {
    this.connections.add(new SocketConnection(this, socket));
  }

  /** Connects a simulated phone at node level. @throws when the account or the device does not exist */
  attach(address: DeviceAddress): Link {
    return attachLink(this, address);
  }

  /** Server time in whole seconds, as text, for the `t` attribute. */
  now(): string {
    return String(Math.floor(this.clock() / 1000));
  }

  /** A fresh id for a stanza of the server's own. */
  nextId(): string {
    return String(1_000_000 + ++this.#lastId);
  }

  /** Counts the posts of all channels. */
  nextPost(): number {
    return ++this.#lastPost;
  }

  /** Queues a stanza for a device and sends what can be sent. */
  deliver(device: Device, node: BinaryNode): void {
    const stanza = device.queue.push(
      this.hooks.alter.reduce((form, hook) => hook(device, form) ?? form, node),
    );
    if (anyHook(this.hooks.keep, device, stanza)) stanza.held = true;
    if (!device.connection && !device.seen && device.account.kind === "contact")
      void this.wake(device.account);
    this.flush(device);
  }

  /** Sends what waits for a device and was not sent on this connection, unless something holds it back. */
  flush(device: Device): void {
    const { connection } = device;
    if (!connection || !device.active || anyHook(this.hooks.hold, device)) return;
    for (const stanza of device.queue.waiting().slice()) {
      if (stanza.held || stanza.sentOn === connection || connection.closed) continue;
      device.queue.markSent(stanza, connection, this.clock());
      this.#transmit(connection, device, stanza.node);
    }
    this.changed();
  }

  /** What waited while the device was away goes out first, marked as offline, between preview and end. */
  flushOffline(device: Device): void {
    const { connection } = device;
    if (!connection || !device.active) return;
    const waiting = device.queue.waiting().filter(({ held }) => !held);
    const count = (tag: string) => String(waiting.filter(({ node }) => node.tag === tag).length);
    if (waiting.length > 0) {
      connection.send(
        element("ib", { from: SERVER_JID }, [
          element("offline_preview", {
            count: String(waiting.length),
            message: count("message"),
            receipt: count("receipt"),
            notification: count("notification"),
            appdata: "0",
            call: "0",
          }),
        ]),
      );
    }
    if (!anyHook(this.hooks.hold, device)) {
      for (const [index, stanza] of waiting.entries()) {
        device.queue.markSent(stanza, connection, this.clock());
        const { node } = stanza;
        this.#transmit(connection, device, { ...node, attrs: { ...node.attrs, offline: String(index) } });
      }
    }
    if (!anyHook(this.hooks.withholdOffline, device)) {
      const end = element("offline", { count: String(waiting.length) });
      connection.send(element("ib", { from: SERVER_JID }, [end]));
    }
    this.changed();
  }

  /** Sends an ack, unless a fault delays or holds it. */
  sendAck(connection: Connection, ack: BinaryNode): void {
    if (connection.device && anyHook(this.hooks.ack, connection.device, ack, connection)) return;
    connection.send(ack);
  }

  /** Tells waiters that connections, queues or the transcript moved. */
  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Resolves once `condition` holds; false when the time (milliseconds) ran out first. */
  async until(condition: () => boolean, timeoutMs: number): Promise<boolean> {
    if (condition()) return true;
    return await new Promise<boolean>((resolve) => {
      const finish = (held: boolean): void => {
        clearTimeout(timer);
        this.#listeners.delete(check);
        resolve(held);
      };
      const check = (): void => {
        if (condition()) finish(true);
      };
      const timer = setTimeout(() => finish(condition()), timeoutMs);
      this.#listeners.add(check);
    });
  }

  /** Closes every connection. */
  close(): void {
    this.pairing.close();
    for (const connection of this.connections) connection.cut();
  }

  #transmit(connection: Connection, device: Device, node: BinaryNode): void {
    const repeats = this.hooks.repeat.reduce((sum, hook) => sum + hook(device, node), 0);
    for (let copy = 0; copy <= repeats; copy += 1) connection.send(node);
    if (node.tag === "message") this.#note(device, node);
    for (const hook of this.hooks.transmitted.slice()) hook(device, node);
  }

  #note(device: Device, node: BinaryNode): void {
    this.delivered.add(device, node);
    const { id, offline } = node.attrs;
    if (id && offline !== undefined)
      this.transcript.underway(device, authorOf(this, node), id, { offline: true });
  }
}
