import type { Delivery } from "../rows.ts";

/** Attempts of this process that are under way. */
export interface RunningAttempts {
  readonly count: number;
  /** Resolves with the attempt of a delivery; undefined when there is none. */
  of(id: string): Promise<void> | undefined;
  begun(delivery: Pick<Delivery, "id" | "deviceId" | "chat">, ended: Promise<void>): void;
  ended(id: string): void;
  /** Chats of a number with an attempt: the next of a chat comes after it. */
  busyChats(deviceId: number): string[];
  slotsLeft(deviceId: number): number;
  mayBegin(delivery: Pick<Delivery, "id" | "deviceId" | "chat">): boolean;
  /** Resolves when all have ended that are under way now. */
  idle(): Promise<unknown>;
}

/** @param slots how many attempts of a number may be made at the same time */
export function createRunningAttempts(slots: (deviceId: number) => number): RunningAttempts {
  const running = new Map<string, { deviceId: number; chat: string; ended: Promise<void> }>();
  const ofNumber = (deviceId: number) => [...running.values()].filter((item) => item.deviceId === deviceId);
  const busyChats = (deviceId: number): string[] => ofNumber(deviceId).map(({ chat }) => chat);
  const slotsLeft = (deviceId: number): number => slots(deviceId) - ofNumber(deviceId).length;
  return {
    get count() {
      return running.size;
    },
    of: (id) => running.get(id)?.ended,
    begun: ({ id, deviceId, chat }, ended) => void running.set(id, { deviceId, chat, ended }),
    ended: (id) => void running.delete(id),
    busyChats,
    slotsLeft,
    mayBegin: ({ id, deviceId, chat }) =>
      !running.has(id) && slotsLeft(deviceId) > 0 && !busyChats(deviceId).includes(chat),
    idle: () => Promise.all([...running.values()].map(({ ended }) => ended)),
  };
}
