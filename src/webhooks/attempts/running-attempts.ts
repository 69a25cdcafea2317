import type { Delivery } from "../rows.ts";

/** Attempts of this process that are under way. */
export interface RunningAttempts {
  /** Resolves with the attempt of a delivery; undefined when there is none. */
  of(id: string): Promise<void> | undefined;
  begun(delivery: Pick<Delivery, "id" | "deviceId" | "chat">, ended: Promise<void>): void;
  ended(id: string): void;
  /** Chats of a number with an attempt: the next of a chat comes after it. */
  busyChats(deviceId: number): string[];
  /** How many more a number may have now. A number without any may always have one, until {@link MOST} run. */
  slotsLeft(deviceId: number): number;
  mayBegin(delivery: Pick<Delivery, "id" | "deviceId" | "chat">): boolean;
  /** Resolves when all have ended that are under way now. */
  idle(): Promise<unknown>;
}

interface Shares {
  /** Attempts of a number at the same time. */
  slots(deviceId: number): number;
  /** Whose a number is; null when nobody knows. */
  accountOf(deviceId: number): string | null;
}

/** Attempts of an account's numbers together, so that an account with many slow receivers leaves room for the others. */
const OF_AN_ACCOUNT = 32;
/** Attempts of all numbers together, beyond the first of each. */
const OF_ALL = 128;
/** No number gets its first beyond this: each holds an event, which may have a picture in it. */
const MOST = 512;

interface Running {
  deviceId: number;
  account: string | null;
  chat: string;
  ended: Promise<void>;
}

/** Attempts that are under way, and who may have another one. Receivers that are slow delay their own number's events alone. */
export function createRunningAttempts({ slots, accountOf }: Shares): RunningAttempts {
  const running = new Map<string, Running>();
  const byNumber = new Map<number, Set<Running>>();
  const byAccount = new Map<string | null, Set<Running>>();
  const busyChats = (deviceId: number): string[] =>
    Array.from(byNumber.get(deviceId) ?? [], ({ chat }) => chat);

  function slotsLeft(deviceId: number): number {
    const own = byNumber.get(deviceId)?.size ?? 0;
    const most = slots(deviceId);
    if (own === 0 && most > 0 && running.size < MOST) return Math.max(1, Math.min(most, roomFor(deviceId)));
    return Math.min(most - own, roomFor(deviceId));
  }

  function roomFor(deviceId: number): number {
    const ofAccount = byAccount.get(accountOf(deviceId))?.size ?? 0;
    return Math.min(OF_AN_ACCOUNT - ofAccount, OF_ALL - running.size);
  }

  return {
    of: (id) => running.get(id)?.ended,
    begun({ id, deviceId, chat }, ended) {
      const one: Running = { deviceId, chat, ended, account: accountOf(deviceId) };
      running.set(id, one);
      addTo(byNumber, deviceId, one);
      addTo(byAccount, one.account, one);
    },
    ended(id) {
      const one = running.get(id);
      if (one === undefined) return;
      running.delete(id);
      removeFrom(byNumber, one.deviceId, one);
      removeFrom(byAccount, one.account, one);
    },
    busyChats,
    slotsLeft,
    mayBegin: ({ id, deviceId, chat }) =>
      !running.has(id) && slotsLeft(deviceId) > 0 && !busyChats(deviceId).includes(chat),
    idle: () => Promise.all(Array.from(running.values(), ({ ended }) => ended)),
  };
}

function addTo<K>(groups: Map<K, Set<Running>>, key: K, one: Running): void {
  const group = groups.get(key) ?? new Set();
  groups.set(key, group.add(one));
}

function removeFrom<K>(groups: Map<K, Set<Running>>, key: K, one: Running): void {
  const group = groups.get(key);
  group?.delete(one);
  if (group?.size === 0) groups.delete(key);
}
