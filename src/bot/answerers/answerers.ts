import type { Answer, Answerer, StoredMessage } from "../../model/answerer.ts";
import type { Bindings } from "../bindings/bindings.ts";
import { createBlocking, type Blocking } from "../handlers/blocking.ts";
import type { TurnsDeps } from "../handlers/turns.ts";
import { createTimerAnswers } from "../timers/timer-answers.ts";
import { createAsking } from "./asking.ts";
import { createConversations } from "./conversations.ts";
import { createInterrupts } from "./interrupts.ts";
import { notifyObservers } from "./observers.ts";
import { createRoutes } from "./routes.ts";

/** What asking the bots needs: everything that a turn needs, and which bots a number has. */
export interface BotAnswerersDeps extends Omit<TurnsDeps, "blocking" | "hasDialogue"> {
  /** Which bots each number has. */
  bindings: Pick<Bindings, "tableOf">;
}

/** In the order in which the pipeline asks them; a webhook that holds a chat comes after `interrupts`. */
export interface BotAnswerers {
  /** Observers, which answer nothing. */
  observers: Answerer;
  /** Words that are heard before anything else. */
  interrupts: Answerer;
  /** The dialogue that is under way, and timers. */
  conversations: Answerer;
  routes: Answerer;
  /** Which bots hold everybody up. */
  blocking: Blocking;
}

/**
 * Bots as answerers of the pipeline. Nothing is sent in here: replies and everything else that a handler wants are
 * returned and become rows of the message's commit, so that a crash means being asked again.
 *
 * They reject only when `stopping` aborts: the message is then undecided.
 */
export function createBotAnswerers(deps: BotAnswerersDeps): BotAnswerers {
  const { bindings, state, log, time, checksFlows = false } = deps;
  const blocking = createBlocking(log, time);
  const { ask, askOnce } = createAsking({ ...deps, blocking });
  const answerTimer = createTimerAnswers({ state, time, checksFlows, ask });

  async function observe(stored: StoredMessage): Promise<Answer> {
    notifyObservers({ ...deps, blocking }, bindings.tableOf(stored.deviceId).active, stored);
    return { kind: "pass", trail: [] };
  }

  const interrupt = createInterrupts({ bindings, state, ask });
  const converse = createConversations({ bindings, state, time, checksFlows, ask, askOnce, answerTimer });
  const route = createRoutes({ bindings, time, blocking, askOnce });
  return {
    observers: { name: "observers", ignoresTakeover: true, answer: observe },
    interrupts: { name: "interrupts", ignoresTakeover: true, answer: interrupt },
    conversations: { name: "conversations", ignoresTakeover: false, runsTimers: true, answer: converse },
    routes: { name: "bots", ignoresTakeover: false, answer: route },
    blocking,
  };
}
