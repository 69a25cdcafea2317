import { Mutex } from "async-mutex";
import type { Logger } from "../log.ts";
import { counted } from "../model/error-sentences.ts";
import { GatewayError } from "../model/errors.ts";
import type { Cancel } from "../model/time.ts";
import type { Incoming } from "../model/messages.ts";
import type { PasskeyAssertion, PasskeyStep } from "../model/passkey.ts";
import { NO_INTAKE, type Intake } from "../store/intake.ts";
import type { Statement, Store } from "../store/store.ts";
import type {
  ChannelChange,
  GroupChange,
  LinkedIdentity,
  MessageReceipt,
  NewChats,
  OwnReading,
  ReachoutLock,
  WhatsApp,
  WhatsAppConnection,
} from "../whatsapp/port.ts";
import { insertDevice, readDevices, updateStatement, type DeviceRecord } from "./device-record.ts";
import { adviceFor, reasonFor, type LinkState, type StateReason } from "./link.ts";
import { createNumber } from "./number.ts";
import type { LinkAnswer, NumberLife } from "./number-life.ts";
import { createSessionStates } from "./session-state.ts";

export type { DeviceRecord } from "./device-record.ts";
export type { LinkState } from "./link.ts";

/** One after another: a handshake takes 25 ms of CPU, and hundreds at once would keep everything else waiting. */
const BOOT_STAGGER_MS = 50;
const ACTIVITY_FLUSH_MS = 10_000;
const PASSKEY_ASKED =
  "WhatsApp waits for the passkey of this account. Answer with POST /devices/{number}/passkey, or run: npm run parley -- link <number>";

const CODE_REFUSED =
  "WhatsApp refuses to link this number by code. Scan the QR code instead: POST /generate-qr without method.";

/** What numbers take. */
interface NumbersDeps {
  store: Store;
  log: Logger;
  whatsapp: WhatsApp;
  /** Deletes the record and everything of a number that is logged out; what is much of it, later. */
  erase(deviceId: number): Promise<void>;
  /** How many numbers the account may have; null is no limit. */
  deviceLimit(accountId: string): Promise<number | null>;
  /** New messages in arrival order; `spend` belongs into the commit that stores them. */
  /** What storing these messages takes, see `WhatsAppEvents.messages`. */
  onMessages(deviceId: number, ownNumber: string, messages: Incoming[]): Intake;
  onReceipts(deviceId: number, receipts: MessageReceipt[]): void;
  /** What WhatsApp tells of groups, and of channels. None: all of them changed somehow. */
  onGroupsChanged(deviceId: number, changes: GroupChange[]): void;
  /** WhatsApp has told of a lock on first contacts, or of its end (null). */
  onReachout?(deviceId: number, lock: ReachoutLock | null): void;
  onChannelsChanged(deviceId: number, changes: ChannelChange[]): void;
  /** The owner has read messages on another device of the number. */
  onRead(deviceId: number, reading: OwnReading): void;
  /** The number is online and can send. */
  onOpen(deviceId: number): void;
  /** State or QR of a number changed. */
  onState?(device: DeviceRecord): void;
  /** What telling of a number's new state takes: stored with the state. */
  onMoved?(device: DeviceRecord): Intake;
  /** Between 0 and 1, for the jitter of reconnecting. Default `Math.random`. */
  random?(): number;
  /** Whether a person may answer when WhatsApp asks for a passkey. Default false. */
  passkeys?: boolean;
}

/** What an owner sets of a number itself. */
export type NumberSettings = Partial<Pick<DeviceRecord, "calls" | "callsText">>;

/** What a caller of `/generate-qr` is told; `qrcode` is a PNG data URI. */
export type LinkStatus =
  | Exclude<LinkAnswer, { state: "qr" }>
  | (LinkAnswer & { state: "qr"; qrcode: string });

/** Why a number is in its state. Times are Unix milliseconds. */
export interface Why {
  state: LinkState;
  since: number;
  reason: StateReason;
  /** When it comes to an end by itself, where WhatsApp has said so. */
  until: number | null;
  lastClose: DeviceRecord["lastClose"];
  nextRetryAt: number | null;
  /** How many stanzas WhatsApp still holds back; null when it has not said, or holds none. */
  waiting: number | null;
  /** One sentence for people. */
  advice: string;
}

