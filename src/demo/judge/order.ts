import { groupBy } from "./group-by.ts";
import type { Evidence, Script } from "./evidence.ts";

/**
 * The order in each chat: inbox rows as the messages were written, replies as the messages they answer, arrivals as the
 * outbox, calls of the webhook as the inbox, but for those that were not accepted: what comes later does not wait for them.
 *
 * @returns one line for each place at which something overtook something else
 */
export function judgeOrder(evidence: Evidence, script: Script): string[] {
  const { written, inbox, outbox, arrived } = evidence;
  const found: string[] = [];
  const compare = (what: string, ids: string[], rank: Map<string, number>): void =>
    void found.push(...overtaken(ids, rank).map((pair) => `${what}: ${pair}`));

  const inboxRank = new Map(inbox.map(({ number, waId, id }) => [`${number} ${waId}`, id]));
  if (script.ordered !== false)
    for (const [chat, messages] of groupBy(written, ({ to, chat: name }) => `${to}, chat ${name}`))
      compare(
        `stored by ${chat}`,
        messages.map(({ to, id }) => `${to} ${id}`),
        inboxRank,
      );

  // A webhook's late answer leaves when it comes.
  const answers = outbox.filter(({ inboxId, late }) => inboxId !== null && !late);
  const answeredRank = new Map(answers.map(({ waId, inboxId }) => [waId, inboxId!]));
  for (const [chat, rows] of groupBy(answers, ({ number, chat: name }) => `${number}, chat ${name}`))
    compare(
      `answered by ${chat}`,
      rows.map(({ waId }) => waId),
      answeredRank,
    );

  const outboxRank = new Map(outbox.map(({ number, waId, id }) => [`${number} ${waId}`, id]));
  const firstArrivals = arrived.filter(({ device, ordinal }) => device === 0 && ordinal === 1);
  const groups = groupBy(firstArrivals, ({ from, to, chat }) => `${to} from ${from}, chat ${chat}`);
  for (const [who, entries] of groups)
    compare(
      `arrived at ${who}`,
      entries.toSorted((a, b) => a.seq - b.seq).map(({ from, id }) => `${from} ${id}`),
      outboxRank,
    );

  const failed = new Set(evidence.failedAttempts.map(({ waId }) => waId));
  const waIdRank = new Map(inbox.filter(({ waId }) => !failed.has(waId)).map(({ waId, id }) => [waId, id]));
  for (const [chat, events] of groupBy(script.events ?? [], (event) => event.chat))
    compare(`told to the webhook of ${chat}`, [...new Set(events.map(({ id }) => id))], waIdRank);
  return found;
}

/** Neighbours that stand the wrong way round; what has no rank is judged elsewhere. */
function overtaken(ids: string[], rank: Map<string, number>): string[] {
  const ranked = ids.filter((id) => rank.has(id));
  return ranked.flatMap((id, index) => {
    const next = ranked[index + 1];
    return next !== undefined && rank.get(id)! > rank.get(next)! ? [`${next} came after ${id}`] : [];
  });
}
