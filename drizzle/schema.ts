import { sql } from "drizzle-orm";
import {
  blob,
  customType,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import type { Way } from "../src/model/way.ts";
import type { DisabledReason, ReplyTo, WebhookEventName, WebhookMode } from "../src/model/webhook-words.ts";

// Every row that belongs to a number is keyed by its device record: two accounts may link the same number.
// Times are Unix milliseconds unless a name says otherwise. A column whose comment says "sealed" holds the
// output of `SecretBox.seal` (AES-256-GCM), never clear text.

/**
 * A column that earlier versions wrote in the clear: the bytes of what is sealed, or the text of a row that is still to be
 * sealed (`store/sealed/once-clear.ts`). SQLite keeps bytes in a column declared as text, so that no table had to be written anew.
 */
const onceClear = customType<{ data: Buffer | string; driverData: Uint8Array | ArrayBuffer | string }>({
  dataType: () => "text",
  fromDriver: (value) => (typeof value === "string" ? value : Buffer.from(value as ArrayBuffer)),
  toDriver: (value) => value,
});

/** Facts about the database itself: the master key's check value, the owner of the file. */
export const meta = sqliteTable("meta", { key: text().primaryKey(), value: text().notNull() });

/** How far each process has written, on a libSQL server: see `store/server/fence.ts`. */
export const commitFences = sqliteTable("commit_fences", {
  writer: text().primaryKey(),
  seq: integer().notNull(),
  /** Where it stood before it was moved on without a batch. */
  beforeSeq: integer("before_seq").notNull(),
  at: integer().notNull(),
});

/**
 * Which node has each of the 256 partitions of the numbers, and until when: see `cluster/leases.ts`. Times here and in `nodes`
 * are of the database's own clock. A process that is alone never looks at it.
 */
export const leases = sqliteTable("leases", {
  /** The partition. */
  p: integer().primaryKey(),
  /** Name of the node that has it, or had it last; null: nobody ever had it. */
  node: text(),
  /** The node that it was given to and has still to take it; null: whoever comes first. */
  heir: text(),
  /** Grows by one each time that it is taken: whoever writes under an older one is refused. */
  epoch: integer().notNull(),
  until: integer().notNull(),
});

/** Processes that share this database. A row whose time is over is one of a process that is gone. */
export const nodes = sqliteTable("nodes", {
  name: text().primaryKey(),
  /** Of one run of the process: another one may not take the name before this one's time is over. */
  incarnation: text().notNull(),
  /** Where the other nodes reach its HTTP port; null: nowhere. */
  url: text(),
  version: text().notNull(),
  since: integer().notNull(),
  until: integer().notNull(),
  /** It gives away what it has, and is given nothing. */
  leaving: integer({ mode: "boolean" }).notNull().default(false),
  /** Numbers in its partitions. */
  numbers: integer().notNull().default(0),
  /** The longest time that its event loop stood still between its last two signs of life. */
  lagMs: integer("lag_ms").notNull().default(0),
});

/**
 * What changed of what nodes remember, in the order of the commits: each node reads on from where it was. Written by nodes
 * among several only, and kept for an hour.
 */
export const news = sqliteTable(
  "news",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    /** That has changed it, and knows. */
    node: text().notNull(),
    topic: text().notNull(),
    /** JSON of what is to be read again. */
    item: text().notNull(),
    /** Seconds since 1970, by the database's clock. */
    at: integer().notNull(),
  },
  (t) => [index("news_age").on(t.at)],
);

/**
 * Messages by REST that an account has stored today, counted in the commits that store them, by nodes among several: one
 * process counts in its memory.
 */
export const sendCounts = sqliteTable(
  "send_counts",
  {
    accountId: text("account_id").notNull(),
    /** Days since 1970, by the database's clock. */
    day: integer().notNull(),
    sends: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.day] })],
);

export const accounts = sqliteTable(
  "accounts",
  {
    id: text().primaryKey(),
    name: text().notNull(),
    plan: text().notNull(),
    enabled: integer({ mode: "boolean" }).notNull().default(true),
    createdAt: integer("created_at").notNull(),
  },
  (t) => [index("accounts_listed").on(t.createdAt)],
);

export const apiKeys = sqliteTable(
  "api_keys",
  {
    id: text().primaryKey(),
    accountId: text("account_id").notNull(),
    name: text().notNull(),
    /** HMAC-SHA256 of the whole key under a key derived from the master key; hex. */
    hash: text().notNull().unique(),
    /** The first characters of the key, for people to recognise it by. */
    prefix: text().notNull(),
    permissions: text({ mode: "json" }).$type<string[]>().notNull(),
    /** Numbers the key may use; null is every number of the account. */
    devices: text({ mode: "json" }).$type<string[] | null>(),
    /** Destinations or patterns ending in `*`; null is every destination. */
    recipients: text({ mode: "json" }).$type<string[] | null>(),
    expiresAt: integer("expires_at"),
    createdAt: integer("created_at").notNull(),
    lastUsedAt: integer("last_used_at"),
  },
  (t) => [index("api_keys_listed").on(t.accountId, t.createdAt)],
);

