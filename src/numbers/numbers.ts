import { Mutex } from "async-mutex";
import { alone } from "../model/nodes/alone.ts";
import { partitionOf, type Cluster } from "../model/nodes/cluster.ts";
import { counted } from "../model/errors/error-sentences.ts";
import { GatewayError } from "../model/errors/errors.ts";
import type { PasskeyAssertion, PasskeyStep } from "../model/passkey.ts";
import type { LinkedIdentity, ReachoutLock, WhatsAppConnection } from "../whatsapp/port.ts";
import type { NumbersDeps } from "./deps.ts";
import { insertDevice, updateStatement, type DeviceChange, type DeviceRecord } from "./device-record.ts";
import { comesBackAs, type LinkState } from "./link.ts";
import { createLives, type Lives } from "./lives.ts";
import type { LinkStatus, NumberLife } from "./number-life.ts";
import { ANSWER_PASSKEY, CHANGE, CONFIRM_PASSKEY, LINK, LOG_OUT, WHY } from "./questions.ts";
import { isSameProxy, keptProxy, newProxy } from "./proxy.ts";
import { createRecords, type Records } from "./records.ts";
import { createSessionStates, type SessionStates } from "./session-state.ts";
import { whyOf, type Holdups, type Why } from "./why.ts";

export type { DeviceRecord } from "./device-record.ts";
export type { LinkState } from "./link.ts";
export type { LinkStatus } from "./number-life.ts";
export type { Holdups, Why } from "./why.ts";

const LOGIN_EVERY_MS = 50;
const NO_HOLDUPS: Holdups = { media: null, reachout: null, pausedUntil: null, warmUp: null };

/** What an owner sets of a number itself. */
export interface NumberSettings extends Partial<Pick<DeviceRecord, "calls" | "callsText">> {
  /** The whole address, with its password; null: none. */
  proxy?: string | null;
}

/**
 * All numbers of the database. Everybody knows their records; each lives in one process, and what needs its life is asked of
 * that one.
 */
export interface Numbers {
  /** Reads the records. Call it before the first request. */
  load(): Promise<void>;
  /** Connects what is linked of the numbers that live here, staggered. Resolves when the first attempts are on their way. */
  start(): Promise<void>;
  /** Closes all connections without logging out. */
  stop(): Promise<void>;
  /** Ids of the numbers in these partitions. */
  idsIn(partitions: readonly number[]): number[];
  /**
   * These live here from now on, as their rows say; nothing is connected before `begin`. Those that live here already stay as
   * they are.
   *
   * @returns those that live here now
   * @throws StorageUnavailable
   */
  take(deviceIds: readonly number[]): Promise<number[]>;
  /** Those that come back by themselves connect, each when it is its turn. */
  begin(deviceIds: readonly number[]): void;
  /** They live here no longer: connections are closed before this returns, without logging out. */
  leave(deviceIds: readonly number[]): Promise<void>;
  /** How many numbers of this process are in each state. */
  states(): Map<string, number>;
  /** All numbers that live here. */
  ids(): number[];
  /** Of all accounts, wherever they live, in no order. */
  all(): DeviceRecord[];
  /** Oldest first. */
  list(accountId: string): DeviceRecord[];
  find(accountId: string, number: string): DeviceRecord | null;
  /**
   * Before somebody is told that a number is unknown or not linked: whoever has just registered or linked it by way of another
   * process need not wait until this one has heard of it.
   *
   * @throws StorageUnavailable
   */
  catchUp(accountId: string, number: string): Promise<void>;
  get(deviceId: number): DeviceRecord | null;
  /** These records with what only the process knows in which each number lives. */
  current(records: readonly DeviceRecord[]): Promise<DeviceRecord[]>;
  /** Registers without linking; a number that is there already is answered as it is. @throws PLAN_LIMIT */
  register(accountId: string, number: string): Promise<DeviceRecord>;
  /** Of one that lives here: logs out and erases everything: at once for everybody who looks, from the disk little by little. */
  remove(deviceId: number): Promise<void>;
  /**
   * Changes settings of a number; what is left out stays. Resolves when they are stored. With another proxy it connects anew.
   *
   * @throws StorageUnavailable; UNAVAILABLE; URL_NOT_ALLOWED
   */
  change(deviceId: number, settings: NumberSettings): Promise<DeviceRecord>;
  /** Keeps record and settings, leaves `unlinked`. @throws UNAVAILABLE */
  logout(deviceId: number): Promise<void>;
  /** Answers within two seconds. @throws WRONG_NUMBER once, after another number scanned; UNAVAILABLE */
  link(deviceId: number, options: { force: boolean; method: "qr" | "code" }): Promise<LinkStatus>;
  /** Hands over what the owner's browser answered. @throws NO_PASSKEY_REQUEST when nobody asks for it; WHATSAPP_REFUSED */
  answerPasskey(deviceId: number, assertion: PasskeyAssertion): Promise<PasskeyStep>;
  /** The owner has compared the code. @throws NO_PASSKEY_REQUEST when there is none; WHATSAPP_REFUSED */
  confirmPasskey(deviceId: number): Promise<PasskeyStep>;
  /** Null when there is no such number. @throws UNAVAILABLE */
  why(deviceId: number): Promise<Why | null>;
  /** The same of one that lives here; null for every other. */
  whyHere(deviceId: number): Why | null;
  /** The lock on first contacts is another: the record tells of it. */
  reachout(deviceId: number, lock: ReachoutLock | null): void;
  state(deviceId: number): LinkState | null;
  /** Null unless the number is online, here. */
  connection(deviceId: number): WhatsAppConnection | null;
  /** Known while the number has been online in this process. */
  identity(deviceId: number): LinkedIdentity | null;
  /** True while a phone has it linked, connected or on its way: not when it is blocked or replaced. */
  isLinked(deviceId: number): boolean;
}

