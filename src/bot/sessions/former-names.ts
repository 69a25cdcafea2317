import { botDialogues, botSessions, botSteps, botTimers } from "../../../drizzle/schema.ts";
import type { StoredMessage } from "../../model/answerer.ts";
import type { Statement } from "../../model/statement.ts";
import { defineQuery } from "../../store/query.ts";
import type { Store } from "../../store/store.ts";
import type { Binding } from "../bindings/binding-input.ts";
import { keysOf, scopeOf } from "./scope.ts";
import { sessionContext, stepContext, timerContext } from "./sealed-for.ts";
import type { Bot } from "../types.ts";

/** What is bound, under today's ids: what is said of a bot by its present id counts before what was said by an earlier one. */
export function byTodaysName(
  bindings: ReadonlyMap<string, Binding>,
  renamed: ReadonlyMap<string, string>,
): ReadonlyMap<string, Binding> {
  if (renamed.size === 0) return bindings;
  const today = new Map<string, Binding>();
  for (const [id, binding] of bindings) {
    const now = renamed.get(id);
    if (now === undefined) today.set(id, binding);
    else if (!bindings.has(now)) today.set(now, { ...binding, id: now });
  }
  return today;
}

/** Rows of a chat that were stored under an earlier id of a bot. */
export interface FormerNames {
  /**
   * Gives the chat's rows today's ids, once for each chat, before anything of them is read: a rename costs nothing for chats
   * in which nobody writes, however many there are. What has a row under today's id already stays where it is.
   */
  adopt(renamed: readonly Bot[], stored: StoredMessage): Promise<void>;
}

/** Of one bot in one chat; who has more gets the rest with the next message. */
const AT_ONCE = 500;
/** Chats that are known to be done; whoever is forgotten is looked up once more. */
const MOST_KNOWN = 10_000;

const NAMES = "bot_id IN (SELECT value FROM json_each(?)) AND scope IN (?, ?)";
const SESSIONS = defineQuery(
  `SELECT bot_id, scope, value, locale FROM bot_sessions WHERE device_id = ? AND ${NAMES} LIMIT ${AT_ONCE}`,
  {
    botId: botSessions.botId,
    scope: botSessions.scope,
    value: botSessions.value,
    locale: botSessions.locale,
  },
);
const TIMERS = defineQuery(
  `SELECT bot_id, scope, key, body FROM bot_timers WHERE device_id = ? AND ${NAMES} LIMIT ${AT_ONCE}`,
  { botId: botTimers.botId, scope: botTimers.scope, key: botTimers.key, body: botTimers.body },
);
const DIALOGUES = defineQuery(
  `SELECT bot_id, scope FROM bot_dialogues WHERE device_id = ? AND ${NAMES} LIMIT ${AT_ONCE}`,
  { botId: botDialogues.botId, scope: botDialogues.scope },
);
const STEPS = defineQuery(
  `SELECT bot_id, key, value FROM bot_steps WHERE inbox_id = ? AND bot_id IN (SELECT value FROM json_each(?)) LIMIT ${AT_ONCE}`,
  { botId: botSteps.botId, key: botSteps.key, value: botSteps.value },
);

/** @param onLocale told of each bot that a chat has chosen a language for */
export function createFormerNames(
  { box, read, writer }: Pick<Store, "box" | "read" | "writer">,
  onLocale: (deviceId: number, botId: string) => void,
): FormerNames {
  const done = new Set<string>();

  async function rowsOf(
    { id, was }: Bot,
    { deviceId, inboxId, message }: StoredMessage,
  ): Promise<Statement[]> {
    const names = JSON.stringify(was);
    const args = [deviceId, names, ...keysOf(scopeOf(message))];
    const [sessions, timers, dialogues, steps] = await Promise.all([
      read(SESSIONS, args),
      read(TIMERS, args),
      read(DIALOGUES, args),
      read(STEPS, [inboxId, names]),
    ]);
    if (sessions.some(({ locale }) => locale !== null)) onLocale(deviceId, id);
    return renamings(box, { deviceId, inboxId, id }, { sessions, timers, dialogues, steps });
  }

  return {
    async adopt(renamed, stored) {
      for (const bot of renamed) {
        const which = [stored.deviceId, ...keysOf(scopeOf(stored.message)), bot.id, ...bot.was].join("\n");
        if (done.has(which)) continue;
        const statements = await rowsOf(bot, stored);
        if (statements.length > 0) await writer.commit(statements, { owning: stored.deviceId });
        if (statements.length >= AT_ONCE) continue;
        if (done.size >= MOST_KNOWN) done.clear();
        done.add(which);
      }
    },
  };
}

/** Rows under an earlier id of a bot, as they were read. */
interface FormerRows {
  sessions: readonly { botId: string; scope: string; value: Buffer | null }[];
  timers: readonly { botId: string; scope: string; key: string; body: Buffer | null }[];
  dialogues: readonly { botId: string; scope: string }[];
  steps: readonly { botId: string; key: string; value: Buffer | null }[];
}

/** The statements that give these rows the id of today. */
function renamings(
  box: Store["box"],
  { deviceId, inboxId, id }: { deviceId: number; inboxId: number; id: string },
  { sessions, timers, dialogues, steps }: FormerRows,
): Statement[] {
  /** Sealed for another row; as it is when it does not open, which whoever reads it says. */
  const resealed = (value: Buffer | null, from: string, to: string): Buffer | null => {
    if (value === null) return null;
    try {
      return box.seal(box.open(value, from), to);
    } catch {
      return value;
    }
  };
  return [
    ...sessions.map(({ botId, scope, value }) => ({
      sql: "UPDATE OR IGNORE bot_sessions SET bot_id = ?, value = ? WHERE device_id = ? AND bot_id = ? AND scope = ?",
      args: [
        id,
        resealed(value, sessionContext(deviceId, botId, scope), sessionContext(deviceId, id, scope)),
        deviceId,
        botId,
        scope,
      ],
    })),
    ...timers.map(({ botId, scope, key, body }) => ({
      sql: "UPDATE OR IGNORE bot_timers SET bot_id = ?, body = ? WHERE device_id = ? AND bot_id = ? AND scope = ? AND key = ?",
      args: [
        id,
        resealed(body, timerContext(deviceId, botId, scope, key), timerContext(deviceId, id, scope, key)),
        deviceId,
        botId,
        scope,
        key,
      ],
    })),
    ...dialogues.map(({ botId, scope }) => ({
      sql: "UPDATE bot_dialogues SET bot_id = ? WHERE device_id = ? AND scope = ? AND bot_id = ?",
      args: [id, deviceId, scope, botId],
    })),
    ...steps.map(({ botId, key, value }) => ({
      sql: "UPDATE OR IGNORE bot_steps SET bot_id = ?, value = ? WHERE inbox_id = ? AND bot_id = ? AND key = ?",
      args: [
        id,
        resealed(value, stepContext(inboxId, botId, key), stepContext(inboxId, id, key)),
        inboxId,
        botId,
        key,
      ],
    })),
  ];
}
