import type { Logger } from "../log.ts";
import { GatewayError } from "../model/errors/errors.ts";
import { MINUTE_MS, SECOND_MS } from "../model/time.ts";
import type { Store } from "../store/store.ts";
import { RateOverlimit, type GroupChange, type WhatsAppConnection } from "../whatsapp/port.ts";
import { createOneByOne } from "./ask-one.ts";
import { follow, isUrgent } from "./group-changes.ts";
import { left, toRecord, whyNot, type GroupRecord, type Own } from "./group-record.ts";
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

/** What is known of one number since the start. */
interface State {
  /** Something changed since the list was asked for that cannot be followed. */
  dirty: boolean;
  /** What was told and does not stand in the stored list yet. */
  told: GroupChange[];
  /** What was told since the list was asked for that is on its way: it may lack it. */
  meanwhile: GroupChange[];
  /** All groups changed somehow since then. */
  allMeanwhile: boolean;
  requestedAt: number;
  asking: Promise<StoredList | null> | null;
  /** Changes of the stored list, one after the other. */
  writing: Promise<void>;
}

const FRESH_MS = MINUTE_MS;
const FLOOR_MS = 10 * SECOND_MS;
/** More than that between two looks at the list: it is asked for. */
const MAX_TOLD = 1_000;
/** A list may be megabytes on a slow line; after this a caller gets what is in store, and the list comes late. */
const PATIENCE_MS = 15 * SECOND_MS;

