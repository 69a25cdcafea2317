import type { Time } from "../../time.ts";
import { element } from "../../wire/nodes.ts";
import { listedDevices } from "../../world/accounts.ts";
import type { Account } from "../../world/accounts.ts";
import { SERVER_JID } from "../../world/jid.ts";
import type { Deliveries, Stamps } from "../ports.ts";

/** Ack error for an account that may not start new chats at the moment. */
export const REACHOUT_LOCKED = 463;

interface Needs extends Stamps, Deliveries {
  time: Time;
}

interface Lock {
  /** Unix seconds. */
  until: number;
  type: string;
}

/** Who may write to whom: the accounts that are locked out of starting chats, and the chats that already exist. */
export interface Reachout {
  /** Have two accounts a chat with each other? */
  areMet(one: Account, other: Account): boolean;
  /** Notes that two accounts have a chat with each other. */
  met(one: Account, other: Account): void;
  /** May one account write to another now? Existing chats are unaffected by a lock. */
  allows(sender: Account, partner: Account): boolean;
  /** Locks an account for so many seconds (0 unlocks it) and tells its companions (`notification type=mex`). */
  lock(account: Account, seconds: number, type?: string): void;
  /** What the account is told of its lock when it asks (`xwa2_fetch_account_reachout_timelock`). */
  state(account: Account): Record<string, unknown>;
}

/** Nobody is locked at first. */
export function createReachout(needs: Needs): Reachout {
  const locks = new Map<string, Lock>();
  const chats = new Set<string>();
  const lockOf = ({ number }: Account): Lock | undefined => {
    const lock = locks.get(number);
    return lock && lock.until * 1000 > needs.time.now() ? lock : undefined;
  };
  const state = (account: Account): Record<string, unknown> => {
    const lock = lockOf(account);
    return lock
      ? { is_active: true, time_enforcement_ends: String(lock.until), enforcement_type: lock.type }
      : { is_active: false, time_enforcement_ends: null, enforcement_type: "DEFAULT" };
  };
  return {
    state,
    areMet: (one, other) => one === other || chats.has(pair(one, other)),
    met: (one, other) => void chats.add(pair(one, other)),
    allows: (sender, partner) => !lockOf(sender) || sender === partner || chats.has(pair(sender, partner)),
    lock(account, seconds, type = "BIZ_QUALITY") {
      const until = Math.floor(needs.time.now() / 1000) + seconds;
      if (seconds > 0) locks.set(account.number, { until, type });
      else if (!locks.delete(account.number)) return;
      tellCompanions(needs, account, state(account));
    },
  };
}

const pair = (one: Account, other: Account): string => [one.number, other.number].sort().join(" ");

function tellCompanions(needs: Needs, account: Account, state: Record<string, unknown>): void {
  const json = JSON.stringify({ data: { xwa2_notify_account_reachout_timelock: state } });
  for (const device of listedDevices(account)) {
    if (device.id === 0) continue;
    const update = element(
      "update",
      { op_name: "NotificationUserReachoutTimelockUpdate" },
      Buffer.from(json),
    );
    const attrs = { from: SERVER_JID, type: "mex", id: needs.nextId(), t: needs.now() };
    needs.deliver(device, element("notification", attrs, [update]));
  }
}