/** Who is signed in at a browser. What a session may do is asked of its key, the operator's token or its link at every request. */
export const sessions = sqliteTable(
  "sessions",
  {
    id: text().primaryKey(),
    /** HMAC-SHA256 of the cookie's token; hex. */
    hash: text().notNull().unique(),
    kind: text({ enum: ["key", "operator", "link"] }).notNull(),
    /** The hash of what it was opened with: another secret of the same key ends it. */
    credential: text().notNull(),
    /** Of the key or the link; of the operator the one whose endpoints are asked, or null. */
    accountId: text("account_id"),
    createdAt: integer("created_at").notNull(),
    /** Within a minute of the truth. */
    lastUsedAt: integer("last_used_at").notNull(),
    endsAt: integer("ends_at").notNull(),
    /** Where it was opened, as the limit of wrong keys knows addresses. */
    address: text().notNull(),
    userAgent: text("user_agent").notNull(),
  },
  (t) => [
    index("sessions_credential").on(t.credential, t.lastUsedAt),
    index("sessions_account").on(t.accountId),
  ],
);

/** Links with which a customer links one number and sets its webhook, without a key. */
export const links = sqliteTable(
  "links",
  {
    id: text().primaryKey(),
    /** HMAC-SHA256 of the link's token; hex. */
    hash: text().notNull().unique(),
    accountId: text("account_id").notNull(),
    deviceId: integer("device_id").notNull(),
    /** Digits. */
    number: text().notNull(),
    /** Whether the operator has made it, or a key. */
    madeBy: text("made_by", { enum: ["key", "operator"] }).notNull(),
    /** The hash of the secret that has made it: it ends with that. */
    credential: text().notNull(),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
    lastUsedAt: integer("last_used_at"),
  },
  (t) => [index("links_listed").on(t.accountId, t.createdAt), index("links_device").on(t.deviceId)],
);

/** What was changed through the API, by whom. */
export const auditLog = sqliteTable(
  "audit_log",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    createdAt: integer("created_at").notNull(),
    actorKind: text("actor_kind", { enum: ["key", "operator", "link", "nobody"] }).notNull(),
    /** Of the key or link; null: there is one operator. */
    actorId: text("actor_id"),
    /** What the key was called then. */
    actorName: text("actor_name"),
    /** Whose account it was about; null: none's, or of many. */
    accountId: text("account_id"),
    /** The endpoint, by the name that clients know it by. */
    action: text().notNull(),
    /** What was changed: a number, or the id of a record. */
    target: text(),
    /** Sealed JSON: fields of the request, without secrets; null: it had none. */
    changes: blob({ mode: "buffer" }),
    requestId: text("request_id").notNull(),
    address: text().notNull(),
  },
  (t) => [index("audit_log_listed").on(t.createdAt), index("audit_log_account").on(t.accountId, t.createdAt)],
);

/** One number in one account. `id` is the key of everything that belongs to it. */
export const devices = sqliteTable(
  "devices",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    accountId: text("account_id").notNull(),
    number: text().notNull(),
    state: text().notNull().default("unlinked"),
    since: integer().notNull(),
    lid: text(),
    name: text(),
    platform: text(),
    lastIn: integer("last_in"),
    lastOut: integer("last_out"),
    /** `{code, reason, at, until?}` of the last closed connection; `until`: the end of a ban. */
    lastClose: text("last_close", { mode: "json" }).$type<{
      code: number;
      reason: string;
      at: number;
      until?: number;
    } | null>(),
    /** Set when a number that is not this one scanned the QR; reported once. */
    wrongNumber: text("wrong_number"),
    /** When a phone linked it last; null: not since this is noted. Links that were made before open nothing any more. */
    linkedAt: integer("linked_at"),
    /** What is done with calls: `ignore` lets the phone ring, `reject` does not. */
    calls: text().$type<"ignore" | "reject">().notNull().default("ignore"),
    /** What somebody is told whose call was rejected, once a day; null: nothing. */
    callsText: text("calls_text"),
    /** Sealed address of the proxy that its connections go through, with the password; null: none. */
    proxy: blob({ mode: "buffer" }),
    createdAt: integer("created_at").notNull(),
  },
  (t) => [uniqueIndex("devices_account_number").on(t.accountId, t.number)],
);

export const waCreds = sqliteTable("wa_creds", {
  deviceId: integer("device_id").primaryKey(),
  /** Sealed JSON of the Baileys credentials. */
  value: blob({ mode: "buffer" }).notNull(),
  updatedAt: integer("updated_at").notNull(),
});

export const waKeys = sqliteTable(
  "wa_keys",
  {
    deviceId: integer("device_id").notNull(),
    type: text().notNull(),
    id: text().notNull(),
    /** Sealed JSON of one Signal key. */
    value: blob({ mode: "buffer" }).notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.deviceId, t.type, t.id] })],
);

