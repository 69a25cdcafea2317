/** Small parts of the service that many handlers use. A handler names those it needs, and nothing more. */
import type { BinaryNode } from "../wire/nodes.ts";
import type { Connection, Device } from "../world/accounts.ts";

/** Time and id of the service's own stanzas. */
export interface Stamps {
  /** The service's time in whole seconds, as text, for the `t` attribute. */
  now(): string;
  /** A fresh id for a stanza of the service's own. */
  nextId(): string;
}

/** Gives stanzas to devices. */
export interface Deliveries {
  /** Queues a stanza for a device and sends what can be sent. */
  deliver(device: Device, node: BinaryNode): void;
}

/** Takes down what the real service or a real phone would refuse. */
export interface Reports {
  readonly violations: { report(rule: string, who: string, detail: string): void };
}

/** Wakes those who wait for something to happen in the simulator. */
export interface Movement {
  /** Tells waiters that connections, queues or the transcript moved. */
  changed(): void;
}

/** What became of a message: an error code for its ack, or a hash of the right device list when that was wrong. */
export interface MessageOutcome {
  error?: number;
  phash?: string;
  /** Number of a post in its channel. */
  serverId?: number;
}

/** Takes one kind of stanza from a client. Before login the connection has no device. */
export type StanzaHandler = (connection: Connection, node: BinaryNode) => void;