/** The numbers of this process. */
export interface Numbers {
  /** Reads the records. Call it before the first request. */
  load(): Promise<void>;
  /** Connects what is linked, staggered. Resolves when the first attempts are on their way. */
  start(): Promise<void>;
  /** Closes all connections without logging out. */
  stop(): Promise<void>;
  /** How many numbers of this process are in each state. */
  states(): Map<string, number>;
  /** All numbers of this process. */
  ids(): number[];
  /** Oldest first. */
  list(accountId: string): DeviceRecord[];
  find(accountId: string, number: string): DeviceRecord | null;
  get(deviceId: number): DeviceRecord | null;
  /** Registers without linking; a number that is there already is answered as it is. @throws PLAN_LIMIT */
  register(accountId: string, number: string): Promise<DeviceRecord>;
  /** Logs out and erases everything of the number: at once for everybody who looks, from the disk little by little. */
  remove(deviceId: number): Promise<void>;
  /** Changes settings of a number; what is left out stays. Resolves when they are stored. @throws StorageUnavailable */
  change(deviceId: number, settings: NumberSettings): Promise<DeviceRecord>;
  /** Keeps record and settings, leaves `unlinked`. */
  logout(deviceId: number): Promise<void>;
  /** Answers within two seconds. @throws WRONG_NUMBER once, after another number scanned */
  link(deviceId: number, options: { force: boolean; method: "qr" | "code" }): Promise<LinkStatus>;
  /** Hands over what the owner's browser answered. @throws NO_PASSKEY_REQUEST when nobody asks for it; WHATSAPP_REFUSED */
  answerPasskey(deviceId: number, assertion: PasskeyAssertion): Promise<PasskeyStep>;
  /** The owner has compared the code. @throws NO_PASSKEY_REQUEST when there is none; WHATSAPP_REFUSED */
  confirmPasskey(deviceId: number): Promise<PasskeyStep>;
  why(deviceId: number): Why | null;
  /** The lock on first contacts is another: the record tells of it. */
  reachout(deviceId: number, lock: ReachoutLock | null): void;
  state(deviceId: number): LinkState | null;
  /** Null unless the number is online. */
  connection(deviceId: number): WhatsAppConnection | null;
  /** Known while the number has been online in this process. */
  identity(deviceId: number): LinkedIdentity | null;
  /** True while a phone has it linked, connected or on its way: not when it is blocked or replaced. */
  isLinked(deviceId: number): boolean;
}

const placeOf = ({ accountId, number }: Pick<DeviceRecord, "accountId" | "number">): string =>
  `${accountId} ${number}`;

/** What goes on in a linking says more than the state that it is in. */
function explained({ device, waiting, shown }: NumberLife): Pick<Why, "reason" | "advice"> {
  const { state, lastClose } = device;
  const { passkey, codeRefused } = shown();
  if (passkey !== null) return { reason: "passkey", advice: PASSKEY_ASKED };
  if (codeRefused !== null) return { reason: "code_refused", advice: CODE_REFUSED };
  if (state === "connected" && device.newChats?.isUsedUp)
    return { reason: "new_chats", advice: usedUpAdvice(device.newChats) };
  return { reason: reasonFor(state, lastClose, waiting), advice: adviceFor(state, lastClose) };
}

function usedUpAdvice({ limit, used, resetsAt }: NewChats): string {
  const count = limit === null ? "" : ` (${used} of ${limit})`;
  const until = resetsAt === null ? "" : ` until ${new Date(resetsAt).toISOString()}`;
  return `WhatsApp lets this number begin no more chats${until}: all are used${count}. Chats that are there go on; let people write first, or verify the business.`;
}