/** LID ↔ phone number pairs, bare users without server or device. */
export const lidMap = sqliteTable(
  "lid_map",
  {
    deviceId: integer("device_id").notNull(),
    lidUser: text("lid_user").notNull(),
    pnUser: text("pn_user").notNull(),
    seenAt: integer("seen_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.deviceId, t.lidUser] }), index("lid_map_pn").on(t.deviceId, t.pnUser)],
);

/** People whom a number has written with, or who stand in the address book of its phone. */
export const contacts = sqliteTable(
  "contacts",
  {
    deviceId: integer("device_id").notNull(),
    /** Canonical id as it was when the row was written. */
    person: text().notNull(),
    /** Sealed JSON of what the person is called; null: nothing of it is known. */
    names: blob({ mode: "buffer" }),
    /** Sealed JSON of what WhatsApp has said of the person; null: it was not asked. */
    details: blob({ mode: "buffer" }),
    askedAt: integer("asked_at"),
    createdAt: integer("created_at").notNull(),
    /** When something of the person came last, within a day of the truth. */
    seenAt: integer("seen_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.deviceId, t.person] }),
    index("contacts_listed").on(t.deviceId, t.createdAt),
  ],
);

/** What WhatsApp has said of numbers that `/check-numbers` asked about, for a day. */
export const numberChecks = sqliteTable(
  "number_checks",
  {
    deviceId: integer("device_id").notNull(),
    /** Digits. */
    number: text().notNull(),
    exists: integer({ mode: "boolean" }).notNull(),
    /** Digits; null when it has none, or is not on WhatsApp. */
    lidUser: text("lid_user"),
    checkedAt: integer("checked_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.deviceId, t.number] })],
);

/** How often a number has done what it may do only so often, such as asking WhatsApp about other numbers: for a day. */
export const allowanceUses = sqliteTable(
  "allowance_uses",
  {
    id: integer().primaryKey(),
    deviceId: integer("device_id").notNull(),
    /** `checks`, `groups`, `members`, `joins`, `profile` or `first_contacts`. */
    kind: text().notNull(),
    /** How many at once. */
    used: integer().notNull(),
    usedAt: integer("used_at").notNull(),
  },
  (t) => [index("allowance_uses_device").on(t.deviceId, t.kind, t.usedAt)],
);

/**
 * Decrypted stanzas whose inbox row is not committed yet, keyed by the ciphertext's hash. Written in the same commit as
 * the ratchet that decrypted them. Once the inbox row exists the content becomes null and the hash stays for a day, so
 * that a redelivery of the same ciphertext is recognised instead of failing to decrypt.
 */
export const journal = sqliteTable(
  "journal",
  {
    deviceId: integer("device_id").notNull(),
    hash: text().notNull(),
    stanzaId: text("stanza_id").notNull(),
    /** Sealed JSON of the message; null once the inbox has it. */
    content: blob({ mode: "buffer" }),
    createdAt: integer("created_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.deviceId, t.hash] }),
    // What must be handed on after a restart: few rows, among the hashes of a whole day.
    index("journal_unspent")
      .on(t.deviceId)
      .where(sql`content is not null`),
    index("journal_age").on(t.createdAt),
  ],
);

/** Each connection of a number, with what WhatsApp said was waiting: the audit compares it with what was stored. */
export const connections = sqliteTable(
  "connections",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    deviceId: integer("device_id").notNull(),
    openedAt: integer("opened_at").notNull(),
    /** Null while it is open, and when the process died with it. */
    closedAt: integer("closed_at"),
    /** Baileys' `DisconnectReason`, or WhatsApp's own code. */
    code: integer(),
    /** Messages that WhatsApp said were waiting; null when it said nothing. */
    announced: integer(),
    /** Messages that then arrived marked as offline. */
    arrived: integer().notNull().default(0),
  },
  (t) => [index("connections_device").on(t.deviceId, t.openedAt)],
);

/** Messages that are known to exist and that could not be read or did not come. */
export const missingMessages = sqliteTable(
  "missing_messages",
  {
    deviceId: integer("device_id").notNull(),
    /** Canonical, like `sender`; see `model/messages.ts`. */
    chat: text().notNull(),
    sender: text().notNull(),
    waId: text("wa_id").notNull(),
    fromMe: integer("from_me", { mode: "boolean" }).notNull().default(false),
    /** Chat and writer as they stood on the wire: so the owner's phone is asked for the message. */
    jid: text().notNull(),
    participant: text(),
    /** WhatsApp's own timestamp, Unix seconds; 0 when it is not known. */
    timestamp: integer().notNull(),
    /** `undecryptable`, `unavailable`, `phone_only`, `history`, `unknown_send`. */
    reason: text().notNull(),
    noticedAt: integer("noticed_at").notNull(),
    /** When it came after all. */
    resolvedAt: integer("resolved_at"),
  },
  (t) => [
    primaryKey({ columns: [t.deviceId, t.chat, t.sender, t.waId] }),
    index("missing_noticed").on(t.deviceId, t.noticedAt),
    // What may still come: few rows, looked for by the id alone.
    index("missing_open")
      .on(t.deviceId, t.waId)
      .where(sql`resolved_at is null`),
  ],
);

/**
 * Messages of others in one hour of a number, counted once they are decided: the audit adds them up instead of reading the
 * inbox. `meta` knows up to which inbox id they are counted here.
 */
export const auditHours = sqliteTable(
  "audit_hours",
  {
    deviceId: integer("device_id").notNull(),
    /** The hour's beginning, Unix milliseconds. */
    hour: integer().notNull(),
    received: integer().notNull(),
    /** Those of them that a bot answered, or that the webhook was given. */
    handled: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.deviceId, t.hour] })],
);

/**
 * Traffic of a number in an hour, counted in memory and written once the hour is over, or when the process ends. Each process
 * writes rows of its own, and what there was is their sum.
 */
export const trafficHours = sqliteTable(
  "traffic_hours",
  {
    deviceId: integer("device_id").notNull(),
    /** The hour's beginning, Unix milliseconds. */
    hour: integer().notNull(),
    /** Which run of which process has counted it. */
    part: text().notNull(),
    /** JSON of numbers, in the order of `metrics/counts.ts`. */
    counts: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.deviceId, t.hour, t.part] })],
);

