import type { ChatChange, AddressedDraft, StoredMessage } from "../../model/answerer.ts";
import { DAY_MS, MINUTE_MS, type Time } from "../../model/time.ts";
import type { Statement } from "../../model/statement.ts";
import type { Effects } from "./effects.ts";
import { lostInJson } from "../json.ts";
import { milliseconds } from "../duration.ts";
import type { HandlerOutcome } from "./run.ts";
import { toDrafts, type ToDraftsDeps } from "./to-drafts.ts";
import type { Scope } from "../sessions/scope.ts";
import { SessionRefused } from "../sessions/sessions.ts";
import { validate } from "../standard-schema.ts";
import type { BotState, StoredDialogue, StoredSession } from "../sessions/state.ts";
import { EXPIRE, REMIND, WAKE, type TimerBody } from "../timers/timer-rows.ts";
import type { Bot, Idle, OwnTimer } from "../types.ts";

interface ToRowsDeps extends ToDraftsDeps {
  state: BotState;
  time: Pick<Time, "now" | "after">;
  config: { takeoverMinutes: number };
}

/** What of a bot's chat was there before the handler ran. */
export interface Before {
  scope: Scope;
  session: StoredSession | null;
  /** JSON of the session that the handler was given, to see whether it changed. */
  given: string | null;
  /** The dialogue that this turn belongs to or that is under way beside it. */
  dialogue: StoredDialogue | null;
}

/** What the message's commit needs of a handler that answered. */
export interface AnswerRows {
  replies: AddressedDraft[];
  statements: Statement[];
  chat: ChatChange;
}

type Answered = Extract<HandlerOutcome, { kind: "answered" }>;

const DEFAULT_EXPIRY_MS = DAY_MS;

/** Turns what a handler asked for into rows. Nothing has happened yet when it throws. */
export async function toRows(
  deps: ToRowsDeps,
  bot: Bot,
  stored: StoredMessage,
  before: Before,
  { effects, session, turn }: Answered,
): Promise<AnswerRows> {
  const { state, time } = deps;
  const { deviceId, message } = stored;
  const statements: Statement[] = [];
  statements.push(...(await sessionRows(deps, bot, deviceId, before, effects, session)));
  statements.push(...timerRows(state, bot, stored, before.scope, effects));
  if (effects.store !== null) statements.push(...(await state.storeRows(deviceId, bot, effects.store)));
  if (turn !== null && turn.botTurn.kind !== "pass")
    statements.push(...ownTimerRows(deps, bot, stored, before.scope, turn.botTurn.timers ?? []));
  // What went on beside the chat's dialogue leaves that as it is.
  if (turn?.botTurn.kind !== "aside" && (turn !== null || effects.dialogue === null)) {
    // A route was not told which dialogue is under way: only who begins or ends one must know.
    const dialogue = before.dialogue ?? (await state.dialogue(deviceId, before.scope));
    statements.push(
      ...(turn === null
        ? endRows(state, deviceId, dialogue?.botId ?? bot.id, before.scope)
        : dialogueRows(deps, bot, stored, { ...before, dialogue }, turn)),
    );
  }
  const replies = inTime(stored, await toDrafts(deps, stored, effects));
  const handoffMs = effects.handoffMs === null ? deps.config.takeoverMinutes * MINUTE_MS : effects.handoffMs;
  const chat: ChatChange =
    handoffMs === undefined ? {} : { takeoverUntil: time.now() + Math.max(MINUTE_MS, handoffMs) };
  if (message.chatKind === "channel" && turn !== null)
    throw new TypeError("Dialogues need a contact; a channel has none.");
  return { replies, statements, chat };
}

function timerRows(
  state: BotState,
  bot: Bot,
  stored: StoredMessage,
  scope: Scope,
  { timers }: Effects,
): Statement[] {
  const { deviceId } = stored;
  return [...timers].flatMap(([key, timer]) => {
    if (timer === null) return state.cancelTimer(deviceId, bot.id, scope, key);
    const { dueAt, data, expiresAt, keeps } = timer;
    const body = { ...bodyOf(stored, data), ...(expiresAt !== null && { expiresAt }) };
    const set = keeps ? state.setTimerUnlessSet : state.setTimer;
    return set(deviceId, bot.id, scope, { key, dueAt, body });
  });
}

/** Also of a session that looks unchanged: what JSON does not see, it does not see change either. */
function refuseLoss(session: unknown): void {
  const lost = lostInJson(session);
  if (lost !== null) throw new SessionRefused(`cannot be kept: ${lost}`);
}

