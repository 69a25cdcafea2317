import type { Logger } from "../log.ts";
import { GatewayError } from "../model/errors/errors.ts";
import { defineQuestion, type Cluster } from "../model/nodes/cluster.ts";
import { SECOND_MS } from "../model/time.ts";
import { isWorthLogging } from "../store/write/owned.ts";
import type { Statement, Store } from "../store/store.ts";
import type { SendOutcome, WhatsAppConnection } from "../whatsapp/port.ts";
import type { ChatChange, ChatSettings, LastMessage } from "../whatsapp/port/chats.ts";
import { connected } from "./connected.ts";

export type { ChatSettings, LastMessage } from "../whatsapp/port/chats.ts";
export { FOR_EVER } from "../whatsapp/port/chats.ts";

/** What is to be changed of a chat. */
export interface ChangedChat {
  /** All addresses of the chat, the canonical one first. */
  keys: readonly string[];
  settings: ChatSettings;
  /** Its newest message. */
  last: LastMessage | null;
}

/** How phones show chats. */
export interface ChatSettingsBook {
  /** @throws UNAVAILABLE while the number is not connected; WHATSAPP_REFUSED */
  change(deviceId: number, asked: ChangedChat): Promise<null>;
  /** Of a chat with a person. @throws UNAVAILABLE, RATE_LIMITED, NOT_ON_WHATSAPP, WHATSAPP_REFUSED */
  setTimer(deviceId: number, asked: { keys: readonly string[]; seconds: number }): Promise<null>;
  /** The phone, or another companion, has changed chats. Nothing waits for it. */
  told(deviceId: number, changes: readonly ChatChange[]): void;
  /** Resolves when what was told is stored, or could not be. */
  idle(): Promise<void>;
}

interface ChatSettingsDeps {
  store: Pick<Store, "writer" | "now">;
  log: Logger;
  cluster: Cluster;
  canonicalChat(deviceId: number, jid: string): Promise<string>;
  /** Null unless the number is open. */
  connection: (deviceId: number) => Pick<WhatsAppConnection, "changeChat" | "setTimer"> | null;
}

const DEADLINE_MS = 25 * SECOND_MS;
const CHANGE = defineQuestion<ChangedChat, null>("directory.change-chat", DEADLINE_MS);
const SET_TIMER = defineQuestion<{ keys: readonly string[]; seconds: number }, null>(
  "directory.set-timer",
  DEADLINE_MS,
);
/** The app state of an old phone names thousands of chats. */
const AT_ONCE = 100;
/** After WhatsApp's own refusal, which does not say for how long. */
const LIMITED_S = 300;

const KEEP = `INSERT INTO chat_settings (device_id, chat, archived, pinned, muted_until, unread, updated_at)
SELECT ?1, ?2, coalesce(?3, 0), coalesce(?4, 0), ?5, coalesce(?7, 0), ?8 WHERE EXISTS (SELECT 1 FROM devices WHERE id = ?1)
ON CONFLICT (device_id, chat) DO UPDATE SET archived = coalesce(?3, archived), pinned = coalesce(?4, pinned),
muted_until = CASE WHEN ?6 THEN ?5 ELSE muted_until END, unread = coalesce(?7, unread), updated_at = ?8`;

/** Whichever node is asked, the number's own one does it, and follows what the phone does. */
export function createChatSettings(deps: ChatSettingsDeps): ChatSettingsBook {
  const { store, log, cluster, canonicalChat, connection } = deps;
  const { bus } = cluster;
  let writing = Promise.resolve();

  const keep = (deviceId: number, chat: string, settings: ChatSettings): Statement => {
    const { archived, pinned, mutedUntil, unread } = settings;
    const flags = [archived ?? null, pinned ?? null, mutedUntil ?? null, mutedUntil !== undefined];
    return { sql: KEEP, args: [deviceId, chat, ...flags, unread ?? null, store.now()] };
  };

  async function follow(deviceId: number, changes: readonly ChatChange[]): Promise<void> {
    for (let from = 0; from < changes.length; from += AT_ONCE) {
      const statements: Statement[] = [];
      for (const { jid, ...settings } of changes.slice(from, from + AT_ONCE))
        statements.push(keep(deviceId, await canonicalChat(deviceId, jid), settings));
      await store.writer.commit(statements, { owning: null });
    }
  }

  bus.answer(CHANGE, async (deviceId, { keys, settings, last }) => {
    const [chat] = keys;
    await connected(connection(deviceId))
      .changeChat(chat!, settings, last)
      .catch((error: unknown) => {
        log.warn({ err: error, device: deviceId }, "WhatsApp did not take a change of a chat");
        throw new GatewayError(
          "WHATSAPP_REFUSED",
          "The phone does not take the change now. Open WhatsApp on it, and try again.",
        );
      });
    // What is put away is not on top any more.
    const shown = settings.archived === true ? { pinned: false, ...settings } : settings;
    await store.writer.commit([keep(deviceId, chat!, shown)], { owning: null });
    return null;
  });
  bus.answer(SET_TIMER, async (deviceId, { keys, seconds }) => {
    const chat = keys.find((key) => key.endsWith("@lid")) ?? keys[0]!;
    const outcome = await connected(connection(deviceId)).setTimer(chat, [...keys], seconds);
    if (outcome.kind !== "sent") throw refusal(outcome);
    return null;
  });

  return {
    change: (deviceId, asked) => bus.ask(CHANGE, deviceId, asked),
    setTimer: (deviceId, asked) => bus.ask(SET_TIMER, deviceId, asked),
    told(deviceId, changes) {
      writing = writing
        .then(() => follow(deviceId, changes))
        .catch((err: unknown) => {
          if (isWorthLogging(err))
            log.warn({ err, device: deviceId }, "could not store how the phone shows its chats");
        });
    },
    idle: () => writing,
  };
}

function refusal(outcome: Exclude<SendOutcome, { kind: "sent" }>): GatewayError {
  if (outcome.kind === "limited")
    return new GatewayError("RATE_LIMITED", "WhatsApp wants fewer messages. Wait five minutes.", {
      retryAfter: LIMITED_S,
    });
  if (outcome.kind === "unknown")
    return new GatewayError("UNAVAILABLE", "WhatsApp did not answer in time. Try again soon.", {
      retryAfter: 5,
    });
  if (outcome.reason === "not_on_whatsapp")
    return new GatewayError("NOT_ON_WHATSAPP", "Nobody has this number on WhatsApp.");
  return new GatewayError("WHATSAPP_REFUSED", "WhatsApp did not take the change.", {
    extra: { whatsapp_code: outcome.code },
  });
}