const placeOf = ({ accountId, number }: Pick<DeviceRecord, "accountId" | "number">): string =>
  `${accountId} ${number}`;

/** What numbers are made of. */
interface NumberParts {
  deps: NumbersDeps;
  cluster: Cluster;
  records: Records;
  lives: Lives;
  sessions: SessionStates;
  /** Being removed they are in no list any more, while their rows are still there. By account and number. */
  leaving: Map<string, Promise<void>>;
}

/** All numbers of the database; those live here whose partitions this process has. */
export function createNumbers(deps: NumbersDeps): Numbers {
  const { store, cluster = alone() } = deps;
  const { owns } = cluster.ownership;
  const sessions = createSessionStates(store);
  const records = createRecords({
    ...deps,
    isHere: (deviceId) => lives.get(deviceId) !== null,
    onNew: ({ id }) => void (owns(id) && deps.onNew?.(id)),
    onGone: ({ id }) => deps.onGone?.(id),
  });
  const loginEveryMs = (): number => deps.loginEveryMs?.() ?? LOGIN_EVERY_MS;
  const lives = createLives({ ...deps, cluster, records, sessions, loginEveryMs });
  const parts: NumberParts = { deps, cluster, records, lives, sessions, leaving: new Map() };
  answerQuestions(parts);
  return { ...looks(parts), ...ownership(parts), ...changes(parts), ...questions(parts) };
}

