import { botDialogues, botSessions, botSteps, inbox } from "../../../drizzle/schema.ts";
import { DAY_MS } from "../../model/time.ts";
import { defineQuery } from "../../store/query.ts";
import type { Statement, Store } from "../../store/store.ts";
import { createFormerNames, type FormerNames } from "./former-names.ts";
import { IN_SCOPE, keysOf, type Scope } from "./scope.ts";
import { dialogueContext, sessionContext, stepContext } from "./sealed-for.ts";
import { createSignalRows, type SignalRows } from "../timers/signal-rows.ts";
import { createStoreRows, type StoreRows } from "./store-rows.ts";
import { createTimerRows, type TimerRows } from "../timers/timer-rows.ts";

/** A session as it was stored. */
export interface StoredSession {
  version: number;
  /** Null when only the language is kept. */
  value: unknown;
  locale: string | null;
}

/** What a step gave. */
export interface KeptStep {
  value?: unknown;
  /** Rows of the messages that it was done for, when they were several. */
  together?: readonly number[];
}

/** A dialogue that is under way. */
export interface StoredDialogue {
  botId: string;
  dialogue: string;
  state: Record<string, unknown>;
  /** Unix milliseconds, or null. */
  expiresAt: number | null;
}

/** Rows of bots. Everything that changes is a statement for the message's own commit, but `keepStep`. */
export interface BotState extends TimerRows, SignalRows, StoreRows {
  session(deviceId: number, botId: string, scope: Scope): Promise<StoredSession | null>;
  saveSession(
    deviceId: number,
    botId: string,
    scope: Scope,
    session: StoredSession & { expiresAt: number | null },
  ): Statement[];
  /** Whether a chat may have chosen its language for this bot: then there are rows even when it keeps no session. */
  keepsLocales(deviceId: number, botId: string): Promise<boolean>;
  dialogue(deviceId: number, scope: Scope): Promise<StoredDialogue | null>;
  saveDialogue(deviceId: number, scope: Scope, dialogue: StoredDialogue): Statement[];
  endDialogue(deviceId: number, scope: Scope): Statement[];
  steps(inboxId: number, botId: string): Promise<Map<string, KeptStep>>;
  /** Committed at once. */
  keepStep(step: {
    inboxId: number;
    deviceId: number;
    botId: string;
    key: string;
    value: unknown;
    together: readonly number[];
  }): Promise<void>;
  forgetSteps(inboxId: number): Statement;
  /** Row of a message that came in this chat, by the message's id; null when it is not stored any more. */
  received(deviceId: number, scope: Scope, messageId: string): Promise<number | null>;
  /** Before anything of the message's chat is read, for bots that had another id. */
  adopt: FormerNames["adopt"];
  /**
   * Erases what nobody comes back for: sessions, dialogues and kept values whose time is over, and steps of messages that are
   * decided. Each statement takes at most
   * {@link EXPIRED_AT_ONCE} rows: one that took so many is to be run again.
   */
  expired(now: number): Statement[];
}