/** The same of all numbers together, those included that were erased since. */
export const trafficTotals = sqliteTable(
  "traffic_totals",
  {
    hour: integer().notNull(),
    part: text().notNull(),
    counts: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.hour, t.part] })],
);

/**
 * Numbers that were erased and whose rows are still being deleted, a few at a time. Their record is gone already, and their
 * id is never given again.
 */
export const erasedDevices = sqliteTable("erased_devices", {
  /** That `devices` had. */
  id: integer().primaryKey(),
  erasedAt: integer("erased_at").notNull(),
});

export const inbox = sqliteTable(
  "inbox",
  {
    /** Below zero for what was written before the number was linked: see `model/imported.ts`. */
    id: integer().primaryKey({ autoIncrement: true }),
    deviceId: integer("device_id").notNull(),
    /** Canonical chat key, see `model/messages.ts`. */
    chat: text().notNull(),
    sender: text().notNull(),
    waId: text("wa_id").notNull(),
    fromMe: integer("from_me", { mode: "boolean" }).notNull(),
    type: text().notNull(),
    /** `pending` until its decision is committed, then `done`. */
    state: text().$type<"pending" | "done">().notNull().default("pending"),
    /** WhatsApp's own timestamp, Unix seconds. */
    timestamp: integer().notNull(),
    /** Of what was imported, when it was written. */
    receivedAt: integer("received_at").notNull(),
    /** Sealed JSON of `Incoming`. */
    body: blob({ mode: "buffer" }).notNull(),
    /** Message that an edit or a revoke is about; null for all others. */
    targetId: text("target_id"),
  },
  (t) => [
    // What is listed: neither timers of bots nor status broadcasts, of which there may be many.
    index("inbox_listed")
      .on(t.deviceId, t.fromMe, t.receivedAt)
      .where(sql`type <> 'timer' and chat <> 'status@broadcast'`),
    index("inbox_listed_chat")
      .on(t.deviceId, t.chat, t.fromMe, t.receivedAt)
      .where(sql`type <> 'timer' and chat <> 'status@broadcast'`),
    index("inbox_changes")
      .on(t.deviceId, t.targetId)
      .where(sql`target_id is not null`),
    // The id first: by it alone a message is found, whoever wrote it where.
    uniqueIndex("inbox_message").on(t.deviceId, t.waId, t.chat, t.sender),
    index("inbox_pending")
      .on(t.id)
      .where(sql`state = 'pending'`),
    // A process takes up what waits of the numbers that it has.
    index("inbox_waiting")
      .on(t.deviceId, t.id)
      .where(sql`state = 'pending'`),
  ],
);

/** What was decided about one incoming message, and why. */
export const decisions = sqliteTable(
  "decisions",
  {
    inboxId: integer("inbox_id").primaryKey(),
    deviceId: integer("device_id").notNull(),
    chat: text().notNull(),
    waId: text("wa_id").notNull(),
    /** `bot:<id>`, `webhook` or null when nobody answered. */
    by: text(),
    /** Route that answered (`keyword:menu`), or null. */
    route: text(),
    /** Guard that kept bots silent (`own`, `takeover`, `too_old`, `loop_guard`, …), or null. */
    guard: text(),
    /** Who was asked and what came of it, in order. */
    trail: text({ mode: "json" }).$type<{ by: string; outcome: string; detail?: string }[]>().notNull(),
    /** How it came about and what its commit held, for `GET /messages/{id}/trace`; null: written by an earlier version. */
    way: text({ mode: "json" }).$type<Way | null>(),
    at: integer().notNull(),
  },
  (t) => [
    // What is listed: status broadcasts never leave the gateway, and there may be many of them.
    index("decisions_device")
      .on(t.deviceId, t.at)
      .where(sql`chat <> 'status@broadcast'`),
    index("decisions_chat").on(t.deviceId, t.chat, t.at),
    index("decisions_message").on(t.deviceId, t.waId),
  ],
);