/** What every process can tell by itself. */
function looks({ records, lives, sessions, cluster, deps, leaving }: NumberParts) {
  return {
    async catchUp(accountId, number) {
      if (cluster.node === null || leaving.has(placeOf({ accountId, number }))) return;
      const known = records.find(accountId, number);
      if (known === null || (lives.get(known.id) === null && !comesBackAs(known)))
        await records.lookUp(accountId, number);
    },
    states() {
      const counts = new Map<string, number>();
      for (const { device } of lives.all()) counts.set(device.state, (counts.get(device.state) ?? 0) + 1);
      return counts;
    },
    ids: () => Array.from(lives.all(), ({ device }) => device.id),
    all: records.all,
    list: records.list,
    find: records.find,
    get: records.get,
    current: (some) =>
      cluster.node === null
        ? Promise.resolve([...some])
        : Promise.all(some.map((one) => (lives.get(one.id) === null ? sessions.look(one) : one))),
    whyHere(deviceId) {
      const life = lives.get(deviceId);
      return life && whyOf(life, deps.holdups?.(deviceId) ?? NO_HOLDUPS);
    },
    reachout(deviceId, lock) {
      const device = lives.get(deviceId)?.device;
      if (device === undefined) return;
      device.reachout = lock;
      deps.tell({ type: "device", deviceId, record: device });
    },
    state: (deviceId) => records.get(deviceId)?.state ?? null,
    connection: (deviceId) => lives.get(deviceId)?.connection() ?? null,
    identity: (deviceId) => lives.get(deviceId)?.identity() ?? null,
    isLinked(deviceId) {
      const life = lives.get(deviceId);
      if (life !== null) return life.comesBack();
      const record = cluster.node === null ? null : records.get(deviceId);
      return record !== null && comesBackAs(record);
    },
  } satisfies Partial<Numbers>;
}

/** Which of them live here. */
function ownership({ deps: { whatsapp }, cluster, records, lives }: NumberParts) {
  async function take(deviceIds: readonly number[]): Promise<number[]> {
    const coming = deviceIds.filter((id) => lives.get(id) === null);
    const isLinked = new Set(await whatsapp.linkedDevices(coming));
    for (const id of coming) {
      const record = records.get(id);
      if (record !== null && lives.get(id) === null) lives.add(record, isLinked.has(id));
    }
    return deviceIds.filter((id) => lives.get(id) !== null);
  }

  return {
    async load() {
      await records.load();
      await take(records.ids().filter(cluster.ownership.owns));
    },
    async start() {
      lives.begin(Array.from(lives.all(), ({ device }) => device.id));
    },
    async stop() {
      records.stop();
      await lives.stop();
    },
    idsIn(partitions) {
      const wanted = new Set(partitions);
      return records.ids().filter((id) => wanted.has(partitionOf(id)));
    },
    async take(deviceIds) {
      // What the one before has written last is in the rows.
      await records.reread(deviceIds.filter((id) => lives.get(id) === null));
      return take(deviceIds);
    },
    begin: lives.begin,
    leave: lives.end,
  } satisfies Partial<Numbers>;
}

/** What changes the list of numbers. */
function changes({ deps, cluster, records, lives, sessions, leaving }: NumberParts) {
  const { store } = deps;
  // One after the other: for the answer, whether the plan has room, nobody waits twice.
  const registering = new Mutex();
  return {
    register: (accountId, number) =>
      registering.runExclusive(async () => {
        // Being removed it is in no list any more, and its record is still there.
        await leaving.get(placeOf({ accountId, number }))?.catch(() => undefined);
        const known = records.find(accountId, number);
        if (known !== null) return known;
        const limit = await deps.deviceLimit(accountId);
        const inserted = await insertDevice(store, { accountId, number, limit }, records.told(null));
        if (inserted === null)
          throw new GatewayError(
            "PLAN_LIMIT",
            `The plan allows ${counted(limit ?? 0, "number")}. Remove one or change the plan.`,
            { extra: { limit } },
          );
        const record = records.put(inserted.record);
        if (inserted.isNew && cluster.ownership.owns(record.id)) lives.add(record, false);
        return record;
      }),
    async remove(deviceId) {
      if (records.get(deviceId) === null) return;
      const life = lives.of(deviceId);
      lives.drop(deviceId);
      records.drop(deviceId);
      sessions.forget(deviceId);
      const gone = life.logout().then(() => deps.erase(deviceId, records.told(deviceId)));
      const place = placeOf(life.device);
      leaving.set(place, gone);
      try {
        await gone;
      } catch (error) {
        // Nothing was erased: it can be asked for once more.
        lives.putBack(life);
        records.put(life.device);
        throw error;
      } finally {
        leaving.delete(place);
      }
    },
  } satisfies Partial<Numbers>;
}

