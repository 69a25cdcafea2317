import { defineQuestion, type Cluster } from "../model/nodes/cluster.ts";
import { GatewayError } from "../model/errors/errors.ts";
import { createShortSequence, type ShortSequence } from "../model/shares/sequence.ts";
import { SECOND_MS, type Cancel, type Time } from "../model/time.ts";
import type { WhatsAppConnection } from "../whatsapp/port.ts";
import type { Presence, PresenceState } from "../whatsapp/port/happenings.ts";
import { connected } from "./connected.ts";

/** How somebody is in a chat that is watched. */
export interface PresenceEvent {
  type: "presence";
  deviceId: number;
  /** Canonical key. */
  chat: string;
  /** Canonical address. */
  person: string;
  state: PresenceState;
  /** Unix milliseconds; null: not told. */
  lastSeen: number | null;
  at: number;
}

/** A chat that is to be watched. */
export interface WatchedChat {
  /** All addresses of the chat, the canonical one first. */
  keys: readonly string[];
  seconds: number;
}

/** Watches in chats how people are, for as long as somebody wants to know. */
export interface PresenceWatch {
  /**
   * Nothing is stored: a restart ends it, and so does another owner of the number.
   *
   * @returns until when, Unix milliseconds
   * @throws UNAVAILABLE while the number is not connected; RATE_LIMITED when it watches as many chats as it may
   */
  watch(deviceId: number, asked: WatchedChat): Promise<number>;
  /** How somebody is, whether it is watched or not. */
  seen(deviceId: number, presence: Presence): void;
  /** A new connection has to be told what is watched. */
  online(deviceId: number): void;
  /** Nothing of the number is watched any more. */
  forget(deviceId: number): void;
}

interface PresenceWatchDeps {
  time: Pick<Time, "after" | "now">;
  cluster: Cluster;
  canonicalChat(deviceId: number, jid: string): Promise<string>;
  /** Null unless the number is open. */
  connection: (deviceId: number) => Pick<WhatsAppConnection, "watchPresence" | "goOffline"> | null;
  observe(event: PresenceEvent): void;
}

interface Watched {
  /** Address on the wire. */
  jid: string;
  until: number;
  end: Cancel;
}

const quietly = (work: Promise<void> | null | undefined): void => void work?.catch(() => undefined);

const WATCH = defineQuestion<WatchedChat, number>("directory.watch-presence", 8 * SECOND_MS);
/** WhatsApp tells of all of them at once whenever the connection is made anew. */
const MOST_CHATS = 100;
/** Of one number. Strangers make them: what waits to be told beyond this is told to nobody. */
const MOST_WAITING = 200;

/** Whichever node is asked, the number's own one watches. The number is online while it does: else WhatsApp tells nothing. */
export function createPresenceWatch(deps: PresenceWatchDeps): PresenceWatch {
  const { time, cluster, canonicalChat, connection, observe } = deps;
  /** By number, then by canonical key. */
  const watched = new Map<number, Map<string, Watched>>();
  /** Whose chat it is takes longer to find out of one than of the next: what is said of a number is told in its order. */
  const turns = new Map<number, ShortSequence>();

  function forget(deviceId: number): void {
    watched.delete(deviceId);
    turns.delete(deviceId);
  }

  function ended(deviceId: number, chat: string): void {
    const chats = watched.get(deviceId);
    chats?.get(chat)?.end();
    chats?.delete(chat);
    if (chats?.size !== 0) return;
    forget(deviceId);
    quietly(connection(deviceId)?.goOffline());
  }

  /** From now on, instead of what was said of the chat before. */
  function register(deviceId: number, chat: string, { jid, until }: Pick<Watched, "jid" | "until">): void {
    const chats = watched.get(deviceId) ?? new Map<string, Watched>();
    chats.get(chat)?.end();
    chats.set(chat, { jid, until, end: time.after(until - time.now(), () => ended(deviceId, chat)) });
    watched.set(deviceId, chats);
    if (!turns.has(deviceId)) turns.set(deviceId, createShortSequence(MOST_WAITING));
  }

  cluster.bus.answer(WATCH, async (deviceId, { keys, seconds }) => {
    const line = connected(connection(deviceId));
    const chat = keys[0]!;
    const before = watched.get(deviceId)?.get(chat);
    if (before === undefined) refuseMore(time.now(), watched.get(deviceId));
    const jid = keys.find((key) => key.endsWith("@lid")) ?? chat;
    const until = time.now() + seconds * SECOND_MS;
    // Before WhatsApp has answered: what ends meanwhile must not take the number offline.
    register(deviceId, chat, { jid, until });
    try {
      await line.watchPresence(jid);
    } catch (error) {
      if (before === undefined || before.until <= time.now()) ended(deviceId, chat);
      else register(deviceId, chat, before);
      throw error;
    }
    return until;
  });

  async function tell(deviceId: number, presence: Presence, at: number): Promise<void> {
    const { chat: jid, person, state, lastSeen } = presence;
    const chat = await canonicalChat(deviceId, jid);
    if (watched.get(deviceId)?.has(chat) !== true) return;
    const who = person === jid ? chat : await canonicalChat(deviceId, person);
    observe({ type: "presence", deviceId, chat, person: who, state, lastSeen, at });
  }

  return {
    watch: (deviceId, asked) => cluster.bus.ask(WATCH, deviceId, asked),
    seen(deviceId, presence) {
      const at = time.now();
      quietly(turns.get(deviceId)?.(() => tell(deviceId, presence, at)));
    },
    online(deviceId) {
      for (const { jid } of watched.get(deviceId)?.values() ?? [])
        quietly(connection(deviceId)?.watchPresence(jid));
    },
    forget(deviceId) {
      for (const { end } of watched.get(deviceId)?.values() ?? []) end();
      forget(deviceId);
    },
  };
}

/** @throws RATE_LIMITED */
function refuseMore(now: number, chats: ReadonlyMap<string, Watched> = new Map()): void {
  if (chats.size < MOST_CHATS) return;
  const soonest = Math.min(...[...chats.values()].map(({ until }) => until));
  throw new GatewayError("RATE_LIMITED", `A number watches at most ${MOST_CHATS} chats at a time.`, {
    retryAfter: Math.max(1, Math.ceil((soonest - now) / SECOND_MS)),
  });
}