/** All numbers of this process. Their records are held in memory; this is the only writer of `devices`. */
export function createNumbers(deps: NumbersDeps): Numbers {
  const { store, log, whatsapp } = deps;
  const lives = new Map<number, NumberLife>();
  const sessions = createSessionStates(store);
  const boots: Cancel[] = [];
  const active = new Set<number>();
  // One after the other: between counting and inserting nobody else may find the same room in the plan.
  const registering = new Mutex();
  const leaving = new Map<string, Promise<void>>();

  function save(statement: Statement, told: Intake = NO_INTAKE): void {
    store.writer
      .commit([statement, ...told.statements])
      .then(([, ...results]) => told.committed(results))
      .catch((error: unknown) => log.error({ err: error }, "storing the state of a number failed"));
  }

  function add(device: DeviceRecord, linked: boolean): NumberLife {
    const { id, number } = device;
    const life = createNumber({
      device,
      linked,
      whatsapp,
      store,
      log,
      random: deps.random ?? Math.random,
      passkeys: deps.passkeys ?? false,
      save(change) {
        const moved = change.state !== undefined;
        save(updateStatement(id, change), moved ? deps.onMoved?.(device) : undefined);
      },
      changed() {
        sessions.publish(life);
        deps.onState?.(device);
      },
      onMessages(messages) {
        active.add(id);
        return deps.onMessages(id, number, messages);
      },
      onSent: () => void active.add(id),
      onReceipts: (receipts) => deps.onReceipts(id, receipts),
      onGroupsChanged: (changes) => deps.onGroupsChanged(id, changes),
      onReachout: (lock) => deps.onReachout?.(id, lock),
      onChannelsChanged: (changes) => deps.onChannelsChanged(id, changes),
      onRead: (reading) => deps.onRead(id, reading),
      onOpen: () => deps.onOpen(id),
    });
    lives.set(id, life);
    return life;
  }

  // A write per message would cost more than the message.
  function flushActivity(): void {
    for (const id of active) {
      const device = lives.get(id)?.device;
      if (device) save(updateStatement(id, { lastIn: device.lastIn, lastOut: device.lastOut }));
    }
    active.clear();
  }
  const activity = store.time.every(ACTIVITY_FLUSH_MS, flushActivity);

  function lifeOf(deviceId: number): NumberLife {
    const life = lives.get(deviceId);
    if (life === undefined) throw new GatewayError("NOT_FOUND", "There is no such number any more.");
    return life;
  }

  const find: Numbers["find"] = (accountId, number) =>
    [...lives.values()].find(({ device }) => device.accountId === accountId && device.number === number)
      ?.device ?? null;
  const list: Numbers["list"] = (accountId) =>
    [...lives.values()].map(({ device }) => device).filter((device) => device.accountId === accountId);

  return {
    async load() {
      const [devices, linked] = await Promise.all([readDevices(store), whatsapp.linkedDevices()]);
      const isLinked = new Set(linked);
      for (const device of devices) add(device, isLinked.has(device.id));
    },
    async start() {
      let position = 0;
      for (const life of lives.values()) {
        if (!life.comesBack()) life.rest();
        else boots.push(store.time.after(BOOT_STAGGER_MS * position++, life.connect));
      }
    },
    async stop() {
      for (const cancel of [...boots, activity]) cancel();
      await Promise.all(Array.from(lives.values(), (life) => life.stop()));
      flushActivity();
      await store.writer.drain();
    },
    ids: () => [...lives.keys()],
    states() {
      const counts = new Map<string, number>();
      for (const { device } of lives.values()) counts.set(device.state, (counts.get(device.state) ?? 0) + 1);
      return counts;
    },
    list,
    find,
    get: (deviceId) => lives.get(deviceId)?.device ?? null,
    register: (accountId, number) =>
      registering.runExclusive(async () => {
        // Being removed it is in no list any more, and its record is still there.
        await leaving.get(placeOf({ accountId, number }))?.catch(() => undefined);
        const known = find(accountId, number);
        if (known !== null) return known;
        const limit = await deps.deviceLimit(accountId);
        if (limit !== null && list(accountId).length >= limit)
          throw new GatewayError(
            "PLAN_LIMIT",
            `The plan allows ${counted(limit, "number")}. Remove one or change the plan.`,
            { extra: { limit } },
          );
        const inserted = await insertDevice(store, accountId, number);
        // Somebody else registered it meanwhile, and has told this process.
        return inserted === null ? find(accountId, number)! : add(inserted, false).device;
      }),
    async remove(deviceId) {
      const life = lives.get(deviceId);
      if (life === undefined) return;
      lives.delete(deviceId);
      active.delete(deviceId);
      sessions.forget(deviceId);
      const gone = life.logout().then(() => deps.erase(deviceId));
      const place = placeOf(life.device);
      leaving.set(place, gone);
      try {
        await gone;
      } catch (error) {
        // Nothing was erased: it can be asked for once more.
        lives.set(deviceId, life);
        throw error;
      } finally {
        leaving.delete(place);
      }
    },
    async change(deviceId, settings) {
      const { device } = lifeOf(deviceId);
      if (Object.keys(settings).length > 0) await store.writer.commit([updateStatement(deviceId, settings)]);
      return Object.assign(device, settings);
    },
    logout: (deviceId) => lifeOf(deviceId).logout(),
    async link(deviceId, options) {
      const life = lifeOf(deviceId);
      const answer = await life.link(options);
      if (answer.state !== "qr") return answer;
      return { ...answer, qrcode: await sessions.image(life, answer.qr) };
    },
    answerPasskey: async (deviceId, assertion) => lifeOf(deviceId).answerPasskey(assertion),
    confirmPasskey: async (deviceId) => lifeOf(deviceId).confirmPasskey(),
    why(deviceId) {
      const life = lives.get(deviceId);
      if (life === undefined) return null;
      const { state, since, lastClose } = life.device;
      return {
        state,
        since,
        ...explained(life),
        until: state === "blocked" ? (lastClose?.until ?? null) : null,
        lastClose,
        nextRetryAt: life.nextRetryAt,
        waiting: life.waiting,
      };
    },
    reachout(deviceId, lock) {
      const device = lives.get(deviceId)?.device;
      if (device === undefined) return;
      device.reachout = lock;
      deps.onState?.(device);
    },
    state: (deviceId) => lives.get(deviceId)?.device.state ?? null,
    connection: (deviceId) => lives.get(deviceId)?.connection() ?? null,
    identity: (deviceId) => lives.get(deviceId)?.identity() ?? null,
    isLinked: (deviceId) => lives.get(deviceId)?.comesBack() ?? false,
  };
}
