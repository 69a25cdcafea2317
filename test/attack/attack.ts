import type { Socket } from "node:net";
import type { GatewayClient } from "../_setup/client.ts";
import type { Simulator } from "../../src/simulator/types.ts";

/** One hostile thing, and what it does to a gateway. A file in `attacks/` exports one, or a list, as its default. */
export interface Attack {
  /** What is tried, in a few words: the line of the table. */
  name: string;
  /** Which class it is of: a letter and a number, as `docs/security.md` has them. */
  class: string;
  /** Most memory over idle that gateway and children may take meanwhile, in MB. Default: not looked at. */
  maxMemoryMb?: number;
  /**
   * Does it. Resolves when the gateway has had all of it and has answered what it answers.
   *
   * @throws when the gateway did something that it must not, other than being slow
   */
  run(arena: Arena): Promise<void>;
}

/** How much of everything: `short` is for `npm test`, a second or so for each attack; `full` is what hurts. */
export type Size = "short" | "full";

/** A tenant with a key, a linked number, and somebody on WhatsApp who can write to it. */
export interface Tenant {
  accountId: string;
  key: string;
  /** Digits of its linked number. */
  number: string;
  /** Digits of somebody who is no customer of the gateway. */
  contact: string;
}

/** A gateway in a process of its own, as production runs it, with two tenants on a simulated WhatsApp. */
export interface Arena {
  size: Size;
  /** Requests; answers are checked against the documentation. */
  gateway: GatewayClient & { readonly port: number; readonly pid: number; readonly adminToken: string };
  sim: Simulator;
  /** Whose key and number the attack may use. */
  attacker: Tenant;
  /** Who goes on sending meanwhile; attacks leave it alone. */
  victim: Tenant;
  /**
   * Another gateway on the same WhatsApp, that may ask nothing private (`ALLOW_PRIVATE_NETWORK` off), with a tenant of its own.
   * Started when it is first asked for; the yardstick does not look at it.
   */
  guarded(): Promise<{ gateway: GatewayClient; tenant: Tenant }>;
  /** Opens a connection to the gateway for bytes that no HTTP client would send. It ends with the attack. */
  connect(): Promise<Socket>;
  /**
   * Writes bytes to a connection of its own and reads what comes until the gateway closes it.
   *
   * @param patienceMs default 10 s; what came until then is returned
   */
  exchange(bytes: string | Buffer, patienceMs?: number): Promise<string>;
}
