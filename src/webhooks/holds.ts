import type { Statement, Store } from "../store/store.ts";

/** Chats that a webhook keeps for itself (`hold: seconds`), so that no bot's keyword cuts into its dialogue. */
export interface Holds {
  /** Reads what is held. Call it before the first message. */
  load(): Promise<void>;
  holds(deviceId: number, chat: string): boolean;
  /** Holds from now on, 0 lets go; in force at once, kept by the statement. */
  keep(deviceId: number, chat: string, seconds: number): Statement;
  /** The webhook is gone, and the rows with it: it holds nothing any more. */
  forget(deviceId: number): void;
  /** The clock was set back by so many milliseconds: what is held is not held longer for it. */
  onClockMoved(ms: number): void;
}

const KEEP = `insert into chat_state (device_id, chat, held_until) values (?, ?, ?)
  on conflict (device_id, chat) do update set held_until = excluded.held_until`;

export function createHolds(store: Store): Holds {
  /** Number → chat → Unix milliseconds. In memory: every message asks. */
  const until = new Map<number, Map<string, number>>();

  function set(deviceId: number, chat: string, at: number): void {
    const chats = until.get(deviceId) ?? new Map<string, number>();
    until.set(deviceId, chats.set(chat, at));
  }

  return {
    async load() {
      const sql = "select device_id, chat, held_until from chat_state where held_until > ?";
      const rows = await store.rows(sql, [store.now()]);
      for (const row of rows) set(Number(row.device_id), String(row.chat), Number(row.held_until));
    },

    holds(deviceId, chat) {
      const at = until.get(deviceId)?.get(chat);
      if (at === undefined) return false;
      if (store.now() < at) return true;
      until.get(deviceId)!.delete(chat);
      return false;
    },

    keep(deviceId, chat, seconds) {
      const at = seconds > 0 ? store.now() + seconds * 1000 : null;
      set(deviceId, chat, at ?? 0);
      return { sql: KEEP, args: [deviceId, chat, at] };
    },

    forget: (deviceId) => void until.delete(deviceId),

    onClockMoved(ms) {
      const ahead = store.now() + ms / 2;
      for (const chats of until.values())
        for (const [chat, at] of chats) if (at > ahead) chats.set(chat, at - ms);
    },
  };
}