const SESSION = defineQuery(
  `SELECT scope, version, value, locale FROM bot_sessions WHERE ${IN_SCOPE} AND bot_id = ?
AND (expires_at IS NULL OR expires_at > ?) ORDER BY updated_at DESC LIMIT 1`,
  {
    scope: botSessions.scope,
    version: botSessions.version,
    value: botSessions.value,
    locale: botSessions.locale,
  },
);
const PUT_SESSION = `INSERT INTO bot_sessions (device_id, bot_id, scope, version, value, locale, expires_at, updated_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (device_id, bot_id, scope) DO UPDATE SET version = excluded.version,
value = excluded.value, locale = excluded.locale, expires_at = excluded.expires_at, updated_at = excluded.updated_at`;
const DIALOGUE = defineQuery(
  `SELECT scope, bot_id, dialogue, state, expires_at FROM bot_dialogues WHERE ${IN_SCOPE}
ORDER BY updated_at DESC LIMIT 1`,
  {
    scope: botDialogues.scope,
    botId: botDialogues.botId,
    dialogue: botDialogues.dialogue,
    state: botDialogues.state,
    expiresAt: botDialogues.expiresAt,
  },
);
const RECEIVED = defineQuery(
  "SELECT id FROM inbox WHERE device_id = ? AND wa_id = ? AND chat IN (?, ?) AND from_me = 0 LIMIT 1",
  { id: inbox.id },
);
// As many as the bot has made for one message.
const STEPS = defineQuery("SELECT key, value FROM bot_steps WHERE inbox_id = ? AND bot_id = ?", {
  key: botSteps.key,
  value: botSteps.value,
});
const PUT_DIALOGUE = `INSERT INTO bot_dialogues (device_id, scope, bot_id, dialogue, state, expires_at, updated_at)
VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (device_id, scope) DO UPDATE SET bot_id = excluded.bot_id,
dialogue = excluded.dialogue, state = excluded.state, expires_at = excluded.expires_at, updated_at = excluded.updated_at`;
/** Rows that one statement of `expired` takes at most. */
export const EXPIRED_AT_ONCE = 200;
const some = (table: string, condition: string): string =>
  `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE ${condition} LIMIT ${EXPIRED_AT_ONCE})`;
// A bot that was switched off between two attempts does not clear up after itself.
const DECIDED = "NOT EXISTS (SELECT 1 FROM inbox i WHERE i.id = bot_steps.inbox_id AND i.state = 'pending')";
const PUT_STEP = `INSERT INTO bot_steps (inbox_id, device_id, bot_id, key, value) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (inbox_id, bot_id, key) DO NOTHING`;

// From one bot to the next: not one row of the many people who have chosen a language is read.
const NEXT_WITH_LOCALES = defineQuery(
  `SELECT device_id, bot_id FROM bot_sessions INDEXED BY bot_sessions_locale
WHERE locale IS NOT NULL AND (device_id, bot_id) > (?, ?) ORDER BY device_id, bot_id LIMIT ?`,
  { deviceId: botSessions.deviceId, botId: botSessions.botId },
);

const behindBot = (last: { deviceId: number; botId: string } | null) => [
  last?.deviceId ?? 0,
  last?.botId ?? "",
];

/** A chat that was known by its LID only goes on under its number: what stood there is replaced. */
const dropAlias = (
  table: string,
  deviceId: number,
  { alias }: Scope,
  more: Statement["args"] = [],
): Statement[] =>
  alias === null
    ? []
    : [
        {
          sql: `DELETE FROM ${table} WHERE device_id = ? AND scope = ?${more.length > 0 ? " AND bot_id = ?" : ""}`,
          args: [deviceId, alias, ...more],
        },
      ];

/** Bots whose chats have chosen a language, of all numbers. */
function rememberLocales(pages: Store["pages"]) {
  let chosen: Promise<Set<string>> | null = null;
  async function readLocales(): Promise<Set<string>> {
    const found = new Set<string>();
    for await (const [row] of pages(NEXT_WITH_LOCALES, behindBot, 1))
      found.add(`${row!.deviceId}:${row!.botId}`);
    return found;
  }
  const known = (): Promise<Set<string>> =>
    (chosen ??= readLocales().catch((error: unknown) => {
      chosen = null;
      throw error;
    }));
  const remember = (bot: string): Promise<unknown> =>
    known().then(
      (bots) => bots.add(bot),
      () => undefined,
    );
  return { known, remember };
}

/** What steps of messages that are not decided yet have given. */
const stepRows = ({
  box,
  read,
  writer,
}: Pick<Store, "box" | "read" | "writer">): Pick<BotState, "steps" | "keepStep" | "forgetSteps"> => ({
  async steps(inboxId, botId) {
    const found = await read(STEPS, [inboxId, botId]);
    return new Map(
      found.map(({ key, value }) => [key, box.openJson<KeptStep>(value, stepContext(inboxId, botId, key))]),
    );
  },

  async keepStep({ inboxId, deviceId, botId, key, value, together }) {
    // Wrapped: a step may well have nothing to say.
    const sealed = box.sealJson(
      { value, ...(together.length > 1 && { together }) },
      stepContext(inboxId, botId, key),
    );
    const kept = { sql: PUT_STEP, args: [inboxId, deviceId, botId, key, sealed] };
    await writer.commit([kept], { owning: deviceId });
  },

  forgetSteps: (inboxId) => ({ sql: "DELETE FROM bot_steps WHERE inbox_id = ?", args: [inboxId] }),
});