export const outbox = sqliteTable(
  "outbox",
  {
    /** Rises in the order in which messages were queued. What waits for its time gets another one when it is. */
    id: integer().primaryKey({ autoIncrement: true }),
    deviceId: integer("device_id").notNull(),
    /** Message id on the wire, fixed before the first attempt. */
    waId: text("wa_id").notNull(),
    /** Canonical chat key: order is kept per chat. */
    chat: text().notNull(),
    /** Address on the wire. */
    jid: text().notNull(),
    /** Destination as `results[].number` shows it. */
    number: text().notNull(),
    kind: text().notNull(),
    /** `api`, `bot:<id>` or `webhook`. */
    origin: text().notNull(),
    /** Of `api`: `console`, or `api:` and what the key was called then; null: a reply, or stored by an earlier version. */
    via: text(),
    /** Replies to a message of the last 24 h go first and are not paced. */
    isReply: integer("is_reply", { mode: "boolean" }).notNull(),
    /** Incoming message that this answers, when it answers one. */
    inboxId: integer("inbox_id"),
    ordinal: integer().notNull().default(0),
    state: text().notNull().default("queued"),
    attempts: integer().notNull().default(0),
    /** Attempts that came to nothing without the connection being at fault, and when the first of them ended. */
    failures: integer().notNull().default(0),
    failingSince: integer("failing_since"),
    error: text({ mode: "json" }).$type<Record<string, unknown> | null>(),
    /** Sealed JSON of `Draft`. */
    body: blob({ mode: "buffer" }).notNull(),
    /** When it was queued. */
    createdAt: integer("created_at").notNull(),
    // When it reached each of the other states, each no earlier than the one before; null when it never did, or when
    // version 0.1 wrote it down in `outbox_history`.
    sentAt: integer("sent_at"),
    deliveredAt: integer("delivered_at"),
    readAt: integer("read_at"),
    playedAt: integer("played_at"),
    /** When it failed, expired or was cancelled. */
    endedAt: integer("ended_at"),
    /** When it is to be queued: it is `scheduled` until then. */
    sendAt: integer("send_at"),
    /** Of one that waited for its `send_at`: when it was asked for. Until it is queued that is `created_at`. */
    scheduledAt: integer("scheduled_at"),
    /** After this it does not leave any more. */
    notAfter: integer("not_after"),
    /** The message that it does something to: `reaction`, `edit`, `revoke`. */
    targetId: text("target_id"),
  },
  (t) => [
    uniqueIndex("outbox_wa_id").on(t.deviceId, t.waId),
    // What is listed.
    index("outbox_listed").on(t.deviceId, t.createdAt),
    index("outbox_listed_chat").on(t.deviceId, t.chat, t.createdAt),
    // What is queued has an index of its own, and its queries must go by that one.
    index("outbox_listed_state")
      .on(t.deviceId, t.state, t.createdAt)
      .where(sql`state <> 'queued'`),
    index("outbox_waiting")
      .on(t.deviceId, t.id)
      .where(sql`state = 'queued'`),
    // What waits for its time, and what has one after which it is too late.
    index("outbox_scheduled")
      .on(t.deviceId, t.sendAt, t.id)
      .where(sql`state = 'scheduled'`),
    // What was done to messages since.
    index("outbox_changes")
      .on(t.deviceId, t.targetId)
      .where(sql`target_id is not null`),
    index("outbox_not_after")
      .on(t.deviceId, t.notAfter)
      .where(sql`state = 'queued' and not_after is not null`),
    // The plan's sends of a day are counted at every send.
    index("outbox_sends")
      .on(t.deviceId, t.createdAt)
      .where(sql`origin = 'api'`),
    // Whether a chat was ever written to is asked only of chats that never wrote to us; replies stay out.
    index("outbox_unasked")
      .on(t.deviceId, t.chat)
      .where(sql`is_reply = 0`),
    // What left lately, and what WhatsApp refused lately, still counts for the pace after a restart.
    index("outbox_left")
      .on(t.sentAt)
      .where(sql`is_reply = 0 and sent_at is not null`),
    index("outbox_refused")
      .on(t.endedAt)
      .where(sql`is_reply = 0 and attempts > 0 and state = 'failed' and ended_at is not null`),
  ],
);

/**
 * When a message of version 0.1 reached each state: nothing is added any more, the times are columns of `outbox`. What is
 * here is read until retention has removed its message.
 */
export const outboxHistory = sqliteTable(
  "outbox_history",
  {
    outboxId: integer("outbox_id").notNull(),
    state: text().notNull(),
    at: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.outboxId, t.state] })],
);

/**
 * Numbers for which a node has stored sends without having them. The owner is told at once; here it finds what it has not
 * heard of. Empty as a rule, and never written by a process that is alone.
 */
export const sendWakes = sqliteTable(
  "send_wakes",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    /** Of the number, as in `leases`. */
    p: integer().notNull(),
    deviceId: integer("device_id").notNull(),
  },
  (t) => [index("send_wakes_partition").on(t.p), index("send_wakes_device").on(t.deviceId)],
);

/** WhatsApp's reach-out lock (error 463): until then this number may not write to people for the first time. */
export const reachoutLocks = sqliteTable("reachout_locks", {
  deviceId: integer("device_id").primaryKey(),
  until: integer().notNull(),
  /** WhatsApp's word for it; null when it gave none. */
  reason: text(),
});

/** WhatsApp wants this number to slow down (429): nothing is sent until then, and a start must not forget it. */
export const sendBrakes = sqliteTable("send_brakes", {
  deviceId: integer("device_id").primaryKey(),
  until: integer().notNull(),
  /** How often in a row; each pause is longer than the one before. */
  times: integer().notNull(),
});

/** Per-chat facts that guards need. */
export const chatState = sqliteTable(
  "chat_state",
  {
    deviceId: integer("device_id").notNull(),
    chat: text().notNull(),
    /** Bots are silent until then: the owner wrote by hand. */
    takeoverUntil: integer("takeover_until"),
    /** Automatic replies are off until then: loop guard. */
    mutedUntil: integer("muted_until"),
    /** Last message of the other side; a send within 24 h of it is a reply. */
    lastIncomingAt: integer("last_incoming_at"),
    /** The webhook keeps this chat until then. */
    heldUntil: integer("held_until"),
    /** When the other side was last told that calls are not taken. */
    callTextAt: integer("call_text_at"),
    /** What the inbox had of the other side by then (`received_at`) was read, in the console or on the phone. */
    readAt: integer("read_at"),
  },
  (t) => [
    primaryKey({ columns: [t.deviceId, t.chat] }),
    // What is held now is read at every start, and not what was held once.
    index("chat_state_held")
      .on(t.deviceId, t.heldUntil)
      .where(sql`held_until is not null`),
  ],
);