/** Lists are asked of WhatsApp when they are a minute old or something changed, and stored. */
export function createGroups({ store, log, connection, identity }: GroupsDeps): Groups {
  const lists = createStoredLists(store, FRESH_MS / 1000);
  const states = new Map<number, State>();
  const oneByOne = createOneByOne<GroupRecord>(store.time, ({ canSend }) => canSend);

  function stateOf(deviceId: number): State {
    let state = states.get(deviceId);
    if (state === undefined) {
      state = {
        dirty: false,
        told: [],
        meanwhile: [],
        allMeanwhile: false,
        requestedAt: Number.NEGATIVE_INFINITY,
        asking: null,
        writing: Promise.resolve(),
      };
      states.set(deviceId, state);
    }
    return state;
  }

  const isFresh = (list: StoredList, state: State): boolean =>
    !state.dirty && Math.abs(store.now() - list.fetchedAt) < FRESH_MS;

  /** Null when WhatsApp cannot be asked now, or gives no list. */
  async function ask(deviceId: number, state: State, marked: GroupRecord[]): Promise<StoredList | null> {
    const line = connection(deviceId);
    if (state.asking === null) {
      if (line === null || Math.abs(store.now() - state.requestedAt) < FLOOR_MS) return null;
      state.asking = request(deviceId, state, line, marked).finally(() => (state.asking = null));
    }
    return store.time.deadline(PATIENCE_MS, state.asking, () => new Error("late")).catch(() => null);
  }

  async function request(
    deviceId: number,
    state: State,
    line: Pick<WhatsAppConnection, "groups">,
    marked: GroupRecord[],
  ): Promise<StoredList | null> {
    const wasDirty = state.dirty;
    state.requestedAt = store.now();
    Object.assign(state, { dirty: false, meanwhile: [], allMeanwhile: false });
    try {
      const own = ownOf(deviceId);
      const answered = (await line.groups()).map((group) => toRecord(group, own));
      const ids = new Set(answered.map(({ id }) => id));
      const vanished = marked.filter(({ id }) => !ids.has(id)).map(left);
      const fetchedAt = store.now();
      return await inTurn(state, async () => {
        const { groups, isIncomplete } = follow([...answered, ...vanished], state.meanwhile, own);
        // What was told before is in the answer.
        Object.assign(state, { told: [], dirty: isIncomplete || state.allMeanwhile });
        const list = { groups, fetchedAt };
        await lists.write(deviceId, list);
        return list;
      });
    } catch (error) {
      state.dirty ||= wasDirty;
      const limited = error instanceof RateOverlimit;
      log.warn(
        { err: error, device: deviceId },
        limited ? "WhatsApp limits how often groups may be read" : "WhatsApp did not send the list of groups",
      );
      return null;
    }
  }

  const ownOf = (deviceId: number): Own => identity(deviceId) ?? { number: "", lid: null };

  /** Brings the stored list up to date. Never rejects; what cannot be followed has the list asked for. */
  function update(deviceId: number, state: State): Promise<void> {
    return inTurn(state, async () => {
      const told = state.told.splice(0);
      if (told.length === 0) return;
      const list = await lists.read(deviceId);
      // Without a list there is nothing to follow, and whoever wants one asks.
      if (list === null) return;
      const { groups, isIncomplete } = follow(list.groups, told, ownOf(deviceId));
      state.dirty ||= isIncomplete;
      await lists.write(deviceId, { ...list, groups });
    }).catch((error: Error) => {
      state.dirty = true;
      log.warn({ err: error, device: deviceId }, "could not store a change of groups");
    });
  }

  async function known(deviceId: number, state: State): Promise<StoredList | null> {
    await update(deviceId, state);
    return lists.read(deviceId);
  }

  async function closedFor(deviceId: number, jid: string): Promise<ReturnType<typeof whyNot>> {
    const state = stateOf(deviceId);
    const list = await known(deviceId, state);
    const listed = list?.groups.find(({ id }) => id === jid);
    // What is open is believed until WhatsApp says otherwise; what is closed or unknown is looked at again.
    if (listed?.canSend && !state.dirty) return null;
    if (listed && isFresh(list!, state)) return whyNot(listed);
    const line = connection(deviceId);
    const own = ownOf(deviceId);
    const asked =
      line &&
      (await oneByOne.ask(deviceId, jid, async () => {
        const group = await line.group(jid);
        return group && toRecord(group, own);
      }));
    if (asked === null) return listed === undefined ? null : whyNot(listed);
    return asked.value === null ? "not_member" : whyNot(asked.value);
  }

  return {
    async list(deviceId, { refresh }) {
      const state = stateOf(deviceId);
      const list = await known(deviceId, state);
      if (!refresh && list && isFresh(list, state)) return answer(list, store.now(), false);
      // A list that is asked anew before its time, only because something changed, still shows what was left.
      const marked = !refresh && list && Math.abs(store.now() - list.fetchedAt) < FRESH_MS ? list.groups : [];
      const asked = await ask(deviceId, state, marked);
      // What was told meanwhile stands in the stored list.
      const current = asked ?? (await known(deviceId, state));
      if (current !== null) return answer(current, store.now(), asked !== null);
      throw new GatewayError(
        "WHATSAPP_REFUSED",
        "WhatsApp has not sent the list of groups yet. Try again in 10 seconds or later, while the number is connected.",
      );
    },

    async refusal(deviceId, jid) {
      if (!jid.endsWith("@g.us")) return null;
      const reason = await closedFor(deviceId, jid);
      return reason === null ? null : { code: "CANNOT_SEND", reason };
    },

    changed(deviceId, changes) {
      const state = stateOf(deviceId);
      const said = changes.filter(({ kind }) => kind !== "nothing" && kind !== "ephemeral");
      if (changes.length > 0 && said.length === 0) return;
      oneByOne.changed(
        deviceId,
        said.map(({ id }) => id),
      );
      if (said.length === 0 || state.told.length + state.meanwhile.length > MAX_TOLD) {
        Object.assign(state, { dirty: true, allMeanwhile: true });
        return;
      }
      state.told.push(...said);
      if (state.asking !== null) state.meanwhile.push(...said);
      // What is told in one moment is written once.
      if (said.some(isUrgent)) void update(deviceId, state);
    },

    forget(deviceId) {
      states.delete(deviceId);
      oneByOne.changed(deviceId);
    },
  };
}

/** One change of the stored list after the other: each begins with what the one before has left. */
function inTurn<T>(state: State, change: () => Promise<T>): Promise<T> {
  const done = state.writing.then(change);
  state.writing = done.then(
    () => undefined,
    () => undefined,
  );
  return done;
}

function answer({ groups, fetchedAt }: StoredList, now: number, refreshed: boolean): GroupList {
  return { groups, cachedAt: fetchedAt, stale: now - fetchedAt > FRESH_MS, refreshed };
}
