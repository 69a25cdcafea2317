import { devices, outbox } from "../../drizzle/schema.ts";
import { ENDED_STATES, SENT_STATES, type SentState } from "../model/messages.ts";
import { defineQuery, text, type Query } from "../store/query.ts";
import { joinIntakes, type Intake } from "../store/write/intake.ts";
import type { Store } from "../store/store.ts";
import type { SendError } from "./rows.ts";

/** A state that a message of ours has reached. */
export interface ReachedState {
  /** Of its row. */
  outboxId: number;
  deviceId: number;
  /** Number that sends it, digits. */
  sender: string;
  waId: string;
  /** Canonical chat key. */
  chat: string;
  state: SentState;
  /** Unix milliseconds. */
  at: number;
  /** Why it failed or expired; null for all others. */
  error: SendError | null;
}

/** Somebody outside of the gateway who is told what becomes of messages. What telling takes is stored with the state. */
export interface StateListener {
  /** Asked before each change of a state: cheap. */
  listens(deviceId: number): boolean;
  /** @param reached of numbers for which somebody listens, each message's in order */
  reached(reached: ReachedState[]): Intake;
  /** WhatsApp lets a number write to nobody new. @param until Unix milliseconds; null: it does again, before the time that it named */
  locked(deviceId: number, until: number | null): Promise<Intake>;
}

/** What is known of one message: states, and when it got there (Unix milliseconds). */
export interface StateNews {
  deviceId: number;
  waId: string;
  times: Partial<Record<SentState, number>>;
  error?: SendError;
}

const STANDING = defineQuery(
  `SELECT o.id, o.wa_id, o.chat, o.state, d.number AS sender FROM devices d
JOIN outbox o ON o.device_id = d.id AND o.wa_id IN (SELECT value FROM json_each(?2)) WHERE d.id = ?1`,
  {
    id: outbox.id,
    waId: outbox.waId,
    chat: outbox.chat,
    state: text<SentState>(),
    sender: devices.number,
  },
);
type Standing = typeof STANDING extends Query<infer Row> ? Row : never;
const IN_ORDER: SentState[] = [...SENT_STATES, ...ENDED_STATES];

/**
 * What telling of news takes, to be stored in the same commit; null when nobody listens, at once.
 *
 * A state that the row has or has passed is told of no more.
 */
export function tellNews(
  { read }: Pick<Store, "read">,
  listener: StateListener | undefined,
  news: readonly StateNews[],
): Promise<Intake> | null {
  const heard = news.filter(({ deviceId }) => listener?.listens(deviceId));
  if (heard.length === 0) return null;
  const numbers = new Set(heard.map(({ deviceId }) => deviceId));
  return Promise.all(
    [...numbers].map(async (deviceId) => {
      const own = new Map(heard.filter((one) => one.deviceId === deviceId).map((one) => [one.waId, one]));
      const rows = await read(STANDING, [deviceId, JSON.stringify([...own.keys()])]);
      return listener!.reached(rows.flatMap((row) => reachedBy(row, own.get(row.waId)!)));
    }),
  ).then((intakes) => joinIntakes(...intakes));
}

function reachedBy(
  { id: outboxId, state: before, ...row }: Standing,
  { deviceId, times, error }: StateNews,
): ReachedState[] {
  const ended = isEnd(before);
  return IN_ORDER.slice(IN_ORDER.indexOf(before) + 1).flatMap((state): ReachedState[] => {
    const at = times[state];
    if (at === undefined || ended) return [];
    // What was ever sent does not fail any more.
    if (isEnd(state) && before !== "queued") return [];
    return [{ ...row, outboxId, deviceId, state, at, error: (isEnd(state) && error) || null }];
  });
}

const isEnd = (state: SentState): boolean => (ENDED_STATES as readonly SentState[]).includes(state);