/** How the number's phone shows its chats: what its app state says of them. */
export const chatSettings = sqliteTable(
  "chat_settings",
  {
    deviceId: integer("device_id").notNull(),
    /** Canonical as it was when the row was written. */
    chat: text().notNull(),
    archived: integer({ mode: "boolean" }).notNull(),
    pinned: integer({ mode: "boolean" }).notNull(),
    /** As WhatsApp writes it: -1 is for ever. */
    mutedUntil: integer("muted_until"),
    /** Marked by hand. */
    unread: integer({ mode: "boolean" }).notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.deviceId, t.chat] })],
);

/**
 * After how long messages disappear in a chat, by each name of a person. Those of groups are here for people to look at: for a message the
 * group itself is asked.
 */
export const chatTimers = sqliteTable(
  "chat_timers",
  {
    deviceId: integer("device_id").notNull(),
    chat: text().notNull(),
    /** 0: they stay. */
    seconds: integer().notNull(),
    /** When that was set, Unix seconds: of two settings the later one counts. */
    since: integer().notNull(),
    /** The message with which this gateway has set it; null: somebody else has. */
    setBy: text("set_by"),
  },
  (t) => [primaryKey({ columns: [t.deviceId, t.chat] })],
);

export const webhooks = sqliteTable("webhooks", {
  deviceId: integer("device_id").primaryKey(),
  /** Sealed: receivers' keys stand in its query. */
  url: onceClear().notNull(),
  mode: text().$type<WebhookMode>().notNull(),
  replyTo: text("reply_to").$type<ReplyTo>().notNull(),
  events: text({ mode: "json" }).$type<WebhookEventName[]>().notNull(),
  /** Sealed JSON: headers often carry the receiver's credentials. */
  headers: blob({ mode: "buffer" }).notNull(),
  timeoutMs: integer("timeout_ms").notNull(),
  replyMaxAge: integer("reply_max_age").notNull(),
  read: integer({ mode: "boolean" }).notNull(),
  typing: integer({ mode: "boolean" }).notNull(),
  enabled: integer({ mode: "boolean" }).notNull(),
  /** Sealed `whsec_…`. */
  secret: blob({ mode: "buffer" }).notNull(),
  /** Sealed; one or more with a space between, the newest first: they sign as well until `oldSecretUntil`. */
  oldSecret: blob("old_secret", { mode: "buffer" }),
  oldSecretUntil: integer("old_secret_until"),
  /** Failed attempts since the last accepted one, over all deliveries. */
  failures: integer().notNull().default(0),
  /** When the first of them failed; null while the endpoint works. */
  failingSince: integer("failing_since"),
  /** The breaker is open until then: nothing is posted. */
  pausedUntil: integer("paused_until"),
  /** Why Parley turned it off: `gone` (410) or `failing` (for days); null when its owner decides. */
  disabledReason: text("disabled_reason").$type<DisabledReason>(),
  updatedAt: integer("updated_at").notNull(),
});

