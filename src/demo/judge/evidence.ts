import Database from "libsql";
import { join } from "node:path";
import type { Simulator, TranscriptEntry } from "../../simulator/types.ts";

/** What the judge looks at: both sides of a conversation, never the gateway's own word for it. */
export interface Judged {
  sim: Pick<Simulator, "transcript" | "pending" | "violations" | "channelPosts">;
  /** Its database is read when nothing is under way; the gateway may run or not. */
  dataDir: string;
}

/** Rows of a database, whose placeholders are `?`. */
export type ReadRows = <Row>(sql: string, ...args: number[]) => Promise<Row[]>;

/** The same of several gateways with a libSQL server. */
export interface JudgedCluster extends Pick<Judged, "sim"> {
  rows: ReadRows;
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
  /** The customer's server accepts whatever it is told: an attempt that failed is a problem. Default false. */
  accepts?: boolean;
  /** Channels whose posts the numbers follow. */
  channels?: string[];
  /** False when faults change the order in which messages reach the gateway. Default true. */
  ordered?: boolean;
  /** When the gateway was killed, Unix milliseconds: told with what is out of order. Default: never. */
  kills?: readonly number[];
  /** WhatsApp was told to refuse sends: one that failed has its outcome, and is counted rather than lost. Default false. */
  refusals?: boolean;
  /** Contacts whose phones are off, digits: what was sent to them waits at WhatsApp. Default: none. */
  away?: string[];
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

/** What the judge found. */
export interface Verdict {
  /** Messages looked at, in and out. */
  messages: number;
  lost: number;
  duplicated: number;
  outOfOrder: number;
  /** Times that an id came to a phone once more: the phone shows it once. */
  repeated: number;
  /** Sends that WhatsApp has refused; told with {@link Script.refusals} alone. */
  refused?: number;
  /** One line for each thing that is wrong; empty when nothing is. */
  problems: string[];
  mark: Mark;
}

/** A message as the gateway stored it. */
export interface InboxRow {
  id: number;
  number: string;
  chat: string;
  waId: string;
  state: string;
}

/** A send as the gateway stored it. */
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

/** An attempt to tell the webhook of a message. */
export interface ToldAttempt {
  number: string;
  waId: string;
  /** When it began, Unix milliseconds. */
  at: number;
  /** Null when no answer came. */
  statusCode: number | null;
  /** Null when it was accepted. */
  error: string | null;
  /** JSON of the steps of the message's decision. */
  trail: string | null;
}

/** What both sides hold. */
export interface Evidence {
  written: Written[];
  /** What came to other people's phones from the numbers. */
  arrived: TranscriptEntry[];
  inbox: InboxRow[];
  outbox: OutboxRow[];
  /** In the order in which each message's were made. */
  attempts: ToldAttempt[];
  /** `number id` of every row that the outbox has, those before the mark included. */
  known: Set<string>;
}

/** Not messages that a person would see. */
const UNSEEN = new Set(["sender_key", "protocol"]);

/** Both sides as they are now, what is wrong at first sight, and where this verdict ends. */
export async function gather(world: Judged | JudgedCluster, script: Script) {
  const { seq = 0, post = 0, inbox = 0, outbox = 0 } = script.since ?? {};
  const entries = (await world.sim.transcript({ since: seq })).filter(({ kind }) => !UNSEEN.has(kind));
  const written = entries.filter(
    ({ direction, to, ordinal }) =>
      direction === "to_companion" && script.numbers.includes(to) && ordinal === 1,
  );
  const posts = await postsOf(world.sim, script, post);
  const arrived = entries.filter(
    ({ direction, from, fromDevice, to }) =>
      // What the owner types on the phone itself is no send of the gateway's.
      direction !== "to_companion" && script.numbers.includes(from) && fromDevice !== 0 && to !== from,
  );
  const since = { inbox, outbox };
  const stored =
    "rows" in world
      ? await readRows(world.rows, since)
      : await readFile(join(world.dataDir, "parley.db"), since);
  const ours = <Row extends { number: string }>(row: Row): boolean => script.numbers.includes(row.number);
  const evidence: Evidence = {
    written: [...written, ...posts.written],
    // What was posted in a channel is at no phone; the channel itself shows it.
    arrived: [...arrived, ...posts.arrived],
    inbox: stored.inbox.filter(ours),
    outbox: stored.outbox.filter(ours),
    attempts: stored.attempts.filter(ours),
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
      ...(script.accepts ? evidence.attempts.filter(({ error }) => error !== null) : []).map(
        ({ number, waId, error }) => `the webhook of ${number} was not told of ${waId} at once: ${error}`,
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
const ATTEMPTS = `SELECT d.number, i.wa_id AS waId, a.at, a.status_code AS statusCode, a.error, c.trail FROM inbox i
JOIN devices d ON d.id = i.device_id JOIN deliveries w ON w.inbox_id = i.id
JOIN delivery_attempts a ON a.delivery_id = w.id LEFT JOIN decisions c ON c.inbox_id = i.id
WHERE i.id > ? ORDER BY i.id, a.attempt`;
/** What must be zero when nothing is under way. */
const UNFINISHED = {
  "inbox rows without a decision": "SELECT count(*) AS n FROM inbox WHERE state = 'pending'",
  "inbox rows that are done without a decision":
    "SELECT count(*) AS n FROM inbox WHERE state = 'done' AND id > 0 AND id NOT IN (SELECT inbox_id FROM decisions)",
  "messages in the outbox without an outcome": "SELECT count(*) AS n FROM outbox WHERE state = 'queued'",
  "messages in the journal that the inbox does not have":
    "SELECT count(*) AS n FROM journal WHERE content IS NOT NULL AND stanza_id <> ''",
  "webhook deliveries without an outcome":
    "SELECT count(*) AS n FROM deliveries WHERE state IN ('pending', 'retrying')",
};

interface Since {
  inbox: number;
  outbox: number;
}

async function readFile(file: string, since: Since) {
  const database = new Database(file);
  try {
    database.exec("PRAGMA query_only = ON");
    return await readRows(async (sql, ...args) => database.prepare(sql).all(...args) as never, since);
  } finally {
    database.close();
  }
}

async function readRows(rows: ReadRows, since: Since) {
  const check = await rows<{ integrity_check: string }>("PRAGMA integrity_check");
  const damage = check.map((row) => row.integrity_check).filter((line) => line !== "ok");
  const unfinished: string[] = [];
  for (const [what, sql] of Object.entries(UNFINISHED)) {
    const [{ n }] = (await rows<{ n: number }>(sql)) as [{ n: number }];
    if (n !== 0) unfinished.push(`${n} ${what}`);
  }
  const all = await rows<OutboxRow>(OUTBOX, -1);
  return {
    inbox: await rows<InboxRow>(INBOX, since.inbox),
    outbox: all.filter(({ id }) => id > since.outbox),
    attempts: await rows<ToldAttempt>(ATTEMPTS, since.inbox),
    known: new Set(all.map(({ number, waId }) => `${number} ${waId}`)),
    problems: [...damage.map((line) => `the database is damaged: ${line}`), ...unfinished],
  };
}
