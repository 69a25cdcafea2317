import type { Answer, Answered, Answerer, Asked, StoredMessage } from "../../model/answerer.ts";
import type { Time } from "../../model/time.ts";
import type { Bindings } from "../bindings/bindings.ts";
import { dialogueCalled } from "../dialogues/called.ts";
import type { Work } from "../handlers/run.ts";
import { endRows } from "../handlers/to-rows.ts";
import { lazyView } from "../messages/message-view.ts";
import type { ActiveBot, RouteTable } from "../routes/table.ts";
import { scopeOf } from "../sessions/scope.ts";
import type { BotState, StoredDialogue } from "../sessions/state.ts";
import type { createTimerAnswers } from "../timers/timer-answers.ts";
import type { Dialogue } from "../types.ts";
import type { Asking } from "./asking.ts";
import { hostOf, mergedOf } from "./attempts.ts";
import { askWithNewer, type Attempt } from "./newer.ts";

interface ConversationsDeps extends Asking {
  bindings: Pick<Bindings, "tableOf">;
  state: BotState;
  time: Time;
  checksFlows: boolean;
  answerTimer: ReturnType<typeof createTimerAnswers>;
}

/** A dialogue that is under way, as it was stored, and in the code. */
interface UnderWay {
  active: ActiveBot;
  dialogue: Dialogue<never>;
  under: StoredDialogue;
  label: string;
}

const EMPTY: Answer = { kind: "pass", trail: [] };

/** The dialogue that is under way in a chat takes a message first; timers come here too. */
export function createConversations(deps: ConversationsDeps): Answerer["answer"] {
  const { bindings, state, time, answerTimer } = deps;
  return async (stored, asked): Promise<Answer> => {
    const { deviceId, message } = stored;
    const table = bindings.tableOf(deviceId);
    await state.adopt(table.renamed, stored);
    if (message.timer) return answerTimer(table, stored, asked.heldUntil);
    if (!table.active.some(({ bot }) => bot.dialogues.size > 0)) return EMPTY;
    const scope = scopeOf(message);
    const under = await state.dialogue(deviceId, scope);
    if (under === null) return EMPTY;
    const known = dialogueOf(table, under);
    const isOver = under.expiresAt !== null && under.expiresAt <= time.now();
    // A bot that is off here may come back; what it does not know any more cannot go on.
    if (known === null && !isOver && table.bot(under.botId) === null) return EMPTY;
    if (known === null || isOver)
      return { ...EMPTY, statements: endRows(state, deviceId, under.botId, scope) };
    const { active, dialogue } = known;
    if (asked.notes.failedBots.has(active.bot.id)) return EMPTY;
    const label = `${dialogue.kind}:${dialogue.id}`;
    return converse(deps, table, stored, asked, { active, dialogue, under, label });
  };
}

async function converse(
  deps: ConversationsDeps,
  table: RouteTable,
  stored: StoredMessage,
  { notes, waitForMore, onInterrupt }: Asked,
  way: UnderWay,
): Promise<Answer> {
  const { active, dialogue, under, label } = way;
  const attempt = (message: StoredMessage): Attempt => {
    const host = hostOf(table, active, message.message, deps.checksFlows);
    const take = (ctx: Parameters<typeof dialogue.take>[0]) => dialogue.take(ctx, under.state, host);
    const work: Work = { dialogue: dialogue.id, take };
    const view = lazyView(message.message);
    return { active, message, label, work, match: null, view, dialogue: under, onInterrupt };
  };
  const isOthers = ({ message: text }: StoredMessage): boolean =>
    table.interrupts(text).length > 0 || table.isNamed(text);
  const newer = { stored, waitForMore, isOthers, renew: attempt, time: deps.time };
  const { result, merged } = await askWithNewer(attempt(stored), [], newer, deps.askOnce);
  if (result.kind === "answered" || result.kind === "ended") return { ...result.answer, ...mergedOf(merged) };
  if (result.kind === "failed") notes.failedBots.add(active.bot.id);
  if (result.kind === "passed" && dialogue.comeBack !== undefined)
    notes.comeBack = (first) => andBack(deps, stored, first, way);
  return { kind: "pass", trail: result.trail, statements: result.statements };
}

/** A word of a bot was answered while a dialogue waits: after that it says again what it waits for. */
async function andBack(
  { bindings, checksFlows, ask }: ConversationsDeps,
  stored: StoredMessage,
  first: Answered,
  { active, dialogue, under, label }: UnderWay,
): Promise<Answered> {
  const host = hostOf(bindings.tableOf(stored.deviceId), active, stored.message, checksFlows);
  const work: Work = { dialogue: dialogue.id, take: (ctx) => dialogue.comeBack!(ctx, under.state, host) };
  // Middleware has run around the message already, and the session may have changed in that.
  const plain = { ...active, bot: { ...active.bot, middleware: [], session: null } };
  const firstReply = first.replies.length;
  const view = lazyView(stored.message);
  const second = await ask(plain, stored, label, work, null, view, under, { firstReply });
  if (second.kind !== "answered") return first;
  return {
    ...first,
    replies: [...first.replies, ...second.answer.replies],
    trail: [...first.trail, ...second.trail],
    statements: [...(first.statements ?? []), ...second.statements],
  };
}

function dialogueOf(
  table: RouteTable,
  { botId, dialogue }: StoredDialogue,
): { active: ActiveBot; dialogue: Dialogue<never> } | null {
  const active = table.bot(botId);
  const known = active && dialogueCalled(active.bot, dialogue);
  return active && known ? { active, dialogue: known } : null;
}
