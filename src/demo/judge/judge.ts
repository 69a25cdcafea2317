import {
  gather,
  type Evidence,
  type Judged,
  type JudgedCluster,
  type Script,
  type Verdict,
} from "./evidence.ts";
import { groupBy } from "./group-by.ts";
import { judgeOrder } from "./order.ts";

export type { Judged, JudgedCluster, Mark, ReadRows, Script, Verdict, Written } from "./evidence.ts";

const SENT = new Set(["sent", "delivered", "read", "played"]);

/**
 * Compares what the phones wrote and saw with what the database holds, after everything has come to rest: each message
 * has one inbox row and its replies, each reply one id that every phone could read, each accepted send arrived, in each
 * chat the order was kept, nothing waits, the file is whole and the client did nothing that WhatsApp would refuse.
 */
export async function judge(world: Judged | JudgedCluster, script: Script): Promise<Verdict> {
  const { evidence, mark, problems } = await gather(world, script);
  const incoming = judgeIncoming(evidence, script);
  const outgoing = judgeOutgoing(evidence, script);
  const order = judgeOrder(evidence, script);
  const lost = [...incoming.lost, ...outgoing.lost];
  const duplicated = [...incoming.duplicated, ...outgoing.duplicated];
  return {
    messages: evidence.written.length + evidence.outbox.length,
    lost: lost.length,
    duplicated: duplicated.length,
    outOfOrder: order.length,
    ...(script.refusals && { refused: evidence.outbox.filter(({ state }) => state === "failed").length }),
    repeated: evidence.arrived.filter(({ device, ordinal }) => device === 0 && ordinal > 1).length,
    problems: [
      ...problems,
      ...lost.map((what) => `lost: ${what}`),
      ...duplicated.map((what) => `duplicated: ${what}`),
      ...order.map((what) => `out of order: ${what}`),
    ],
    mark,
  };
}

const times = (count: number, what: string): string[] =>
  Array.from({ length: Math.max(0, count) }, () => what);

interface Findings {
  lost: string[];
  duplicated: string[];
}

/** Every message has one inbox row, and the replies that are due to it. */
function judgeIncoming({ written, inbox, outbox }: Evidence, { replies }: Script): Findings {
  const lost: string[] = [];
  const duplicated: string[] = [];
  const rowsOf = groupBy(inbox, ({ number, waId }) => `${number} ${waId}`);
  const answersTo = groupBy(outbox, ({ inboxId }) => inboxId);
  for (const message of written) {
    const name = `${message.kind} ${message.id} from ${message.from || message.chat} to ${message.to}`;
    const rows = rowsOf.get(`${message.to} ${message.id}`) ?? [];
    if (rows.length === 0) lost.push(`${name} has no inbox row`);
    if (rows.length > 1) duplicated.push(`${name} has ${rows.length} inbox rows`);
    const due = replies?.(message);
    if (due === undefined || rows.length === 0) continue;
    const answers = rows.flatMap(({ id }) => answersTo.get(id) ?? []).length;
    if (answers < due) lost.push(`${name} has ${answers} of ${due} replies`);
    if (answers > due) duplicated.push(`${name} has ${answers} replies instead of ${due}`);
  }
  return { lost, duplicated };
}

/** Every row of the outbox arrived under its id, readable; nothing else did; accepted sends have their row. */
function judgeOutgoing(
  { outbox, arrived, known }: Evidence,
  { accepted = [], sends, refusals = false, away = [] }: Script,
): Findings {
  const lost: string[] = [];
  const duplicated: string[] = [];
  const byId = groupBy(arrived, ({ from, id }) => `${from} ${id}`);
  for (const { number, waId, chat, state } of outbox) {
    const name = `${waId} from ${number} to ${chat}`;
    const copies = byId.get(`${number} ${waId}`) ?? [];
    const awake = copies.filter(({ to }) => !away.includes(to));
    if (refusals && state === "failed") continue;
    if (!SENT.has(state)) lost.push(`${name} is ${state}`);
    else if (copies.length === 0) lost.push(`${name} is ${state} and never arrived`);
    for (const [device, entries] of groupBy(awake, ({ to, device: which }) => `${to}:${which}`))
      if (!entries.some(({ decrypted }) => decrypted)) lost.push(`${name} cannot be read by ${device}`);
    if (new Set(copies.map(({ text }) => text)).size > 1) duplicated.push(`${name} came with two texts`);
  }
  const ids = new Set(outbox.map(({ waId }) => waId));
  for (const id of accepted) if (!ids.has(id)) lost.push(`the accepted send ${id} has no row`);
  for (const [key, [first]] of byId)
    if (!known.has(key)) duplicated.push(`${key} arrived at ${first!.to} and no row has this id`);
  const asked = outbox.filter(({ origin }) => origin === "api").length;
  const wanted = sends ?? asked;
  lost.push(...times(wanted - asked, "a send by REST has no row"));
  duplicated.push(...times(asked - wanted, "a send by REST has a row too many"));
  return { lost, duplicated };
}
