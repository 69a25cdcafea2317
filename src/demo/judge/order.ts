import { groupBy } from "./group-by.ts";
import type { Evidence, Script, ToldAttempt } from "./evidence.ts";

/**
 * The order in each chat: inbox rows as the messages were written, replies as the messages they answer, arrivals as the
 * outbox, calls of the webhook as the inbox. Neither a late answer nor a late call counts, where what comes later need not wait for
 * it: see {@link isLate}.
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
  const cameAs = new Map(inbox.map(({ id, waId }) => [id, waId]));
  const attemptsOf = groupBy(evidence.attempts, ({ waId }) => waId);
  const told = (waId: string): string => describe(waId, attemptsOf.get(waId) ?? []);
  /** Adds to what was found from `first` on what is known of the messages that it names. */
  const explain = (first: number, messages: readonly (readonly [shown: string, waId: string])[]): void => {
    for (let at = first; at < found.length; at++) {
      const named = messages.filter(([shown]) => found[at]!.includes(shown));
      found[at] += [...named.map(([, waId]) => told(waId)), killed(script)].join("; ");
    }
  };
  for (const [chat, rows] of groupBy(answers, ({ number, chat: name }) => `${number}, chat ${name}`)) {
    const before = found.length;
    compare(
      `answered by ${chat}`,
      rows.map(({ waId }) => waId),
      answeredRank,
    );
    explain(
      before,
      rows.map(({ waId, inboxId }) => [waId, cameAs.get(inboxId!) ?? "unknown"]),
    );
  }

  const outboxRank = new Map(outbox.map(({ number, waId, id }) => [`${number} ${waId}`, id]));
  const firstArrivals = arrived.filter(({ device, ordinal }) => device === 0 && ordinal === 1);
  const groups = groupBy(firstArrivals, ({ from, to, chat }) => `${to} from ${from}, chat ${chat}`);
  for (const [who, entries] of groups)
    compare(
      `arrived at ${who}`,
      entries.toSorted((a, b) => a.seq - b.seq).map(({ from, id }) => `${from} ${id}`),
      outboxRank,
    );

  const waIdRank = new Map(
    inbox.filter(({ waId }) => !isLate(attemptsOf.get(waId))).map(({ waId, id }) => [waId, id]),
  );
  for (const [chat, events] of groupBy(script.events ?? [], (event) => event.chat)) {
    const before = found.length;
    const ids = [...new Set(events.map(({ id }) => id))];
    compare(`told to the webhook of ${chat}`, ids, waIdRank);
    explain(
      before,
      ids.map((id) => [id, id]),
    );
  }
  return found;
}

/**
 * Whether what comes later need not wait for a call: its webhook has refused it, or two attempts in a row got no answer. One that
 * got none holds its chat until the second attempt.
 */
function isLate(attempts: readonly ToldAttempt[] = []): boolean {
  const failed = attempts.filter(({ error }) => error !== null);
  return failed.length > 1 || failed.some(({ statusCode }) => statusCode !== null);
}

/** For whoever looks for what went wrong: when it was told, and what its decision says. */
function describe(waId: string, attempts: readonly ToldAttempt[]): string {
  const made = attempts.map(
    ({ at, statusCode, error }) =>
      `${timeOf(at)} ${statusCode ?? "no answer"}${error === null ? "" : ` (${error})`}`,
  );
  return ` [${waId}: attempts ${made.join(", ") || "none"}; trail ${attempts[0]?.trail ?? "none"}]`;
}

function killed({ kills = [] }: Script): string {
  return kills.length === 0 ? "" : ` killed at ${kills.map(timeOf).join(", ")}`;
}

const timeOf = (at: number): string => new Date(at).toISOString().slice(11, 23);

/** Neighbours that stand the wrong way round; what has no rank is judged elsewhere. */
function overtaken(ids: string[], rank: Map<string, number>): string[] {
  const ranked = ids.filter((id) => rank.has(id));
  return ranked.flatMap((id, index) => {
    const next = ranked[index + 1];
    return next !== undefined && rank.get(id)! > rank.get(next)! ? [`${next} came after ${id}`] : [];
  });
}
