import type { Row } from "@libsql/client";
import type { Statement, Store } from "../store/store.ts";
import type { Scope } from "./scope.ts";

/** What keys of Parley's own timers begin with. */
export const OWN_TIMERS = "dialogue:";
/** Keys of timers that Parley sets for dialogues. */
export const REMIND = `${OWN_TIMERS}remind`;
export const EXPIRE = `${OWN_TIMERS}expire`;

/** A session as it was stored. */
export interface StoredSession {
  version: number;
  /** Null when only the language is kept. */
  value: unknown;
  locale: string | null;
}

/** A dialogue that is under way. */
export interface StoredDialogue {
  botId: string;
  dialogue: string;
  state: Record<string, unknown>;
  /** Unix milliseconds, or null. */
  expiresAt: number | null;
}

/** What a timer needs to run: where, for whom, and what the bot gave it. */
export interface TimerBody {
  chat: string;
  chatKey: string;
  chatKind: string;
  sender: string;
  number: string | null;
  lid: string | null;
  pushName: string;
  participant: string | null;
  data: unknown;
}

export interface DueTimer {
  id: number;
  deviceId: number;
  botId: string;
  key: string;
  dueAt: number;
  /** Null: the row does not open, and never will. */
  body: TimerBody | null;
}

/** Rows of bots. Everything that changes is a statement for the message's own commit, but `keepStep`. */
export interface BotState {
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
  setTimer(
    deviceId: number,
    botId: string,
    scope: Scope,
    timer: { key: string; dueAt: number; body: TimerBody },
  ): Statement[];
  /** As `setTimer`, unless the bot has set it anew meanwhile. */
  postponeTimer(
    deviceId: number,
    botId: string,
    scope: Scope,
    timer: { key: string; dueAt: number; body: TimerBody },
  ): Statement[];
  cancelTimer(deviceId: number, botId: string, scope: Scope, key: string): Statement[];
  /** Timers that are due, oldest first. */
  dueTimers(now: number, limit: number): Promise<DueTimer[]>;
  /** Unix milliseconds of the next timer, or null. */
  nextTimer(): Promise<number | null>;
  steps(inboxId: number, botId: string): Promise<Map<string, unknown>>;
  /** Committed at once. */
  keepStep(step: {
    inboxId: number;
    deviceId: number;
    botId: string;
    key: string;
    value: unknown;
  }): Promise<void>;
  forgetSteps(inboxId: number): Statement;
  /** Erases sessions and dialogues whose time is over. */
  expired(now: number): Statement[];
}

const SCOPES = "device_id = ? AND scope IN (?, ?)";
const SESSION = `SELECT scope, version, value, locale FROM bot_sessions WHERE ${SCOPES} AND bot_id = ?
AND (expires_at IS NULL OR expires_at > ?) ORDER BY updated_at DESC LIMIT 1`;
const PUT_SESSION = `INSERT INTO bot_sessions (device_id, bot_id, scope, version, value, locale, expires_at, updated_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (device_id, bot_id, scope) DO UPDATE SET version = excluded.version,
value = excluded.value, locale = excluded.locale, expires_at = excluded.expires_at, updated_at = excluded.updated_at`;
const DIALOGUE = `SELECT scope, bot_id, dialogue, state, expires_at FROM bot_dialogues WHERE ${SCOPES}
ORDER BY updated_at DESC LIMIT 1`;
const PUT_DIALOGUE = `INSERT INTO bot_dialogues (device_id, scope, bot_id, dialogue, state, expires_at, updated_at)
VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (device_id, scope) DO UPDATE SET bot_id = excluded.bot_id,
dialogue = excluded.dialogue, state = excluded.state, expires_at = excluded.expires_at, updated_at = excluded.updated_at`;
const PUT_TIMER = `INSERT INTO bot_timers (device_id, bot_id, scope, key, body, due_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (device_id, bot_id, scope, key) DO UPDATE SET body = excluded.body, due_at = excluded.due_at`;
const POSTPONE = `INSERT INTO bot_timers (device_id, bot_id, scope, key, body, due_at) SELECT ?1, ?2, ?3, ?4, ?5, ?6
WHERE NOT EXISTS (SELECT 1 FROM bot_timers WHERE device_id = ?1 AND bot_id = ?2 AND scope IN (?3, ?7) AND key = ?4)`;
const DUE =
  "SELECT id, device_id, bot_id, scope, key, body, due_at FROM bot_timers WHERE due_at <= ? ORDER BY due_at, id LIMIT ?";
const DAY_MS = 24 * 3_600_000;
const PUT_STEP = `INSERT INTO bot_steps (inbox_id, device_id, bot_id, key, value) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (inbox_id, bot_id, key) DO NOTHING`;

const LOCALES = "SELECT DISTINCT device_id, bot_id FROM bot_sessions WHERE locale IS NOT NULL";

const both = ({ key, alias }: Scope): [string, string] => [key, alias ?? key];

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