/** Whom a number tells beside its webhook, which alone answers. */
export const listeners = sqliteTable(
  "listeners",
  {
    id: text().primaryKey(),
    deviceId: integer("device_id").notNull(),
    /** Sealed: receivers' keys stand in its query. */
    url: blob({ mode: "buffer" }).notNull(),
    events: text({ mode: "json" }).$type<WebhookEventName[]>().notNull(),
    /** Sealed JSON; null: every chat. */
    chats: blob({ mode: "buffer" }),
    /** Ids of bots; null: whoever answers a message. */
    bots: text({ mode: "json" }).$type<string[] | null>(),
    /** Sealed JSON: headers often carry the receiver's credentials. */
    headers: blob({ mode: "buffer" }).notNull(),
    timeoutMs: integer("timeout_ms").notNull(),
    enabled: integer({ mode: "boolean" }).notNull(),
    /** As those of `webhooks`. */
    secret: blob({ mode: "buffer" }).notNull(),
    oldSecret: blob("old_secret", { mode: "buffer" }),
    oldSecretUntil: integer("old_secret_until"),
    failures: integer().notNull().default(0),
    failingSince: integer("failing_since"),
    pausedUntil: integer("paused_until"),
    disabledReason: text("disabled_reason").$type<DisabledReason>(),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (t) => [index("listeners_device").on(t.deviceId, t.createdAt)],
);

export const deliveries = sqliteTable(
  "deliveries",
  {
    /** The `webhook-id`. */
    id: text().primaryKey(),
    deviceId: integer("device_id").notNull(),
    /** Id of the listener that it is for; empty: the webhook. */
    listener: text().notNull().default(""),
    inboxId: integer("inbox_id"),
    messageId: text("message_id").notNull(),
    chat: text().notNull(),
    type: text().notNull(),
    /** Sealed; where it was posted to last. */
    url: onceClear().notNull(),
    state: text().$type<"pending" | "delivered" | "retrying" | "dead" | "disabled">().notNull(),
    attempts: integer().notNull().default(0),
    /** When it may go; null when it does not wait, and while it is held behind an older one of its chat. */
    nextAt: integer("next_at"),
    /** Sealed JSON body, posted byte for byte the same on every attempt. */
    body: blob({ mode: "buffer" }).notNull(),
    /** `{understood, ignored, ids}` of the accepted answer; null before one was accepted. */
    reply: text({ mode: "json" }).$type<{ understood: boolean; ignored: string[]; ids: string[] } | null>(),
    /** False when a bot answered already: the answer is recorded and not sent. */
    mayReply: integer("may_reply", { mode: "boolean" }).notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (t) => [
    /** What a number has waiting for a receiver, by the time at which it may go. */
    index("deliveries_waiting")
      .on(t.deviceId, t.listener, t.nextAt, t.chat, t.attempts)
      .where(sql`state in ('pending','retrying')`),
    /** What a chat has waiting, the oldest first. */
    index("deliveries_waiting_chat")
      .on(t.deviceId, t.listener, t.chat, t.createdAt)
      .where(sql`state in ('pending','retrying')`),
    index("deliveries_state").on(t.deviceId, t.state, t.createdAt),
    index("deliveries_device").on(t.deviceId, t.createdAt),
    index("deliveries_message").on(t.deviceId, t.messageId, t.createdAt),
    // Whether something is still owed for a message is asked before it is deleted.
    index("deliveries_owed")
      .on(t.inboxId)
      .where(sql`state in ('pending','retrying')`),
  ],
);

export const deliveryAttempts = sqliteTable(
  "delivery_attempts",
  {
    deliveryId: text("delivery_id").notNull(),
    attempt: integer().notNull(),
    at: integer().notNull(),
    statusCode: integer("status_code"),
    durationMs: integer("duration_ms").notNull(),
    error: text(),
    /** Sealed; the first 4 KiB of the answer. */
    answer: blob({ mode: "buffer" }),
  },
  (t) => [primaryKey({ columns: [t.deliveryId, t.attempt] })],
);

/** The last group list that WhatsApp gave; the 60 s cache in front of it may be lost at any time. */
export const groupLists = sqliteTable("group_lists", {
  deviceId: integer("device_id").primaryKey(),
  /** Sealed JSON of the groups. */
  value: blob({ mode: "buffer" }).notNull(),
  fetchedAt: integer("fetched_at").notNull(),
});

export const botBindings = sqliteTable(
  "bot_bindings",
  {
    deviceId: integer("device_id").notNull(),
    botId: text("bot_id").notNull(),
    enabled: integer({ mode: "boolean" }).notNull(),
    priority: integer(),
    /** Sealed JSON of the bot's settings on this number, which may be keys of other systems; null: none. */
    config: onceClear(),
  },
  (t) => [primaryKey({ columns: [t.deviceId, t.botId] })],
);
/**
 * Files on their way out, already encrypted as WhatsApp wants them; `path` holds the ciphertext, so nothing lies on the
 * disk in the clear. One row serves every destination of the same file. A received file has a row while it lies on the disk of
 * a node, where others have to ask for it: `in/<device>-<inbox id>`. Parts of uploads are `mu_…`, what is sent of them `mf_…`.
 */
export const mediaFiles = sqliteTable(
  "media_files",
  {
    id: text().primaryKey(),
    deviceId: integer("device_id").notNull(),
    /** Relative to `DATA_DIR`. */
    path: text().notNull(),
    /** The node on whose disk it lies; null: this disk when there is one process, or the media store. */
    node: text(),
    /** Sealed JSON: media key, hashes, size, mimetype, thumbnail, duration, waveform. */
    meta: blob({ mode: "buffer" }).notNull(),
    /** Sealed JSON of where WhatsApp keeps it (`{url, directPath}`); null until it is uploaded. */
    upload: blob({ mode: "buffer" }),
    uploadedAt: integer("uploaded_at"),
    createdAt: integer("created_at").notNull(),
  },
  (t) => [index("media_files_created").on(t.createdAt), index("media_files_device").on(t.deviceId)],
);

/** The last answer of each voter to a poll that we sent, or that arrived and whose votes can be read. */
export const pollVotes = sqliteTable(
  "poll_votes",
  {
    deviceId: integer("device_id").notNull(),
    /** Message id of the poll. */
    pollId: text("poll_id").notNull(),
    /** Canonical id of the voter. */
    voter: text().notNull(),
    /** Sealed JSON: names of the chosen options; empty when withdrawn. */
    selected: blob({ mode: "buffer" }).notNull(),
    /** WhatsApp's time of the vote, Unix milliseconds: an older vote never replaces a newer one. */
    votedAt: integer("voted_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.deviceId, t.pollId, t.voter] })],
);

export const channels = sqliteTable(
  "channels",
  {
    deviceId: integer("device_id").notNull(),
    /** `…@newsletter` */
    id: text().notNull(),
    name: text().notNull(),
    /** `owner`, `admin`, `subscriber`, `guest` */
    role: text().notNull(),
    canSend: integer("can_send", { mode: "boolean" }).notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.deviceId, t.id] }), index("channels_listed").on(t.deviceId, t.createdAt)],
);

/** First answers to requests with an idempotency key; kept for 24 hours. */
export const idempotency = sqliteTable(
  "idempotency",
  {
    keyId: text("key_id").notNull(),
    route: text().notNull(),
    /** HMAC of the caller's key: it may hold anything. */
    idemKey: text("idem_key").notNull(),
    /** HMAC of the body without `api_key` and the key itself. */
    fingerprint: text().notNull(),
    /** Ids of the stored messages in the order of the destinations; the answer can be made again from them. */
    waIds: text("wa_ids", { mode: "json" }).$type<string[]>(),
    /** Null while the first request is running. */
    status: integer(),
    /** Sealed body of the answer. */
    answer: blob({ mode: "buffer" }),
    createdAt: integer("created_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.keyId, t.route, t.idemKey] }),
    index("idempotency_created").on(t.createdAt),
  ],
);

/**
 * Requests with an idempotency key that some node is at work on: no other may begin the same. One of a process that is gone,
 * or whose time is over, counts for nothing. Never written by a process that is alone.
 */
export const idempotencyClaims = sqliteTable(
  "idempotency_claims",
  {
    // As in `idempotency`.
    keyId: text("key_id").notNull(),
    route: text().notNull(),
    idemKey: text("idem_key").notNull(),
    fingerprint: text().notNull(),
    /** Of this one request. */
    claim: text().notNull(),
    /** `nodes.incarnation` of the process. */
    incarnation: text(),
    /** Unix milliseconds of the database's own clock. */
    until: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.keyId, t.route, t.idemKey] }),
    index("idempotency_claims_until").on(t.until),
  ],
);

