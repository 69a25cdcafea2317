import { botDialogues } from "../../drizzle/schema.ts";
import { placeOf, type Place } from "../model/page.ts";
import { defineQuery, integer } from "../store/query.ts";
import type { Reading, Store } from "../store/store.ts";
import { chatsSeen } from "./seen.ts";
import { shownAddress } from "./shown.ts";
import { walk } from "../store/walk.ts";

/** A dialogue of a bot that is under way. Times are Unix milliseconds. */
export interface OpenDialogue {
  /** As `number` of a send takes it. */
  chat: string;
  /** In a group who is being talked to, as it is shown; null in every other chat. */
  participant: string | null;
  bot: string;
  /** Its name in the bot: of a form, a menu, a flow. */
  dialogue: string;
  /** When it last went on. */
  updatedAt: number;
  /** When it ends by itself; null: never. */
  expiresAt: number | null;
}

/** Which dialogues of a number are wanted. */
export interface DialogueFilter {
  deviceId: number;
  limit: number;
  before?: string | undefined;
  /** Whether a chat may be seen, by its names as they are shown, the canonical one first; null: all may. */
  allowed: ((names: string[]) => boolean) | null;
}

/** One page of dialogues, those that went on last first. */
export interface DialoguePage {
  total: number | null;
  next: string | null;
  dialogues: OpenDialogue[];
}

/** Dialogues that are under way. */
export interface Dialogues {
  list(filter: DialogueFilter): Promise<DialoguePage>;
}

const OPEN = defineQuery(
  `SELECT rowid AS row, updated_at AS at, device_id, scope, bot_id, dialogue, expires_at
  FROM bot_dialogues WHERE device_id = ?1 AND dialogue <> '' AND (updated_at, rowid) < (?2, ?3)
  ORDER BY updated_at DESC, rowid DESC LIMIT ?4`,
  {
    row: integer(),
    at: integer(),
    deviceId: botDialogues.deviceId,
    scope: botDialogues.scope,
    bot: botDialogues.botId,
    dialogue: botDialogues.dialogue,
    expiresAt: botDialogues.expiresAt,
  },
);

/** Reads what bots have stored; what was asked and answered stays sealed. */
export function createDialogues(store: Pick<Reading, "read"> & Pick<Store, "now">): Dialogues {
  return {
    async list({ deviceId, limit, before, allowed }) {
      let from: Place = placeOf(before);
      const more = async (count: number) => {
        const rows = await store.read(OPEN, [deviceId, from.at, from.row, count]);
        from = rows.at(-1) ?? from;
        // Of a group the writer stands behind the chat.
        return rows.map((row) => {
          const [chat, participant = null] = row.scope.split("|");
          return { ...row, chat: chat!, participant };
        });
      };
      const now = store.now();
      const accept = async (some: Awaited<ReturnType<typeof more>>) => {
        const open = some.filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
        return allowed === null ? open : chatsSeen(store, open, allowed);
      };
      const { items, next } = await walk(from, limit, more, accept);
      return {
        total: before === undefined && next === null ? items.length : null,
        next,
        dialogues: items.map(({ chat, participant, bot, dialogue, at, expiresAt }) => ({
          chat: shownAddress(chat),
          participant: participant && shownAddress(participant),
          bot,
          dialogue,
          updatedAt: at,
          expiresAt,
        })),
      };
    },
  };
}
