import type { StoredMessage } from "../../model/answerer.ts";
import type { Bindings } from "../bindings/bindings.ts";
import type { Blocking } from "../handlers/blocking.ts";
import { createBreaker, createReplyRates } from "./breaker.ts";
import type { Elsewhere } from "../handlers/effects.ts";
import type { Attempt } from "./newer.ts";
import type { Restart } from "../handlers/restart.ts";
import type { Work } from "../handlers/run.ts";
import type { StoredDialogue } from "../sessions/state.ts";
import type { ActiveBot } from "../routes/table.ts";
import type { TurnResult } from "../handlers/turn-results.ts";
import { createTurns, type TurnInput, type TurnsDeps } from "../handlers/turns.ts";
import type { Message } from "../types.ts";

/** Its trail entry says that all of a bot is left out because it holds everybody up. */
export const LEFT_OUT = "blocks_everybody";

/** What asking a bot takes. */
interface AskingDeps extends Omit<TurnsDeps, "hasDialogue"> {
  bindings: Pick<Bindings, "tableOf">;
  blocking: Blocking;
}

/** How bots are asked. */
export interface Asking {
  /** Asks one bot, unless it has failed too often or answers this chat too often. */
  askOnce(attempt: Attempt, restart?: Restart): Promise<TurnResult>;
  /** The same where nothing is begun anew. */
  ask: Ask;
}

/** See {@link Asking}. */
export type Ask = (...asked: AskedOnce) => Promise<Ended>;

type Answered = Extract<TurnResult, { kind: "answered" }>;
type Ended = Exclude<TurnResult, { kind: "restarted" }>;
type AskedOnce = [
  active: ActiveBot,
  message: StoredMessage,
  label: string,
  work: Work,
  match: unknown,
  view: () => Message,
  dialogue: StoredDialogue | null,
  more?: Pick<TurnInput, "onInterrupt" | "firstReply">,
];

/** Joins the turns of bots with what keeps a bot from being asked. */
export function createAsking(deps: AskingDeps): Asking {
  const { bindings, blocking, log, time } = deps;
  const breaker = createBreaker(time.now);
  const rates = createReplyRates(time.now);
  const hasDialogue = (deviceId: number, botId: string, dialogue: string): boolean =>
    bindings.tableOf(deviceId).bot(botId)?.bot.dialogues.has(dialogue) ?? false;
  const turns = createTurns({ ...deps, hasDialogue });

  async function askOnce(
    { active, message: stored, ...question }: Attempt,
    restart?: Restart,
  ): Promise<TurnResult> {
    const { bot } = active;
    const { label } = question;
    const { deviceId, message } = stored;
    const by = `bot:${bot.id}`;
    const notAsked = (detail: string): TurnResult => ({
      kind: "skipped",
      trail: [{ by, outcome: "not_asked", route: label, detail }],
      statements: [],
    });
    if (blocking.isLeftOut(bot.id)) return notAsked(LEFT_OUT);
    if (breaker.isOpen(deviceId, bot.id)) return notAsked("circuit_open");
    const chat = `${deviceId}:${bot.id}:${message.chatKey}`;
    if (bot.rate !== null && !rates.allows(chat, bot.rate)) return notAsked("rate_limited");
    const result = await turns.run(active, stored, { ...question, ...(restart && { restart }) });
    if (result.kind === "failed" || result.kind === "ended") {
      if (breaker.failed(deviceId, bot.id))
        log.error({ bot: bot.id, device: deviceId }, "a bot keeps failing; it is skipped for a minute");
    }
    // Passing a message on proves nothing: a bot may do so in one route and fail in the next.
    if (result.kind === "answered") breaker.succeeded(deviceId, bot.id);
    if (result.kind === "answered" && bot.rate !== null) rates.count(chat);
    if (result.kind === "answered" && result.begins !== null)
      return withBegun(result, result.begins, stored, question.view);
    return result;
  }

  /**
   * Another bot begins its dialogue, behind what was said. Both are one answer, in one commit; when it cannot begin, what was said
   * stands, and where nothing was said, the bot has failed and the next is asked.
   */
  async function withBegun(
    result: Answered,
    { bot, dialogue, input }: Elsewhere,
    stored: StoredMessage,
    view: () => Message,
  ): Promise<TurnResult> {
    const active = bindings.tableOf(stored.deviceId).bot(bot);
    const known = active?.bot.dialogues.get(dialogue);
    if (active === null || known === undefined) return result;
    const work: Work = { handler: (ctx) => ctx.start(known as never, input as never) };
    const firstReply = result.answer.replies.length;
    const label = `${known.kind}:${known.id}`;
    const begun = await askOnce({
      active,
      message: stored,
      label,
      work,
      match: null,
      view,
      dialogue: null,
      firstReply,
    });
    return joined(result, begun);
  }

  return {
    askOnce,
    ask: (active, message, label, work, match, view, dialogue, more) =>
      askOnce({ active, message, label, work, match, view, dialogue, ...more }) as Promise<Ended>,
  };
}

/** What was said, and what the dialogue says that begins behind it, as one answer. */
function joined(said: Answered, begun: TurnResult): TurnResult {
  const { answer } = said;
  const trail = [...said.trail, ...begun.trail];
  if (begun.kind !== "answered") {
    return answer.replies.length > 0
      ? { ...said, trail, answer: { ...answer, trail } }
      : { kind: "failed", trail, statements: [] };
  }
  const statements = [...said.statements, ...begun.statements];
  const replies = [...answer.replies, ...begun.answer.replies];
  const chat = { ...answer.chat, ...begun.answer.chat };
  return { ...said, trail, statements, answer: { ...answer, replies, trail, statements, chat } };
}