/** @param onTimer told when a timer is stored: Unix milliseconds at which it is due */
export function createBotState(
  store: Pick<Store, "box" | "read" | "readOne" | "pages" | "writer" | "now" | "clock">,
  onTimer?: (deviceId: number, dueAt: number) => void,
): BotState {
  const { box, readOne, pages, now, clock } = store;

  const { known: withLocales, remember: rememberLocale } = rememberLocales(pages);

  return {
    ...createTimerRows(store, onTimer),
    ...createSignalRows(store),
    ...createFormerNames(store, (deviceId, botId) => void rememberLocale(`${deviceId}:${botId}`)),
    ...createStoreRows(store),

    async keepsLocales(deviceId, botId) {
      return (await withLocales()).has(`${deviceId}:${botId}`);
    },

    async session(deviceId, botId, scope) {
      const row = await readOne(SESSION, [deviceId, ...keysOf(scope), botId, now()]);
      if (row === null) return null;
      const { version, locale } = row;
      const context = sessionContext(deviceId, botId, row.scope);
      return { version, value: row.value && box.openJson(row.value, context), locale };
    },

    saveSession(deviceId, botId, scope, { version, value, locale, expiresAt }) {
      // Too many is harmless: a row that was not committed after all is looked for in vain.
      if (locale !== null) void rememberLocale(`${deviceId}:${botId}`);
      const sealed = value === null ? null : box.sealJson(value, sessionContext(deviceId, botId, scope.key));
      return [
        ...dropAlias("bot_sessions", deviceId, scope, [botId]),
        { sql: PUT_SESSION, args: [deviceId, botId, scope.key, version, sealed, locale, expiresAt, now()] },
      ];
    },

    async dialogue(deviceId, scope) {
      const row = await readOne(DIALOGUE, [deviceId, ...keysOf(scope)]);
      if (row === null) return null;
      const { botId, dialogue, expiresAt } = row;
      const context = dialogueContext(deviceId, row.scope);
      return { botId, dialogue, state: box.openJson(row.state, context), expiresAt };
    },

    saveDialogue(deviceId, scope, { botId, dialogue, state, expiresAt }) {
      const sealed = box.sealJson(state, dialogueContext(deviceId, scope.key));
      return [
        ...dropAlias("bot_dialogues", deviceId, scope),
        { sql: PUT_DIALOGUE, args: [deviceId, scope.key, botId, dialogue, sealed, expiresAt, now()] },
      ];
    },

    endDialogue: (deviceId, scope) => [
      { sql: `DELETE FROM bot_dialogues WHERE ${IN_SCOPE}`, args: [deviceId, ...keysOf(scope)] },
    ],

    ...stepRows(store),

    async received(deviceId, scope, messageId) {
      // In a group, a scope is one writer of the chat.
      const [chat, alias] = keysOf(scope).map((key) => key.split("|")[0]!) as [string, string];
      return (await readOne(RECEIVED, [deviceId, messageId, chat, alias]))?.id ?? null;
    },

    expired: (at) =>
      clock.isTrusted()
        ? [
            { sql: some("bot_sessions", "expires_at <= ?"), args: [at] },
            // A timer ends a dialogue; what is left after a day belonged to a bot that is gone.
            { sql: some("bot_dialogues", "expires_at <= ?"), args: [at - DAY_MS] },
            { sql: some("bot_store", "expires_at <= ?"), args: [at] },
            { sql: some("bot_steps", DECIDED), args: [] },
          ]
        : [],
  };
}
