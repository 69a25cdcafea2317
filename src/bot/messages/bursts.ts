import type { Asked, StoredMessage } from "../../model/answerer.ts";
import { merge } from "./merge.ts";
import { lazyView } from "./message-view.ts";
import type { ActiveBot, Candidate, FilterFailure, Looking, RouteTable } from "../routes/table.ts";
import type { Message } from "../types.ts";

/** As many are held together, the first included: who writes more wants an answer. */
const MOST_TEXTS = 8;

/** A route that fits, and the message that it is to be asked about. */
export interface Asking {
  candidate: Candidate | FilterFailure;
  /** The message that came, or several in a row as one. */
  message: StoredMessage;
  /** What is answered with it. */
  merged: StoredMessage[];
  view: () => Message;
}

/**
 * Who is to be asked about a message, one after the other. Bots that want several texts as one are waited for only when
 * nobody else's route takes the message before them, and get only texts that nobody else's route would take: a word of
 * another bot is neither held back nor swallowed. Fallbacks take what is left, so they wait.
 */
export async function* askingOrder(
  table: RouteTable,
  stored: StoredMessage,
  asked: Pick<Asked, "waitForMore">,
  looking: Looking,
): AsyncGenerator<Asking, void> {
  const view = lazyView(stored.message);
  const alone = table.candidates(stored.message, view, looking);
  const merging = mergingBots(table, stored, looking);
  const asIs = (candidate: Asking["candidate"]): Asking => ({ candidate, message: stored, merged: [], view });
  const waiting: Asking["candidate"][] = [];
  for (let next = alone.next(); !next.done; next = alone.next()) {
    if (merging.size > 0 && (isOf(merging, next.value) || next.value.route.kind === "fallback")) {
      waiting.push(next.value);
      break;
    }
    yield asIs(next.value);
  }
  if (merging.size === 0) return;
  const texts = await gather(table, asked, merging, looking);
  waiting.push(...alone);
  if (texts.length === 0) return yield* waiting.map(asIs);
  const found = waiting.filter((candidate) => !isOf(merging, candidate)).map(asIs);
  for (const { bot } of merging.values()) {
    const message = merge(stored, texts, bot.burst!.kind);
    const merged = lazyView(message.message);
    for (const candidate of table.candidates(message.message, merged, looking))
      if (candidate.bot.id === bot.id) found.push({ candidate, message, merged: texts, view: merged });
  }
  yield* found.toSorted((a, b) => a.candidate.rank - b.candidate.rank);
}

const isOf = (bots: ReadonlyMap<string, ActiveBot>, { bot }: Asking["candidate"]): boolean =>
  bots.has(bot.id);

/** Bots that want texts in a row as one and listen here, by id; none for what is no text. */
function mergingBots(
  { active }: RouteTable,
  { message: { type, chatKind } }: StoredMessage,
  looking: Looking,
): Map<string, ActiveBot> {
  const wanting = active.filter(
    ({ bot }) =>
      type === "text" &&
      bot.burst !== null &&
      (bot.chats as readonly string[]).includes(chatKind) &&
      !looking.isLeftOut(bot.id),
  );
  return new Map(wanting.map((item) => [item.bot.id, item]));
}

/** The texts behind a message that belong to it: up to the first that somebody else takes. */
async function gather(
  table: RouteTable,
  { waitForMore }: Pick<Asked, "waitForMore">,
  merging: ReadonlyMap<string, ActiveBot>,
  looking: Looking,
): Promise<StoredMessage[]> {
  const known = new Map<number, boolean>();
  const isOthers = (text: StoredMessage): boolean => {
    const before = known.get(text.inboxId);
    const now = before ?? fallsToOthers(table, text, merging, looking);
    known.set(text.inboxId, now);
    return now;
  };
  const ms = Math.max(...[...merging.values()].map(({ bot }) => bot.burst!.ms));
  const behind = await waitForMore(ms, isOthers, MOST_TEXTS - 1);
  const end = behind.findIndex(isOthers);
  return end === -1 ? behind : behind.slice(0, end);
}

/**
 * Whether a text behind a message stays by itself, for a bot that is asked anew when newer ones come. What would fall to the
 * bot, or to fallbacks, belongs together.
 */
export const staysByItself = (
  table: RouteTable,
  text: StoredMessage,
  active: ActiveBot,
  looking: Looking,
): boolean => fallsToOthers(table, text, new Map([[active.bot.id, active]]), looking);

/** "cancel" is heard for itself, however fast it comes after something else, and so is another bot's word. */
function fallsToOthers(
  table: RouteTable,
  { message }: StoredMessage,
  merging: ReadonlyMap<string, ActiveBot>,
  looking: Looking,
): boolean {
  if (table.interrupts(message).length > 0) return true;
  const first = table.candidates(message, lazyView(message), looking).next();
  return !first.done && !isOf(merging, first.value) && first.value.route.kind !== "fallback";
}
