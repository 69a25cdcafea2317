import { element } from "../wire/nodes.ts";
import type { Account } from "../world.ts";
import { listedDevices } from "./device-lists.ts";
import { SERVER_JID } from "./jid.ts";
import type { SimulatorServer } from "./server.ts";

/** The ack's error for somebody who may not write to strangers now. */
export const REACHOUT_LOCKED = 463;

interface Lock {
  /** Unix seconds. */
  until: number;
  type: string;
}

/** Who may write to whom: accounts that are kept from beginning chats, and the chats that there are. */
export class Reachout {
  readonly locks = new Map<string, Lock>();
  readonly #chats = new Set<string>();

  /** Notes that two accounts have a chat. */
  met(one: Account, other: Account): void {
    this.#chats.add(pair(one, other));
  }

  /** May an account write to another one now? Chats that exist go on. */
  allows(sender: Account, partner: Account, now: number): boolean {
    const lock = this.locks.get(sender.number);
    return !lock || lock.until * 1000 <= now || sender === partner || this.#chats.has(pair(sender, partner));
  }
}

const pair = (one: Account, other: Account): string => [one.number, other.number].sort().join(" ");

/** Locks an account for some seconds, or lets it go with 0, and tells its companions. */
export function lockReachout(
  server: SimulatorServer,
  account: Account,
  seconds: number,
  type = "BIZ_QUALITY",
): void {
  const { locks } = server.reachout;
  if (seconds > 0) locks.set(account.number, { until: Math.floor(server.clock() / 1000) + seconds, type });
  else if (!locks.delete(account.number)) return;
  const data = { xwa2_notify_account_reachout_timelock: reachoutState(server, account) };
  for (const device of listedDevices(account)) {
    if (device.id === 0) continue;
    const update = element(
      "update",
      { op_name: "NotificationUserReachoutTimelockUpdate" },
      Buffer.from(JSON.stringify({ data })),
    );
    const attrs = { from: SERVER_JID, type: "mex", id: server.nextId(), t: server.now() };
    server.deliver(device, element("notification", attrs, [update]));
  }
}

/** What the account is told of its lock when it asks. */
export function reachoutState(server: SimulatorServer, account: Account): Record<string, unknown> {
  const lock = server.reachout.locks.get(account.number);
  if (!lock || lock.until * 1000 <= server.clock()) {
    return { is_active: false, time_enforcement_ends: null, enforcement_type: "DEFAULT" };
  }
  return { is_active: true, time_enforcement_ends: String(lock.until), enforcement_type: lock.type };
}