/** @param onTimer told when a timer is about to be stored: Unix milliseconds at which it is due */
export function createBotState(
  { box, rows, writer, now, clock }: Store,
  onTimer?: (dueAt: number) => void,
): BotState {
  const opened = <T>(row: Row, column: string, context: string): T =>
    box.openJson<T>(new Uint8Array(row[column] as ArrayBuffer), context);

  let chosen: Promise<Set<string>> | null = null;
  const withLocales = (): Promise<Set<string>> =>
    (chosen ??= rows(LOCALES, []).then(
      (found) => new Set(found.map((row) => `${Number(row.device_id)}:${String(row.bot_id)}`)),
      (error: unknown) => {
        chosen = null;
        throw error;
      },
    ));
  const rememberLocale = (bot: string): Promise<unknown> =>
    withLocales().then(
      (known) => known.add(bot),
      () => undefined,
    );

  return {
    async keepsLocales(deviceId, botId) {
      return (await withLocales()).has(`${deviceId}:${botId}`);
    },

    async session(deviceId, botId, scope) {
      const [row] = await rows(SESSION, [deviceId, ...both(scope), botId, now()]);
      if (row === undefined) return null;
      const value =
        row.value === null
          ? null
          : opened(row, "value", `bot_session:${deviceId}:${botId}:${String(row.scope)}`);
      return { version: Number(row.version), value, locale: row.locale === null ? null : String(row.locale) };
    },

    saveSession(deviceId, botId, scope, { version, value, locale, expiresAt }) {
      // Too many is harmless: a row that was not committed after all is looked for in vain.
      if (locale !== null) void rememberLocale(`${deviceId}:${botId}`);
      const sealed =
        value === null ? null : box.sealJson(value, `bot_session:${deviceId}:${botId}:${scope.key}`);
      return [
        ...dropAlias("bot_sessions", deviceId, scope, [botId]),
        { sql: PUT_SESSION, args: [deviceId, botId, scope.key, version, sealed, locale, expiresAt, now()] },
      ];
    },

    async dialogue(deviceId, scope) {
      const [row] = await rows(DIALOGUE, [deviceId, ...both(scope)]);
      if (row === undefined) return null;
      return {
        botId: String(row.bot_id),
        dialogue: String(row.dialogue),
        state: opened(row, "state", `bot_dialogue:${deviceId}:${String(row.scope)}`),
        expiresAt: row.expires_at === null ? null : Number(row.expires_at),
      };
    },

    saveDialogue(deviceId, scope, { botId, dialogue, state, expiresAt }) {
      const sealed = box.sealJson(state, `bot_dialogue:${deviceId}:${scope.key}`);
      return [
        ...dropAlias("bot_dialogues", deviceId, scope),
        { sql: PUT_DIALOGUE, args: [deviceId, scope.key, botId, dialogue, sealed, expiresAt, now()] },
      ];
    },

    endDialogue: (deviceId, scope) => [
      { sql: `DELETE FROM bot_dialogues WHERE ${SCOPES}`, args: [deviceId, ...both(scope)] },
    ],

    postponeTimer(deviceId, botId, scope, { key, dueAt, body }) {
      onTimer?.(dueAt);
      const sealed = box.sealJson(body, timerContext(deviceId, botId, scope.key, key));
      const args = [deviceId, botId, scope.key, key, sealed, dueAt, scope.alias ?? scope.key];
      return [{ sql: POSTPONE, args }];
    },

    setTimer(deviceId, botId, scope, { key, dueAt, body }) {
      onTimer?.(dueAt);
      const sealed = box.sealJson(body, timerContext(deviceId, botId, scope.key, key));
      return [
        ...cancelRow(deviceId, botId, scope, key),
        { sql: PUT_TIMER, args: [deviceId, botId, scope.key, key, sealed, dueAt] },
      ];
    },

    cancelTimer: cancelRow,

    async dueTimers(at, limit) {
      const due = await rows(DUE, [at, limit]);
      return due.map((row) => {
        const [deviceId, botId, key] = [Number(row.device_id), String(row.bot_id), String(row.key)];
        const context = timerContext(deviceId, botId, String(row.scope), key);
        const timer = { id: Number(row.id), deviceId, botId, key, dueAt: Number(row.due_at) };
        try {
          return { ...timer, body: opened<TimerBody>(row, "body", context) };
        } catch {
          return { ...timer, body: null };
        }
      });
    },

    async nextTimer() {
      const [row] = await rows("SELECT min(due_at) AS at FROM bot_timers", []);
      return row?.at == null ? null : Number(row.at);
    },

    async steps(inboxId, botId) {
      const found = await rows(
        "SELECT device_id, key, value FROM bot_steps WHERE inbox_id = ? AND bot_id = ?",
        [inboxId, botId],
      );
      return new Map(
        found.map((row) => [
          String(row.key),
          opened<{ value?: unknown }>(row, "value", stepContext(inboxId, botId, String(row.key))).value,
        ]),
      );
    },

    async keepStep({ inboxId, deviceId, botId, key, value }) {
      // Wrapped: a step may well have nothing to say.
      const sealed = box.sealJson({ value }, stepContext(inboxId, botId, key));
      await writer.commit([{ sql: PUT_STEP, args: [inboxId, deviceId, botId, key, sealed] }]);
    },

    forgetSteps: (inboxId) => ({ sql: "DELETE FROM bot_steps WHERE inbox_id = ?", args: [inboxId] }),

    expired: (at) =>
      clock.isTrusted()
        ? [
            { sql: "DELETE FROM bot_sessions WHERE expires_at <= ?", args: [at] },
            // A timer ends a dialogue; what is left after a day belonged to a bot that is gone.
            { sql: "DELETE FROM bot_dialogues WHERE expires_at <= ?", args: [at - DAY_MS] },
          ]
        : [],
  };
}

const timerContext = (deviceId: number, botId: string, scope: string, key: string): string =>
  `bot_timer:${deviceId}:${botId}:${scope}:${key}`;

const stepContext = (inboxId: number, botId: string, key: string): string =>
  `bot_step:${inboxId}:${botId}:${key}`;

function cancelRow(deviceId: number, botId: string, scope: Scope, key: string): Statement[] {
  return [
    {
      sql: `DELETE FROM bot_timers WHERE ${SCOPES} AND bot_id = ? AND key = ?`,
      args: [deviceId, ...both(scope), botId, key],
    },
  ];
}
