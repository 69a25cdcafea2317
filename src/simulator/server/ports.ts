/** Small parts of the service that many handlers use. Each handler declares which of them it needs. */
import type { BinaryNode } from "../wire/nodes.ts";
import type { Connection, Device } from "../world/accounts.ts";

/** Timestamps and ids for the service's own stanzas. */
export interface Stamps {
  /** The service's time in whole seconds, as text, for the `t` attribute. */
  now(): string;
  /** A fresh id for a stanza of the service's own. */
  nextId(): string;
}

/** Hands stanzas over for delivery. */
export interface Deliveries {
  /** Queues a stanza for a device and sends what can be sent. */
  deliver(device: Device, node: BinaryNode): void;
}

/** Records what the real service or a real phone would refuse. */
export interface Reports {
  readonly violations: { report(rule: string, who: string, detail: string): void };
}

/** Tells waiters that something has happened. */
export interface Movement {
  /** Tells waiters that connections, queues or the transcript moved. */
  changed(): void;
}

/** What became of a message: an error code for its ack, or a hash of the right device list when that was wrong. */
export interface MessageOutcome {
  error?: number;
  phash?: string;
  /** How the group names its members. */
  addressingMode?: "lid" | "pn";
  /** The sender knows its partner by a LID that is an old one. */
  refreshLid?: boolean;
  /** Number of a post in its channel. */
  serverId?: number;
}

/** Handles one kind of stanza from a client. Before login the connection has no device. */
export type StanzaHandler = (connection: Connection, node: BinaryNode) => void;
