import type { Logger } from "../log.ts";
import { GatewayError } from "../model/errors/errors.ts";
import type { Store } from "../store/store.ts";
import type { GroupChange, WhatsAppConnection } from "../whatsapp/port.ts";
import { createOneByOne } from "./ask-one.ts";
import type { GroupRecord, Own, whyNot } from "./group-record.ts";
import {
  askForList,
  closedFor,
  FRESH_MS,
  isFresh,
  knownList,
  noteChanges,
  openNumberGroups,
  type NumberGroups,
} from "./number-groups.ts";
import { createStoredLists, type StoredList } from "./stored-groups.ts";

/** What groups take. */
interface GroupsDeps {
  store: Store;
  log: Logger;
  /** Null unless the number is open. */
  connection: (deviceId: number) => Pick<WhatsAppConnection, "groups" | "group"> | null;
  identity: (deviceId: number) => Own | null;
}

/** The groups of a number. */
export interface GroupList {
  /** By name, then id. */
  groups: GroupRecord[];
  /** When WhatsApp gave the list, Unix milliseconds. */
  cachedAt: number;
  /** Older than 60 seconds. */
  stale: boolean;
  /** WhatsApp has given the list for this question, or one that it shared. */
  refreshed: boolean;
}

/** What numbers know of their groups. */
export interface Groups {
  /**
   * The groups of a number, at most 60 s old when WhatsApp can be asked; else the list in store.
   *
   * @param options.refresh asks WhatsApp whatever the age, but not within 10 s of the last request of that number
   * @throws WHATSAPP_REFUSED when none is in store and WhatsApp gives none
   */
  list(deviceId: number, options: { refresh: boolean }): Promise<GroupList>;
  /**
   * Why a send to this address would be in vain; null for what is no group, or not known to be closed. A group that is not in
   * a list of the last minute is asked for by itself, unless an older list has it open.
   */
  refusal(
    deviceId: number,
    jid: string,
  ): Promise<{ code: "CANNOT_SEND"; reason: NonNullable<ReturnType<typeof whyNot>> } | null>;
  /**
   * WhatsApp tells of groups: the list in store follows, and is asked for again only where what is told is not enough. Groups that
   * the number has left stay in it, marked, until it is asked anew. No changes: all groups, somehow.
   */
  changed(deviceId: number, changes: GroupChange[]): void;
  forget(deviceId: number): void;
}

/** Lists are asked of WhatsApp when they are a minute old or something changed, and stored. */
export function createGroups({ store, log, connection, identity }: GroupsDeps): Groups {
  const lists = createStoredLists(store, FRESH_MS / 1000);
  const oneByOne = createOneByOne<GroupRecord>(store.time, ({ canSend }) => canSend);
  const deps = { store, log, lists, oneByOne, connection, identity };
  const numbers = new Map<number, NumberGroups>();

  function groupsOf(deviceId: number): NumberGroups {
    let groups = numbers.get(deviceId);
    if (groups === undefined) numbers.set(deviceId, (groups = openNumberGroups(deviceId, deps)));
    return groups;
  }

  return {
    async list(deviceId, { refresh }) {
      const of = groupsOf(deviceId);
      const list = await knownList(of);
      if (!refresh && list && isFresh(of, list)) return answer(list, store.now(), false);
      // A list that is asked anew before its time, only because something changed, still shows what was left.
      const marked = !refresh && list && Math.abs(store.now() - list.fetchedAt) < FRESH_MS ? list.groups : [];
      const asked = await askForList(of, marked);
      // What was told meanwhile stands in the stored list.
      const current = asked ?? (await knownList(of));
      if (current !== null) return answer(current, store.now(), asked !== null);
      throw new GatewayError(
        "WHATSAPP_REFUSED",
        "WhatsApp has not sent the list of groups yet. Try again in 10 seconds or later, while the number is connected.",
      );
    },

    async refusal(deviceId, jid) {
      if (!jid.endsWith("@g.us")) return null;
      const reason = await closedFor(groupsOf(deviceId), jid);
      return reason === null ? null : { code: "CANNOT_SEND", reason };
    },

    changed: (deviceId, changes) => noteChanges(groupsOf(deviceId), changes),

    forget(deviceId) {
      numbers.delete(deviceId);
      oneByOne.changed(deviceId);
    },
  };
}

function answer({ groups, fetchedAt }: StoredList, now: number, refreshed: boolean): GroupList {
  return { groups, cachedAt: fetchedAt, stale: now - fetchedAt > FRESH_MS, refreshed };
}
