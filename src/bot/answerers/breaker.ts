import { createLru } from "../../model/lru.ts";

/** A bot that keeps failing on a number is left out for a while, so that its time limits do not slow every chat down. */
export interface BotBreaker {
  isOpen(deviceId: number, botId: string): boolean;
  /** @returns true when this failure has opened it */
  failed(deviceId: number, botId: string): boolean;
  succeeded(deviceId: number, botId: string): void;
}

const MOST_FAILURES = 5;
const WITHIN_MS = 60_000;
const BREAKER_PAUSE_MS = 60_000;

interface FailureRecord {
  failedAt: number[];
  openUntil: number;
}

const keyOf = (deviceId: number, botId: string): string => `${deviceId}:${botId}`;

/** @param now milliseconds */
export function createBreaker(now: () => number): BotBreaker {
  const records = createLru<string, FailureRecord>(5_000);

  return {
    isOpen(deviceId, botId) {
      const left = (records.get(keyOf(deviceId, botId))?.openUntil ?? 0) - now();
      // A clock that was set back must not make a pause longer than any is.
      return left > 0 && left <= BREAKER_PAUSE_MS;
    },
    failed(deviceId, botId) {
      const key = keyOf(deviceId, botId);
      const record = records.get(key) ?? { failedAt: [], openUntil: 0 };
      record.failedAt = [...record.failedAt.filter((at) => at > now() - WITHIN_MS && at <= now()), now()];
      records.set(key, record);
      if (record.failedAt.length < MOST_FAILURES) return false;
      record.openUntil = now() + BREAKER_PAUSE_MS;
      record.failedAt = [];
      return true;
    },
    succeeded: (deviceId, botId) => void records.delete(keyOf(deviceId, botId)),
  };
}

/** Answered messages of one bot in one chat, for `limits.repliesPerChat`. Not stored: a restart begins to count anew. */
export interface ReplyRates {
  allows(key: string, rate: { count: number; ms: number }): boolean;
  count(key: string): void;
}

/** Counts for at most 20,000 chats of a bot; those without a recent answer are forgotten first. */
export function createReplyRates(now: () => number): ReplyRates {
  const answered = createLru<string, number[]>(20_000);
  return {
    allows(key, { count, ms }) {
      const recent = (answered.get(key) ?? []).filter((at) => at > now() - ms && at <= now());
      answered.set(key, recent);
      return recent.length < count;
    },
    count(key) {
      answered.set(key, [...(answered.get(key) ?? []), now()]);
    },
  };
}
