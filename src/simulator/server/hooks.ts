import type { MediaTrouble } from "../media/trouble.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import type { Connection } from "./connection.ts";
import type { Device } from "./device.ts";
import type { IqError } from "./iq-error.ts";

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
  /** How often one more time a stanza is sent. */
  repeat: ((device: Device, node: BinaryNode) => number)[];
  /** True withholds `<ib><offline>`. */
  withholdOffline: ((device: Device) => boolean)[];
  /** An error refuses a question. */
  iq: ((device: Device, iq: BinaryNode) => IqError | undefined)[];
  /** What is wrong with a request to the media host. */
  media: ((direction: "upload" | "download", type: string) => MediaTrouble | undefined)[];
}

export function noHooks(): Hooks {
  return {
    upgrade: [],
    login: [],
    received: [],
    handled: [],
    verdict: [],
    ack: [],
    hold: [],
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
