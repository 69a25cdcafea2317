import Database from "libsql";
import { join } from "node:path";
import type { Simulator, TranscriptEntry } from "../../src/simulator/types.ts";
import { groupBy } from "./group-by.ts";
import { judgeOrder } from "./judge-order.ts";

/** What the judge looks at: both sides of a conversation, never the gateway's own word for it. */
export interface Judged {
  sim: Pick<Simulator, "transcript" | "pending" | "violations" | "channelPosts">;
  /** Its database is read when nothing is under way; the gateway may run or not. */
  dataDir: string;
}

/** A message at the judge: one that was written to a number. */
export interface Written {
  id: string;
  /** Who wrote it, digits. */
  from: string;
  /** The linked number that it was written to, digits. */
  to: string;
  /** Digits of the partner, `…@g.us` or `…@newsletter`. */
  chat: string;
  kind: string;
  text?: string;
}

/** What the drill knows and the transcript does not tell. */
export interface Script {
  /** The linked numbers, digits. */
  numbers: string[];
  /** How many replies a message has a right to; undefined: any number. Default: any number. */
  replies?: (message: Written) => number | undefined;
  /** How many messages were sent by REST, however often each was asked for. Default: any number. */
  sends?: number;
  /** Ids of sends that the API accepted (200 or 202), or that it may have stored without its caller hearing of it. */
  accepted?: string[];
  /** Calls of the webhook in the order in which they came, repetitions included. */
  events?: { chat: string; id: string }[];
  /** Channels whose posts the numbers follow. */
  channels?: string[];
  /** False when faults change the order in which messages reach the gateway. Default true. */
  ordered?: boolean;
  /** Only what came after an earlier verdict. Default: everything. */
  since?: Mark;
}

/** Where an earlier verdict ended. */
export interface Mark {
  seq: number;
  post: number;
  inbox: number;
  outbox: number;
}

export interface Verdict {
  /** Messages looked at, in and out. */
  messages: number;
  lost: number;
  duplicated: number;
  outOfOrder: number;
  /** Times that an id came to a phone once more: the phone shows it once. */
  repeated: number;
  /** One line for each thing that is wrong; empty when nothing is. */
  problems: string[];
  mark: Mark;
}

export interface InboxRow {
  id: number;
  number: string;
  chat: string;
  waId: string;
  state: string;
}

export interface OutboxRow {
  id: number;
  number: string;
  chat: string;
  waId: string;
  origin: string;
  inboxId: number | null;
  state: string;
  /** The webhook gave this answer at a later attempt, outside of its chat's lane. */
  late: boolean;
}

export interface Evidence {
  written: Written[];
  /** What came to other people's phones from the numbers. */
  arrived: TranscriptEntry[];
  inbox: InboxRow[];
  outbox: OutboxRow[];
  /** `number id` of every row that the outbox has, those before the mark included. */
  known: Set<string>;
}

/** Not messages that a person would see. */
const UNSEEN = new Set(["sender_key", "protocol"]);
const SENT = new Set(["sent", "delivered", "read", "played"]);

/**
 * Compares what the phones wrote and saw with what the database holds, after everything has come to rest: each message
 * has one inbox row and its replies, each reply one id that every phone could read, each accepted send arrived, in each
 * chat the order was kept, nothing waits, the file is whole and the client did nothing that WhatsApp would refuse.
 */
