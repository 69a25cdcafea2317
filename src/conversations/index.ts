import { boolean, defineQuery } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import { createChatList, type ChatList, type ChatNames } from "./chats.ts";
import { settingsOf, type ShownSettings } from "./chat-settings.ts";
import { createDialogues, type Dialogues } from "./dialogues.ts";
import { createLookUp, type LookUp } from "./lookup.ts";
import { createMessages, type Messages } from "./messages.ts";
import type { Contents } from "./records.ts";
import { createUnread, type Unread } from "./unread.ts";
import { canonicalChats, keysOfChats } from "./same-chat.ts";
import { createTraces, type Traces } from "./trace.ts";
import type { DerivedIds } from "./trace-rows.ts";

/** What was written, as people look at it: messages of both directions, and the chats that they are in. */
export interface Conversations {
  messages: Messages;
  chats: ChatList;
  traces: Traces;
  dialogues: Dialogues;
  /** Under which keys things of a chat are stored, the canonical one first. @param jid its address in any form */
  keysOf(deviceId: number, jid: string): Promise<string[]>;
  lookUp: LookUp;
  unread: Unread;
  /** How the number's phone shows the chat. @param keys all of its keys, the canonical one first */
  settingsOf(deviceId: number, keys: readonly string[]): Promise<ShownSettings>;
  /** Whether something was ever written in the chat. @param keys all of its keys */
  isKnown(deviceId: number, keys: readonly string[]): Promise<boolean>;
}

const KEYS = "(SELECT value FROM json_each(?2))";
const KNOWN = defineQuery(
  `SELECT 1 AS found WHERE EXISTS (SELECT 1 FROM inbox WHERE device_id = ?1 AND chat IN ${KEYS})
  OR EXISTS (SELECT 1 FROM outbox WHERE device_id = ?1 AND chat IN ${KEYS})`,
  { found: boolean() },
);

/** Reads what `inbox/`, `outbox/` and `pipeline/` have stored; changes nothing. */
export function createConversations(
  store: Pick<Store, "read" | "readOne" | "now">,
  contents: Contents & ChatNames,
  ids: DerivedIds,
): Conversations {
  return {
    messages: createMessages(store, contents),
    chats: createChatList(store, contents, contents),
    traces: createTraces(store, ids),
    dialogues: createDialogues(store),
    async keysOf(deviceId, chat) {
      const canonical = await canonicalChats(store, [{ deviceId, chat }]);
      const [keys] = await keysOfChats(store, [{ deviceId, chat: canonical({ deviceId, chat }) }]);
      return keys!;
    },
    lookUp: createLookUp(store, contents),
    unread: createUnread(store, contents),
    async settingsOf(deviceId, keys) {
      const places = JSON.stringify(keys.map((key) => [0, deviceId, key]));
      return (await settingsOf(store, places, () => keys[0]!.endsWith("@g.us")))(0);
    },
    isKnown: async (deviceId, keys) =>
      (await store.readOne(KNOWN, [deviceId, JSON.stringify(keys)])) !== null,
  };
}
