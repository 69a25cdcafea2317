import type { Logger } from "../log.ts";
import { MINUTE_MS, SECOND_MS } from "../model/time.ts";
import type { Store } from "../store/store.ts";
import { RateOverlimit, type GroupChange, type WhatsAppConnection } from "../whatsapp/port.ts";
import type { OneByOne } from "./ask-one.ts";
import { follow, isUrgent } from "./group-changes.ts";
import { left, toRecord, whyNot, type GroupRecord, type Own } from "./group-record.ts";
import type { StoredList, StoredLists } from "./stored-groups.ts";

/** What is known of one number's groups since the start, and what that takes. */
export interface NumberGroups {
  readonly deviceId: number;
  readonly deps: NumberGroupsDeps;
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

interface NumberGroupsDeps {
  store: Pick<Store, "now" | "time">;
  log: Logger;
  lists: StoredLists;
  oneByOne: OneByOne<GroupRecord>;
  /** Null unless the number is open. */
  connection: (deviceId: number) => Pick<WhatsAppConnection, "groups" | "group"> | null;
  identity: (deviceId: number) => Own | null;
}

/** A list that is older is asked for again. */
export const FRESH_MS = MINUTE_MS;
const FLOOR_MS = 10 * SECOND_MS;
/** More than that between two looks at the list: it is asked for. */
const MAX_TOLD = 1_000;
/** A list may be megabytes on a slow line; after this a caller gets what is in store, and the list comes late. */
const PATIENCE_MS = 15 * SECOND_MS;

/** Nothing was told yet. */
export const openNumberGroups = (deviceId: number, deps: NumberGroupsDeps): NumberGroups => ({
  deviceId,
  deps,
  dirty: false,
  told: [],
  meanwhile: [],
  allMeanwhile: false,
  requestedAt: Number.NEGATIVE_INFINITY,
  asking: null,
  writing: Promise.resolve(),
});

/** The list is young, and lacks nothing that was told. */
export const isFresh = ({ dirty, deps }: NumberGroups, list: StoredList): boolean =>
  !dirty && Math.abs(deps.store.now() - list.fetchedAt) < FRESH_MS;

const ownOf = ({ deviceId, deps }: NumberGroups): Own => deps.identity(deviceId) ?? { number: "", lid: null };

/**
 * Asks WhatsApp for the list, which many may ask for together.
 *
 * @param marked of groups that the answer does not name any more, those are kept as left
 * @returns null when WhatsApp cannot be asked now, or gives no list
 */
export async function askForList(of: NumberGroups, marked: GroupRecord[]): Promise<StoredList | null> {
  const { store, connection } = of.deps;
  const line = connection(of.deviceId);
  if (of.asking === null) {
    if (line === null || Math.abs(store.now() - of.requestedAt) < FLOOR_MS) return null;
    of.asking = request(of, line, marked).finally(() => (of.asking = null));
  }
  return store.time.deadline(PATIENCE_MS, of.asking, () => new Error("late")).catch(() => null);
}

async function request(
  of: NumberGroups,
  line: Pick<WhatsAppConnection, "groups">,
  marked: GroupRecord[],
): Promise<StoredList | null> {
  const { deviceId } = of;
  const { store, log, lists } = of.deps;
  const wasDirty = of.dirty;
  of.requestedAt = store.now();
  Object.assign(of, { dirty: false, meanwhile: [], allMeanwhile: false });
  try {
    const own = ownOf(of);
    const answered = (await line.groups()).map((group) => toRecord(group, own));
    const ids = new Set(answered.map(({ id }) => id));
    const vanished = marked.filter(({ id }) => !ids.has(id)).map(left);
    const fetchedAt = store.now();
    return await inTurn(of, async () => {
      const { groups, isIncomplete } = follow([...answered, ...vanished], of.meanwhile, own);
      // What was told before is in the answer.
      Object.assign(of, { told: [], dirty: isIncomplete || of.allMeanwhile });
      const list = { groups, fetchedAt };
      await lists.write(deviceId, list);
      return list;
    });
  } catch (error) {
    of.dirty ||= wasDirty;
    const limited = error instanceof RateOverlimit;
    log.warn(
      { err: error, device: deviceId },
      limited ? "WhatsApp limits how often groups may be read" : "WhatsApp did not send the list of groups",
    );
    return null;
  }
}

/** Brings the stored list up to date. Never rejects; what cannot be followed has the list asked for. */
function update(of: NumberGroups): Promise<void> {
  const { deviceId } = of;
  const { lists, log } = of.deps;
  return inTurn(of, async () => {
    const told = of.told.splice(0);
    if (told.length === 0) return;
    const list = await lists.read(deviceId);
    // Without a list there is nothing to follow, and whoever wants one asks.
    if (list === null) return;
    const { groups, isIncomplete } = follow(list.groups, told, ownOf(of));
    of.dirty ||= isIncomplete;
    await lists.write(deviceId, { ...list, groups });
  }).catch((error: Error) => {
    of.dirty = true;
    log.warn({ err: error, device: deviceId }, "could not store a change of groups");
  });
}

/** The list in store, with all that was told; null when there is none. */
export async function knownList(of: NumberGroups): Promise<StoredList | null> {
  await update(of);
  return of.deps.lists.read(of.deviceId);
}

/** Why a send to a group would be in vain; null: it is open, or not known to be closed. */
export async function closedFor(of: NumberGroups, jid: string): Promise<ReturnType<typeof whyNot>> {
  const list = await knownList(of);
  const listed = list?.groups.find(({ id }) => id === jid);
  // What is open is believed until WhatsApp says otherwise; what is closed or unknown is looked at again.
  if (listed?.canSend && !of.dirty) return null;
  if (listed && isFresh(of, list!)) return whyNot(listed);
  const line = of.deps.connection(of.deviceId);
  const own = ownOf(of);
  const asked =
    line &&
    (await of.deps.oneByOne.ask(of.deviceId, jid, async () => {
      const group = await line.group(jid);
      return group && toRecord(group, own);
    }));
  if (asked === null) return listed === undefined ? null : whyNot(listed);
  return asked.value === null ? "not_member" : whyNot(asked.value);
}

/** See `Groups.changed`. */
export function noteChanges(of: NumberGroups, changes: GroupChange[]): void {
  const said = changes.filter(({ kind }) => kind !== "nothing" && kind !== "ephemeral");
  if (changes.length > 0 && said.length === 0) return;
  of.deps.oneByOne.changed(
    of.deviceId,
    said.map(({ id }) => id),
  );
  if (said.length === 0 || of.told.length + of.meanwhile.length > MAX_TOLD) {
    Object.assign(of, { dirty: true, allMeanwhile: true });
    return;
  }
  of.told.push(...said);
  if (of.asking !== null) of.meanwhile.push(...said);
  // What is told in one moment is written once.
  if (said.some(isUrgent)) void update(of);
}

/** One change of the stored list after the other: each begins with what the one before has left. */
function inTurn<T>(of: NumberGroups, change: () => Promise<T>): Promise<T> {
  const done = of.writing.then(change);
  of.writing = done.then(
    () => undefined,
    () => undefined,
  );
  return done;
}