/** What a bot remembers of one chat, or of one writer in a group (`scope`). */
export const botSessions = sqliteTable(
  "bot_sessions",
  {
    deviceId: integer("device_id").notNull(),
    botId: text("bot_id").notNull(),
    scope: text().notNull(),
    /** Of the bot's `session` option when it was written. */
    version: integer().notNull(),
    /** Sealed JSON of the session; null when only the language is kept. */
    value: blob({ mode: "buffer" }),
    /** Language that the person chose, or null. */
    locale: text(),
    /** Null: kept until nobody has written in the chat for a year. */
    expiresAt: integer("expires_at"),
    updatedAt: integer("updated_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.deviceId, t.botId, t.scope] }),
    index("bot_sessions_expiry")
      .on(t.expiresAt)
      .where(sql`expires_at is not null`),
    index("bot_sessions_locale")
      .on(t.deviceId, t.botId)
      .where(sql`locale is not null`),
  ],
);

/** The dialogue that is under way in a chat: at most one for each scope. */
export const botDialogues = sqliteTable(
  "bot_dialogues",
  {
    deviceId: integer("device_id").notNull(),
    scope: text().notNull(),
    botId: text("bot_id").notNull(),
    dialogue: text().notNull(),
    /** Sealed JSON: what was asked and answered so far. */
    state: blob({ mode: "buffer" }).notNull(),
    expiresAt: integer("expires_at"),
    updatedAt: integer("updated_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.deviceId, t.scope] }),
    index("bot_dialogues_expiry").on(t.expiresAt),
    // For the list alone: a condition that always holds keeps those from it who look for one chat.
    index("bot_dialogues_listed")
      .on(t.deviceId, t.updatedAt)
      .where(sql`dialogue <> ''`),
  ],
);

/** Timers of bots. A due one becomes an inbox row in the commit that removes it here. */
export const botTimers = sqliteTable(
  "bot_timers",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    deviceId: integer("device_id").notNull(),
    botId: text("bot_id").notNull(),
    scope: text().notNull(),
    /** One timer of a key in a scope: setting it again moves it. */
    key: text().notNull(),
    /** Sealed JSON: the chat, the writer, and the bot's own data. */
    body: blob({ mode: "buffer" }).notNull(),
    dueAt: integer("due_at").notNull(),
    /** The chat for which it waits, because bots may say nothing there; null: it waits for its time alone. */
    heldIn: text("held_in"),
  },
  (t) => [
    uniqueIndex("bot_timers_key").on(t.deviceId, t.botId, t.scope, t.key),
    index("bot_timers_next").on(t.deviceId, t.dueAt),
    index("bot_timers_held")
      .on(t.deviceId, t.heldIn)
      .where(sql`held_in is not null`),
  ],
);

/** Results of `ctx.step`, kept until their message is decided: an effect that has happened is not made again. */
export const botSteps = sqliteTable(
  "bot_steps",
  {
    inboxId: integer("inbox_id").notNull(),
    deviceId: integer("device_id").notNull(),
    botId: text("bot_id").notNull(),
    key: text().notNull(),
    /** Sealed JSON. */
    value: blob({ mode: "buffer" }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.inboxId, t.botId, t.key] }), index("bot_steps_device").on(t.deviceId)],
);

/** What a bot keeps for itself on one number (`ctx.store`), under keys of its own. */
export const botStore = sqliteTable(
  "bot_store",
  {
    deviceId: integer("device_id").notNull(),
    botId: text("bot_id").notNull(),
    key: text().notNull(),
    /** Sealed JSON. */
    value: blob({ mode: "buffer" }).notNull(),
    /** Another one with every write: whoever has read an older one writes nothing. */
    revision: integer().notNull(),
    /** Null: kept as long as the number is. */
    expiresAt: integer("expires_at"),
  },
  (t) => [
    primaryKey({ columns: [t.deviceId, t.botId, t.key] }),
    index("bot_store_expiry")
      .on(t.expiresAt)
      .where(sql`expires_at is not null`),
  ],
);
