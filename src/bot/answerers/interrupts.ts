import type { Answer, Answerer, TrailEntry } from "../../model/answerer.ts";
import type { Statement } from "../../model/statement.ts";
import type { Bindings } from "../bindings/bindings.ts";
import { lazyView } from "../messages/message-view.ts";
import { scopeOf } from "../sessions/scope.ts";
import type { BotState } from "../sessions/state.ts";
import type { Ask } from "./asking.ts";
import { handlerOf } from "./attempts.ts";

interface InterruptsDeps {
  bindings: Pick<Bindings, "tableOf">;
  state: Pick<BotState, "adopt" | "dialogue">;
  ask: Ask;
}

/** Words that are heard before anything else, also while a person has the chat. */
export function createInterrupts({ bindings, state, ask }: InterruptsDeps): Answerer["answer"] {
  return async (stored, { paused, notes, onInterrupt }): Promise<Answer> => {
    const view = lazyView(stored.message);
    const trail: TrailEntry[] = [];
    const statements: Statement[] = [];
    const table = bindings.tableOf(stored.deviceId);
    for (const candidate of table.interrupts(stored.message)) {
      const { endsHandoff, pattern } = candidate.route;
      if ((paused && !endsHandoff) || notes.failedBots.has(candidate.bot.id)) continue;
      await state.adopt(table.renamed, stored);
      const under = await state.dialogue(stored.deviceId, scopeOf(stored.message));
      const work = handlerOf(candidate);
      const result = await ask(candidate, stored, `interrupt:${pattern}`, work, null, view, under, {
        onInterrupt,
      });
      trail.push(...result.trail);
      if (result.kind !== "answered" && result.kind !== "ended") {
        statements.push(...result.statements);
        if (result.kind !== "passed") notes.failedBots.add(candidate.bot.id);
        continue;
      }
      const chat = result.answer.chat ?? {};
      // Who hands over again has not ended it.
      if (paused && chat.takeoverUntil === undefined) chat.takeoverEnded = true;
      return { ...result.answer, trail, chat, statements: [...statements, ...result.statements] };
    }
    return { kind: "pass", trail, statements };
  };
}
