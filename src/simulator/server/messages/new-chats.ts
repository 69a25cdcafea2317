import type { Time } from "../../time.ts";
import { element } from "../../wire/nodes.ts";
import { listedDevices } from "../../world/accounts.ts";
import type { Account } from "../../world/accounts.ts";
import { SERVER_JID } from "../../world/jid.ts";
import type { Deliveries, Stamps } from "../ports.ts";

interface Needs extends Stamps, Deliveries {
  time: Time;
}

interface Quota {
  total: number;
  used: number;
  /** Unix seconds. */
  ends: number;
}

/** How many chats accounts may begin in a time, where that is limited. */
export interface NewChats {
  /** Limits an account from now on, for so many seconds, and tells its companions (`notification type=mex`). */
  limit(account: Account, quota: { total: number; used: number; seconds: number }): void;
  /** Ends the limit. */
  free(account: Account): void;
  /** May the account begin one more? */
  allows(account: Account): boolean;
  /** It has begun one. */
  began(account: Account): void;
  /** What the account is told when it asks (`xwa2_message_capping_info`). */
  state(account: Account): Record<string, unknown>;
}

/** Nobody is limited at first. */
export function createNewChats(needs: Needs): NewChats {
  const quotas = new Map<string, Quota>();
  const quotaOf = ({ number }: Account): Quota | undefined => {
    const quota = quotas.get(number);
    return quota && quota.ends * 1000 > needs.time.now() ? quota : undefined;
  };
  const state = (account: Account): Record<string, unknown> => {
    const quota = quotaOf(account);
    if (!quota) return { total_quota: -1, used_quota: 0, capping_status: "NONE" };
    const { total, used, ends } = quota;
    return {
      total_quota: total,
      used_quota: used,
      cycle_end_timestamp: String(ends),
      server_sent_timestamp: needs.now(),
      capping_status: used >= total ? "CAPPED" : "NONE",
    };
  };
  const tell = (account: Account): void => {
    const data = { xwa2_notify_new_chat_messages_capping_info_update: state(account) };
    for (const device of listedDevices(account)) {
      if (device.id === 0) continue;
      const json = Buffer.from(JSON.stringify({ data }));
      const update = element("update", { op_name: "MessageCappingInfoNotification" }, json);
      const attrs = { from: SERVER_JID, type: "mex", id: needs.nextId(), t: needs.now() };
      needs.deliver(device, element("notification", attrs, [update]));
    }
  };
  return {
    state,
    limit(account, { total, used, seconds }) {
      quotas.set(account.number, { total, used, ends: Math.floor(needs.time.now() / 1000) + seconds });
      tell(account);
    },
    free(account) {
      if (quotas.delete(account.number)) tell(account);
    },
    allows(account) {
      const quota = quotaOf(account);
      return quota === undefined || quota.used < quota.total;
    },
    began(account) {
      const quota = quotaOf(account);
      if (quota === undefined) return;
      quota.used += 1;
      tell(account);
    },
  };
}
