import type { Delivery } from "../rows.ts";

/** Attempts at one receiver that are under way, and how many more it may have. */
export interface AttemptShare {
  /** Resolves with the attempt of a delivery; undefined when there is none. */
  of(id: string): Promise<void> | undefined;
  begun(delivery: Pick<Delivery, "id" | "chat">, ended: Promise<void>): void;
  ended(id: string): void;
  /** Chats with an attempt: the next of a chat comes after it. */
  busyChats(): string[];
  /** A number without any may always have one, until {@link MOST} run. */
  slotsLeft(): number;
  mayBegin(delivery: Pick<Delivery, "id" | "chat">): boolean;
  /** Calls when others have left a slot; whoever asked first is called first. */
  whenRoom(wake: () => void): void;
  /** It waits for no room any more. */
  leave(): void;
  /** Whoever has looked and leaves room lets the next one look. */
  passOn(): void;
  /** Resolves when all have ended that are under way now. */
  idle(): Promise<unknown>;
}

/** Shares of all numbers in the attempts of this process. */
export interface AttemptShares {
  /** @param slots attempts of the number at the same time */
  of(deviceId: number, slots: () => number): AttemptShare;
}

/** Attempts of an account's numbers together, so that an account with many slow receivers leaves room for the others. */
const OF_AN_ACCOUNT = 32;
/** Attempts of all numbers together, beyond the first of each. */
const OF_ALL = 128;
/** No number gets its first beyond this: each holds an event, which may have a picture in it. */
const MOST = 512;

/** What all shares know of one another. */
interface Totals {
  running: number;
  byAccount: Map<string | null, number>;
  /** Those that wait for room, longest first. */
  waiting: Map<Pick<AttemptShare, "slotsLeft">, () => void>;
  /** Whose a number is; null when nobody knows. */
  accountOf(deviceId: number): string | null;
}

interface Running {
  chat: string;
  account: string | null;
  ended: Promise<void>;
}

/** Receivers that are slow delay their own number's events alone. */
export function createAttemptShares(accountOf: (deviceId: number) => string | null): AttemptShares {
  const totals: Totals = { running: 0, byAccount: new Map(), waiting: new Map(), accountOf };
  return { of: (deviceId, slots) => createShare(totals, deviceId, slots) };
}

function createShare(totals: Totals, deviceId: number, slots: () => number): AttemptShare {
  const running = new Map<string, Running>();
  const { waiting } = totals;
  const busyChats = (): string[] => Array.from(running.values(), ({ chat }) => chat);

  function slotsLeft(): number {
    const most = slots();
    const room = roomFor(totals, totals.accountOf(deviceId));
    if (running.size === 0 && most > 0 && totals.running < MOST) return Math.max(1, Math.min(most, room));
    return Math.min(most - running.size, room);
  }

  const share: AttemptShare = {
    of: (id) => running.get(id)?.ended,
    begun({ id, chat }, ended) {
      const account = totals.accountOf(deviceId);
      running.set(id, { chat, account, ended });
      count(totals, account, 1);
    },
    ended(id) {
      const one = running.get(id);
      if (one === undefined) return;
      running.delete(id);
      count(totals, one.account, -1);
      share.passOn();
    },
    busyChats,
    slotsLeft,
    mayBegin: ({ id, chat }) => !running.has(id) && slotsLeft() > 0 && !busyChats().includes(chat),
    whenRoom: (wake) => void waiting.set(share, wake),
    leave: () => void waiting.delete(share),
    passOn() {
      for (const [next, wake] of waiting) {
        if (next.slotsLeft() <= 0) continue;
        waiting.delete(next);
        return wake();
      }
    },
    idle: () => Promise.all(Array.from(running.values(), ({ ended }) => ended)),
  };
  return share;
}

function roomFor({ running, byAccount }: Totals, account: string | null): number {
  return Math.min(OF_AN_ACCOUNT - (byAccount.get(account) ?? 0), OF_ALL - running);
}

function count(totals: Totals, account: string | null, more: 1 | -1): void {
  totals.running += more;
  const left = (totals.byAccount.get(account) ?? 0) + more;
  if (left === 0) totals.byAccount.delete(account);
  else totals.byAccount.set(account, left);
}
