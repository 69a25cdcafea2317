import type { MediaTrouble } from "../media/trouble.ts";
import type { FrameTrouble } from "../wire/frame-writer.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import type { IqError } from "./iq-error.ts";
import type { QueuedStanza } from "../world/queue.ts";
import type { Connection, Device } from "../world/accounts.ts";

/**
 * The places where a fault can reach into the server. Each is a list, asked in the order of adding; a fault adds its
 * function when it is armed and takes it away when it is spent, so that the server itself knows no fault by name.
 */
export interface Hooks {
  /** An HTTP status refuses a WebSocket upgrade. */
  upgrade: (() => number | undefined)[];
  /** A node that is sent instead of `<success>`; the connection is closed after it. */
  login: ((device: Device) => BinaryNode | undefined)[];
  /** True swallows a stanza before it is handled. */
  received: ((connection: Connection, node: BinaryNode) => boolean)[];
  /** Called when a stanza has been handled. */
  handled: ((connection: Connection, node: BinaryNode) => void)[];
  /** An error code refuses a message. */
  verdict: ((sender: Device, message: BinaryNode) => number | undefined)[];
  /** True takes an ack over; the hook sends it later. */
  ack: ((sender: Device, ack: BinaryNode, connection: Connection) => boolean)[];
  /** True keeps stanzas in the queue of a device that is online. */
  hold: ((device: Device) => boolean)[];
  /** Another form in which a stanza is queued for a device. */
  alter: ((device: Device, node: BinaryNode) => BinaryNode | undefined)[];
  /** True keeps one stanza that was just queued back, until its `held` is taken away. */
  keep: ((device: Device, stanza: QueuedStanza) => boolean)[];
  /** Called when a queued stanza was sent. */
  transmitted: ((device: Device, node: BinaryNode) => void)[];
  /** Another form in which a stanza goes over a WebSocket. */
  outgoing: ((device: Device, node: BinaryNode) => BinaryNode | undefined)[];
  /** What is wrong with the frame of a stanza; the answers of several are joined. */
  frame: ((device: Device, node: BinaryNode) => FrameTrouble | undefined)[];
  /** How often one more time a stanza is sent. */
  repeat: ((device: Device, node: BinaryNode) => number)[];
  /** True withholds `<ib><offline>`. */
  withholdOffline: ((device: Device) => boolean)[];
  /** An error refuses a question. */
  iq: ((device: Device, iq: BinaryNode) => IqError | undefined)[];
  /** What is wrong with a request to the media host. */
  media: ((direction: "upload" | "download", type: string) => MediaTrouble | undefined)[];
}

/** Nothing is armed. */
export function noHooks(): Hooks {
  return {
    upgrade: [],
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

/** Does any hook say true? Later hooks are not asked. */
export function anyHook<A extends unknown[]>(
  hooks: readonly ((...args: A) => boolean)[],
  ...args: A
): boolean {
  return hooks.slice().some((hook) => hook(...args));
}