/** What is asked of the process in which the number lives. */
function questions({ deps, cluster: { bus }, records }: NumberParts) {
  return {
    async change(deviceId, { proxy: address, ...settings }) {
      const change: DeviceChange = { ...settings };
      if (address !== undefined)
        change.proxy =
          address === null ? null : await newProxy(deps.store.box, deviceId, address, deps.checkProxy);
      await bus.ask(CHANGE, deviceId, {
        ...settings,
        ...(change.proxy !== undefined && { proxy: change.proxy && change.proxy.sealed.toString("base64") }),
      });
      const record = records.get(deviceId);
      if (record === null) throw new GatewayError("NOT_FOUND", "The number has been removed.");
      return Object.assign(record, change);
    },
    logout: async (deviceId) => void (await bus.ask(LOG_OUT, deviceId, null)),
    link: (deviceId, options) => bus.ask(LINK, deviceId, options),
    answerPasskey: (deviceId, assertion) => bus.ask(ANSWER_PASSKEY, deviceId, assertion),
    confirmPasskey: (deviceId) => bus.ask(CONFIRM_PASSKEY, deviceId, null),
    why: async (deviceId) => (records.get(deviceId) === null ? null : bus.ask(WHY, deviceId, null)),
  } satisfies Partial<Numbers>;
}

function answerQuestions({
  deps,
  cluster: { bus, node, ownership },
  records,
  lives,
  sessions,
}: NumberParts): void {
  const { store } = deps;

  /** Whoever asks may know of a number that was registered a moment ago, or of an owner that has not opened it yet. */
  async function lifeOf(deviceId: number): Promise<NumberLife> {
    if (node !== null && ownership.owns(deviceId)) {
      if (records.get(deviceId) === null) await records.reread([deviceId]);
      if (records.get(deviceId) !== null) await deps.onNew?.(deviceId);
    }
    return lives.of(deviceId);
  }

  bus.answer(LINK, async (deviceId, options) => {
    const life = lives.get(deviceId) ?? (await lifeOf(deviceId));
    const answer = await life.link(options);
    if (answer.state !== "qr") return answer;
    return { ...answer, qrcode: await sessions.image(life, answer.qr) };
  });
  bus.answer(LOG_OUT, async (deviceId) => {
    await (lives.get(deviceId) ?? (await lifeOf(deviceId))).logout();
    return null;
  });
  bus.answer(CHANGE, async (deviceId, { proxy, ...settings }) => {
    const life = lives.get(deviceId) ?? (await lifeOf(deviceId));
    const change: DeviceChange = { ...settings };
    if (proxy !== undefined)
      change.proxy = proxy === null ? null : keptProxy(store.box, deviceId, Buffer.from(proxy, "base64"));
    if (Object.keys(change).length > 0)
      await store.writer.commit([updateStatement(deviceId, change), ...records.told(deviceId)], {
        owning: deviceId,
      });
    const { proxy: before } = life.device;
    Object.assign(life.device, change);
    if (!isSameProxy(store.box, deviceId, before, life.device.proxy)) life.reroute();
    return null;
  });
  bus.answer(ANSWER_PASSKEY, async (deviceId, assertion) =>
    (lives.get(deviceId) ?? (await lifeOf(deviceId))).answerPasskey(assertion),
  );
  bus.answer(CONFIRM_PASSKEY, async (deviceId) =>
    (lives.get(deviceId) ?? (await lifeOf(deviceId))).confirmPasskey(),
  );
  bus.answer(WHY, async (deviceId) =>
    whyOf(lives.get(deviceId) ?? (await lifeOf(deviceId)), deps.holdups?.(deviceId) ?? NO_HOLDUPS),
  );
}
