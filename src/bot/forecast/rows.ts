import { botBindings, botDialogues, botSessions, botTimers } from "../../../drizzle/schema.ts";
import { defineQuery, integer } from "../../store/query.ts";
import type { Reading } from "../../store/store.ts";
import { EXPIRE } from "../timers/timer-rows.ts";

const DIALOGUES = defineQuery(
  `SELECT d.device_id, d.scope, d.bot_id, d.dialogue, d.state, d.expires_at,
(SELECT t.body FROM bot_timers t WHERE t.device_id = d.device_id AND t.bot_id = d.bot_id AND t.scope = d.scope AND t.key = '${EXPIRE}') AS timer,
(SELECT s.locale FROM bot_sessions s WHERE s.device_id = d.device_id AND s.bot_id = d.bot_id AND s.scope = d.scope) AS locale
FROM bot_dialogues d WHERE (d.device_id, d.scope) > (?, ?) ORDER BY d.device_id, d.scope LIMIT ?`,
  {
    deviceId: botDialogues.deviceId,
    scope: botDialogues.scope,
    botId: botDialogues.botId,
    dialogue: botDialogues.dialogue,
    state: botDialogues.state,
    expiresAt: botDialogues.expiresAt,
    timer: botSessions.value,
    locale: botSessions.locale,
  },
);
const SESSIONS = defineQuery(
  `SELECT rowid AS id, device_id, bot_id, scope, version, value, expires_at FROM bot_sessions
WHERE rowid > ? ORDER BY rowid LIMIT ?`,
  {
    id: integer(),
    deviceId: botSessions.deviceId,
    botId: botSessions.botId,
    scope: botSessions.scope,
    version: botSessions.version,
    value: botSessions.value,
    expiresAt: botSessions.expiresAt,
  },
);
const TIMERS = defineQuery(
  "SELECT id, device_id, bot_id, scope, key, body FROM bot_timers WHERE id > ? ORDER BY id LIMIT ?",
  {
    id: botTimers.id,
    deviceId: botTimers.deviceId,
    botId: botTimers.botId,
    scope: botTimers.scope,
    key: botTimers.key,
    body: botTimers.body,
  },
);
const BINDINGS = defineQuery(
  `SELECT device_id, bot_id, enabled, config FROM bot_bindings
WHERE (device_id, bot_id) > (?, ?) ORDER BY device_id, bot_id LIMIT ?`,
  {
    deviceId: botBindings.deviceId,
    botId: botBindings.botId,
    enabled: botBindings.enabled,
    config: botBindings.config,
  },
);

type Pages<Row> = AsyncGenerator<Row, void, undefined>;
type RowOf<Query> = Query extends { decode(result: never): (infer Row)[] } ? Row : never;

/** A dialogue that is under way, with the timer that ends it and the chat's language. */
export type DialogueRow = RowOf<typeof DIALOGUES>;
/** A session as it is stored. */
export type SessionRow = RowOf<typeof SESSIONS>;
/** A timer, a dialogue's own among them. */
export type TimerRow = RowOf<typeof TIMERS>;
/** What is said of a bot at a number. */
export type BindingRow = RowOf<typeof BINDINGS>;

/** Everything that bots have stored, row by row, in pages. */
export interface StoredRows {
  dialogues(): Pages<DialogueRow>;
  sessions(): Pages<SessionRow>;
  timers(): Pages<TimerRow>;
  bindings(): Pages<BindingRow>;
}

/** @param between called after each page */
export function storedRows({ pages }: Pick<Reading, "pages">, between: () => Promise<void>): StoredRows {
  async function* each<Row>(all: AsyncGenerator<Row[], void, undefined>): Pages<Row> {
    for await (const page of all) {
      yield* page;
      await between();
    }
  }
  return {
    dialogues: () => each(pages(DIALOGUES, (row) => [row?.deviceId ?? 0, row?.scope ?? ""])),
    sessions: () => each(pages(SESSIONS, (row) => [row?.id ?? 0])),
    timers: () => each(pages(TIMERS, (row) => [row?.id ?? 0])),
    bindings: () => each(pages(BINDINGS, (row) => [row?.deviceId ?? 0, row?.botId ?? ""])),
  };
}
