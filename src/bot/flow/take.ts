import { chosen } from "../dialogues/choices.ts";
import { wordsIn } from "../dialogues/words.ts";
import type { AnyContext, DialogueHost } from "../types/context.ts";
import type { Turn } from "../types/dialogue.ts";
import { advance } from "./advance.ts";
import type { FlowCode } from "./code.ts";
import { nameOf, readRepair } from "./repair.ts";
import { readState, type FlowState } from "./state.ts";

/** Reads a message in an open flow: as an answer, as a wish to go back or to stop, or as none of its business. */
export async function take(
  code: FlowCode,
  ctx: AnyContext,
  stored: unknown,
  host: DialogueHost,
): Promise<Turn> {
  const { policy } = code;
  const state = readState(stored);
  if (state === null) return { kind: "end", note: "what is stored is no flow's" };
  const { open } = state;
  if (open !== null && ctx.message.type === "edit") return edited(ctx, state);
  if (open === null || !policy.isAnswer(ctx)) return { kind: "pass" };
  const isOffered = open.shown.options !== null && chosen(ctx, open.shown) !== null;
  if (!isOffered && policy.isCancel(ctx)) {
    ctx.reply(policy.say(ctx, "cancelled"));
    return { kind: "end", note: "cancelled" };
  }
  const repair = isOffered ? null : readRepair(ctx, state);
  const turn = { ctx, host, hasChat: true, mayAsk: true };
  if (repair === null)
    return advance(code, state, { ...turn, push: { kind: "answer" }, note: `${open.key} answered` });
  const key = repair.kind === "reopen" ? repair.key : null;
  const note = key === null ? `${open.key} repeated` : `${key} reopened`;
  const push = { kind: "asked_again" } as const;
  return advance(code, key === null ? state : reopened(state, key), { ...turn, push, note });
}

/** What was done with an answer is done: its message may be changed, the answer is changed by asking for it. */
function edited(ctx: AnyContext, state: FlowState): Turn {
  const used = state.entries.find(
    ({ kind, message }) => kind === "answer" && message !== undefined && message === ctx.message.targetId,
  );
  if (used === undefined) return { kind: "pass" };
  ctx.reply(wordsIn(ctx.locale).edited.replace("{name}", () => nameOf(used.key)));
  return { kind: "continue", state, note: `a change of ${used.key} is not applied` };
}

/** The answer under a key is forgotten, and its question open again; all else that was answered stays. */
function reopened(state: FlowState, key: string): FlowState {
  const entries = state.entries.filter((entry) => entry.key !== key);
  const shown = { text: "", options: null };
  return { ...state, entries, open: { key, shown, tries: 0, isReopened: true } };
}
