import type { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import type { MediaTrouble } from "../media/trouble.ts";
import type { FrameTrouble } from "../wire/frame-writer.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import type { IqError } from "./iq-error.ts";
import type { QueuedStanza } from "../world/queue.ts";
import type { Connection, Device } from "../world/accounts.ts";

/**
 * The points at which a fault can interfere with the server. Each is a list of functions, called in the order they were added; a
 * fault adds its own when it is armed and removes it when it is spent, so the server knows no fault by name.
 */
export interface Hooks {
  /** Returns an HTTP status to refuse a WebSocket upgrade. */
  upgrade: (() => number | undefined)[];
  /** Returns a node to send to a client that has finished the handshake, linked or not; the connection is closed after it. */
  client: ((payload: proto.IClientPayload) => BinaryNode | undefined)[];
  /** Returns a node to send instead of `<success>`; the connection is closed after it. */
  login: ((device: Device) => BinaryNode | undefined)[];
  /** Returns true to swallow a stanza before it is handled. */
  received: ((connection: Connection, node: BinaryNode) => boolean)[];
  /** Called when a stanza has been handled. */
  handled: ((connection: Connection, node: BinaryNode) => void)[];
  /** Returns an error code to refuse a message. */
  verdict: ((sender: Device, message: BinaryNode) => number | undefined)[];
  /** Returns true to take over an ack, which the hook then sends later or never. */
  ack: ((sender: Device, ack: BinaryNode, connection: Connection) => boolean)[];
  /** Returns true to keep stanzas queued although the device is online. */
  hold: ((device: Device) => boolean)[];
  /** Returns a replacement for a stanza before it is queued; the replacement survives redelivery. */
  alter: ((device: Device, node: BinaryNode) => BinaryNode | undefined)[];
  /** Returns true to hold back a stanza that was just queued, until its `held` is cleared. */
  keep: ((device: Device, stanza: QueuedStanza) => boolean)[];
  /** Called when a queued stanza was sent. */
  transmitted: ((device: Device, node: BinaryNode) => void)[];
  /** Returns a replacement for a stanza as it goes over a WebSocket; the queue keeps the original. */
  outgoing: ((device: Device, node: BinaryNode) => BinaryNode | undefined)[];
  /** Returns what is wrong with the frame of a stanza; several answers are merged. */
  frame: ((device: Device, node: BinaryNode) => FrameTrouble | undefined)[];
  /** Returns how many extra times a stanza is sent. */
  repeat: ((device: Device, node: BinaryNode) => number)[];
  /** Returns true to withhold `<ib><offline>`. */
  withholdOffline: ((device: Device) => boolean)[];
  /** Returns an error to refuse an IQ. */
  iq: ((device: Device, iq: BinaryNode) => IqError | undefined)[];
  /** Returns what is wrong with a request to the media host. */
  media: ((direction: "upload" | "download", type: string) => MediaTrouble | undefined)[];
}

/** Hooks with nothing armed. */
export function noHooks(): Hooks {
  return {
    upgrade: [],
    client: [],
    login: [],
    received: [],
    handled: [],
    verdict: [],
    ack: [],
    hold: [],
    alter: [],
    keep: [],
    transmitted: [],
    outgoing: [],
    frame: [],
    repeat: [],
    withholdOffline: [],
    iq: [],
    media: [],
  };
}

/** The first answer that is not undefined. */
export function firstAnswer<A extends unknown[], R>(
  hooks: readonly ((...args: A) => R | undefined)[],
  ...args: A
): R | undefined {
  for (const hook of hooks.slice()) {
    const answer = hook(...args);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

/** Whether any hook returns true; the ones after it are not called. */
export function anyHook<A extends unknown[]>(
  hooks: readonly ((...args: A) => boolean)[],
  ...args: A
): boolean {
  return hooks.slice().some((hook) => hook(...args));
}