export async function judge(world: Judged, script: Script): Promise<Verdict> {
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

async function gather(world: Judged, script: Script) {
  const { seq = 0, post = 0, inbox = 0, outbox = 0 } = script.since ?? {};
  const entries = (await world.sim.transcript({ since: seq })).filter(({ kind }) => !UNSEEN.has(kind));
  const written = entries.filter(
    ({ direction, to, ordinal }) =>
      direction === "to_companion" && script.numbers.includes(to) && ordinal === 1,
  );
  const posts = await postsOf(world.sim, script, post);
  const arrived = entries.filter(
    ({ direction, from, to }) => direction !== "to_companion" && script.numbers.includes(from) && to !== from,
  );
  const stored = readDatabase(join(world.dataDir, "parley.db"), { inbox, outbox });
  const ours = <Row extends InboxRow | OutboxRow>(row: Row): boolean => script.numbers.includes(row.number);
  const evidence: Evidence = {
    written: [...written, ...posts.written],
    // What was posted in a channel is at no phone; the channel itself shows it.
    arrived: [...arrived, ...posts.arrived],
    inbox: stored.inbox.filter(ours),
    outbox: stored.outbox.filter(ours),
    known: stored.known,
  };
  const waiting = await Promise.all(script.numbers.map((number) => world.sim.pending(number)));
  const violations = await world.sim.violations();
  return {
    evidence,
    mark: {
      seq: largest(
        seq,
        entries.map((entry) => entry.seq),
      ),
      post: Math.max(post, posts.last),
      inbox: largest(
        inbox,
        stored.inbox.map(({ id }) => id),
      ),
      outbox: largest(
        outbox,
        stored.outbox.map(({ id }) => id),
      ),
    },
    problems: [
      ...stored.problems,
      ...waiting.flatMap((count, index) =>
        count === 0 ? [] : [`${count} stanzas for ${script.numbers[index]} are not acknowledged`],
      ),
      ...violations.map(({ rule, who, detail }) => `the client broke a rule: ${rule} (${who}): ${detail}`),
    ],
  };
}

const largest = (least: number, values: number[]): number => values.reduce((a, b) => Math.max(a, b), least);

async function postsOf(sim: Judged["sim"], { channels = [], numbers }: Script, since: number) {
  const written: Written[] = [];
  const arrived: TranscriptEntry[] = [];
  let last = since;
  for (const id of channels)
    for (const post of await sim.channelPosts(id)) {
      if (post.seq <= since) continue;
      last = Math.max(last, post.seq);
      const own = post.from !== undefined && numbers.includes(post.from);
      if (own) arrived.push(asArrived(id, post.from!, post));
      else
        for (const to of numbers) written.push({ ...post, from: post.from ?? "", to, chat: id, id: post.id });
    }
  return { written, arrived, last };
}

function asArrived(chat: string, from: string, post: { seq: number; at: number; id: string; kind: string }) {
  const nowhere = { direction: "to_contact", to: chat, device: 0, fromDevice: 1 } as const;
  return { ...post, ...nowhere, from, chat, encType: "msg", decrypted: true, tries: 0, ordinal: 1 } as const;
}

const INBOX = `SELECT i.id, d.number, i.chat, i.wa_id AS waId, i.state FROM inbox i
JOIN devices d ON d.id = i.device_id WHERE i.id > ? ORDER BY i.id`;
const OUTBOX = `SELECT o.id, d.number, o.chat, o.wa_id AS waId, o.origin, o.inbox_id AS inboxId, o.state,
coalesce((SELECT w.attempts > 1 FROM deliveries w WHERE w.inbox_id = o.inbox_id), 0) AS late
FROM outbox o JOIN devices d ON d.id = o.device_id WHERE o.id > ? ORDER BY o.id`;
/** What must be zero when nothing is under way. */
const UNFINISHED = {
  "inbox rows without a decision": "SELECT count(*) AS n FROM inbox WHERE state = 'pending'",
  "inbox rows that are done without a decision":
    "SELECT count(*) AS n FROM inbox WHERE state = 'done' AND id NOT IN (SELECT inbox_id FROM decisions)",
  "messages in the outbox without an outcome": "SELECT count(*) AS n FROM outbox WHERE state = 'queued'",
  "messages in the journal that the inbox does not have":
    "SELECT count(*) AS n FROM journal WHERE content IS NOT NULL AND stanza_id <> ''",
  "webhook deliveries without an outcome":
    "SELECT count(*) AS n FROM deliveries WHERE state IN ('pending', 'retrying')",
};

function readDatabase(file: string, since: { inbox: number; outbox: number }) {
  const database = new Database(file);
  try {
    database.exec("PRAGMA query_only = ON");
    const rows = <Row>(sql: string, ...args: number[]): Row[] => database.prepare(sql).all(...args) as Row[];
    const check = rows<{ integrity_check: string }>("PRAGMA integrity_check");
    const damage = check.map((row) => row.integrity_check).filter((line) => line !== "ok");
    const unfinished = Object.entries(UNFINISHED).flatMap(([what, sql]) => {
      const [{ n }] = rows<{ n: number }>(sql) as [{ n: number }];
      return n === 0 ? [] : [`${n} ${what}`];
    });
    return {
      inbox: rows<InboxRow>(INBOX, since.inbox),
      outbox: rows<OutboxRow>(OUTBOX, since.outbox),
      known: new Set(rows<OutboxRow>(OUTBOX, -1).map(({ number, waId }) => `${number} ${waId}`)),
      problems: [...damage.map((line) => `the database is damaged: ${line}`), ...unfinished],
    };
  } finally {
    database.close();
  }
}

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
function judgeOutgoing({ outbox, arrived, known }: Evidence, { accepted = [], sends }: Script): Findings {
  const lost: string[] = [];
  const duplicated: string[] = [];
  const byId = groupBy(arrived, ({ from, id }) => `${from} ${id}`);
  for (const { number, waId, chat, state } of outbox) {
    const name = `${waId} from ${number} to ${chat}`;
    const copies = byId.get(`${number} ${waId}`) ?? [];
    if (!SENT.has(state)) lost.push(`${name} is ${state}`);
    else if (copies.length === 0) lost.push(`${name} is ${state} and never arrived`);
    for (const [device, entries] of groupBy(copies, ({ to, device: which }) => `${to}:${which}`))
      if (!entries.some(({ decrypted }) => decrypted)) lost.push(`${name} cannot be read by ${device}`);
    if (new Set(copies.map(({ text }) => text)).size > 1) duplicated.push(`${name} came with two texts`);
  }
  const ids = new Set(outbox.map(({ waId }) => waId));
  for (const id of accepted) if (!ids.has(id)) lost.push(`the accepted send ${id} has no row`);
  for (const [key, [first]] of byId)
    if (!known.has(key)) duplicated.push(`${key} arrived at ${first!.to} and no row has this id`);
  const asked = outbox.filter(({ origin }) => origin === "api").length;
  const wanted = sends ?? asked;
  const times = (count: number, what: string): string[] =>
    Array.from({ length: Math.max(0, count) }, () => what);
  lost.push(...times(wanted - asked, "a send by REST has no row"));
  duplicated.push(...times(asked - wanted, "a send by REST has a row too many"));
  return { lost, duplicated };
}