async function sessionRows(
  { state, time }: ToRowsDeps,
  bot: Bot,
  deviceId: number,
  { scope, session: old, given }: Before,
  { locale }: Effects,
  session: unknown,
): Promise<Statement[]> {
  const options = bot.session;
  if (options !== null) refuseLoss(session);
  const changed = options !== null && JSON.stringify(session) !== given;
  if (!changed && locale === undefined) return [];
  let value: unknown = old?.value ?? null;
  if (changed) {
    const read = options.schema ? await validate(options.schema, session) : { value: session };
    if ("problems" in read) throw new SessionRefused(`does not fit its schema: ${read.problems.join("; ")}`);
    value = read.value;
    refuseLoss(value);
  }
  const ttl = options?.ttl ?? null;
  return state.saveSession(deviceId, bot.id, scope, {
    version: changed ? options.version : (old?.version ?? 1),
    value,
    locale: locale ?? old?.locale ?? null,
    expiresAt: ttl === null ? null : time.now() + ttl,
  });
}

function dialogueRows(
  { state, time }: ToRowsDeps,
  bot: Bot,
  stored: StoredMessage,
  { scope, dialogue: under }: Before,
  { dialogue, botTurn, begun }: NonNullable<Answered["turn"]>,
): Statement[] {
  const { deviceId } = stored;
  if (botTurn.kind !== "continue") return under === null ? [] : endRows(state, deviceId, under.botId, scope);
  const idle: Idle = bot.dialogues.get(dialogue)?.idle ?? {};
  const { wakeAt } = botTurn;
  const expiryMs = idle.expire === undefined ? DEFAULT_EXPIRY_MS : milliseconds(idle.expire, "idle.expire");
  const expiresAt = Math.max(time.now(), wakeAt ?? 0) + expiryMs;
  const body = bodyOf(stored, { dialogue, begun });
  const timers = [{ key: EXPIRE, dueAt: expiresAt, body }];
  if (wakeAt !== undefined) timers.push({ key: WAKE, dueAt: wakeAt, body });
  const isReminder = stored.message.timer?.key === REMIND;
  if (idle.remind !== undefined && !isReminder && wakeAt === undefined)
    timers.push({ key: REMIND, dueAt: time.now() + milliseconds(idle.remind, "idle.remind"), body });
  // One row is the chat's dialogue: it takes the place of another bot's, whose timers end with it.
  const isOthers = under !== null && under.botId !== bot.id;
  return [
    ...(isOthers ? state.setDialogueTimers(deviceId, under.botId, scope, []) : []),
    ...state.saveDialogue(deviceId, scope, { botId: bot.id, dialogue, state: botTurn.state, expiresAt }),
    ...state.setDialogueTimers(deviceId, bot.id, scope, timers),
  ];
}

/** What flows beside one another set, end and wake, in this order. Nothing is read: a row may be on its way to run meanwhile. */
function ownTimerRows(
  { state, time }: ToRowsDeps,
  bot: Bot,
  stored: StoredMessage,
  scope: Scope,
  timers: readonly OwnTimer[],
): Statement[] {
  const { deviceId, inboxId } = stored;
  return timers.flatMap((timer, index) => {
    if ("sentTo" in timer) {
      const { sentTo: to, signal } = timer;
      return signal === undefined
        ? state.forgetSignals(deviceId, bot.id, scope, to)
        : state.putSignal(deviceId, bot.id, scope, { to, id: `${inboxId}-${index}`, signal });
    }
    const { key, at } = timer;
    if (at === null) return state.cancelTimer(deviceId, bot.id, scope, key);
    if (at === "now") return state.hurryTimer(deviceId, bot.id, scope, key, time.now());
    const body = bodyOf(stored, timer.data);
    return state.setTimer(deviceId, bot.id, scope, { key, dueAt: at, body });
  });
}

/** The dialogue and its timers are gone. */
export function endRows(state: BotState, deviceId: number, botId: string, scope: Scope): Statement[] {
  return [...state.endDialogue(deviceId, scope), ...state.setDialogueTimers(deviceId, botId, scope, [])];
}

/** What a timer needs to run in the message's chat. */
export function bodyOf({ message }: StoredMessage, data: unknown): TimerBody {
  const { chat, chatKey, chatKind, sender, number, lid, pushName, participant } = message;
  return { chat, chatKey, chatKind, sender, number, lid, pushName, participant, data: data ?? null };
}

/** What a timer says is not wanted any more after the time up to which the timer was. */
function inTime({ message: { timer } }: StoredMessage, replies: AddressedDraft[]): AddressedDraft[] {
  const notAfter = timer?.expiresAt;
  if (notAfter === undefined) return replies;
  return replies.map(({ draft, ...reply }) => {
    const until = Math.min(notAfter, draft.notAfter ?? notAfter);
    return { ...reply, draft: { ...draft, notAfter: until } };
  });
}
