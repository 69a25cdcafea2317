import type { Asked, StoredMessage } from "../../model/answerer.ts";
import { lazyView } from "../messages/message-view.ts";
import type { Attempt } from "./newer.ts";
import { knows, type Work } from "../handlers/run.ts";
import type {
  ActiveBot,
  Candidate,
  FilterFailure,
  Looking,
  RouteEntry,
  RouteTable,
} from "../routes/table.ts";
import type { DialogueHost, Message } from "../types.ts";

/** Messages that an answer has taken besides its own, as the answer names them. */
export const mergedOf = (merged: StoredMessage[]): { merged?: StoredMessage[] } =>
  merged.length > 0 ? { merged } : {};

/** How a bot is asked by one of its routes. */
export function attemptOf(
  candidate: Candidate | FilterFailure,
  message: StoredMessage,
  view: () => Message,
  onInterrupt: Asked["onInterrupt"],
): Attempt {
  const { bot, route } = candidate;
  return {
    active: candidate,
    message,
    view,
    label: labelOf(candidate),
    work: handlerOf(candidate),
    match: "match" in candidate ? candidate.match : null,
    dialogue: null,
    isRestarted: route.isRestarted ?? bot.isRestarted,
    onInterrupt,
  };
}

/** The bot's first route for all texts together; null when it has none, or another kind of message is wanted. */
export function aboutAll(
  table: RouteTable,
  { bot }: ActiveBot,
  message: StoredMessage,
  looking: Looking,
  onInterrupt: Asked["onInterrupt"],
): Attempt | null {
  const view = lazyView(message.message);
  for (const candidate of table.candidates(message.message, view, looking))
    if (candidate.bot.id === bot.id) return attemptOf(candidate, message, view, onInterrupt);
  return null;
}

/** What a dialogue may ask about a bot of this number. */
export const hostOf = (
  table: RouteTable,
  { bot }: ActiveBot,
  message: StoredMessage["message"],
  checksFlows: boolean,
): DialogueHost => ({
  checksFlows,
  knows: (dialogue) => knows(bot, dialogue),
  isRouted: () => table.isNamed(message),
});

/** What a route runs; one whose filter failed fails with that. */
export function handlerOf(candidate: Candidate | FilterFailure): Work {
  if (!("error" in candidate)) return { handler: candidate.route.handler as never };
  return {
    handler: () => {
      throw candidate.error;
    },
  };
}

/** A route as decisions name it: `keyword:menu`. */
export function labelOf({ route }: RouteEntry): string {
  return route.kind === "fallback" ? route.kind : `${route.kind}:${route.pattern}`;
}
