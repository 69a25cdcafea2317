import { decisions, inbox, outbox } from "../../drizzle/schema.ts";
import { contentOpener } from "../inbox/reader.ts";
import { draftOpener } from "../outbox/rows.ts";
import type { Draft } from "../model/content/drafts.ts";
import type { Incoming } from "../model/messages.ts";
import { defineQuery, nullable } from "../store/query.ts";
import type { Store } from "../store/store.ts";

/** One thing that is stored of a conversation. Times are Unix milliseconds. */
export type Happened =
  /** `id` is that of its row; `mergedInto` is WhatsApp's id of the message with which it was answered. */
  | { kind: "came"; at: number; id: number; message: Incoming; mergedInto: string | null; by: string | null }
  /** `answers` is the row of the message that it answers; one that is not in the list is a bot's timer. */
  | {
      kind: "left";
      at: number;
      id: number;
      draft: Draft;
      waId: string;
      origin: string;
      answers: number | null;
    };

/** Which part of a conversation is wanted: the newest messages of it. */
export interface Span {
  deviceId: number;
  /** Keys under which the chat is stored. */
  chats: readonly string[];
  /** Unix milliseconds. */
  since: number;
  /** Unix milliseconds; nothing that came later. Default: up to now. */
  until?: number;
  /** Of what came, and of what left. */
  limit: number;
}

const IN_CHAT = "json_each(?2) c CROSS JOIN";
const came = (fromMe: 0 | 1) =>
  defineQuery(
    `SELECT i.id, i.received_at, i.wa_id, i.body, d."by", d.guard, d.trail
    FROM ${IN_CHAT} inbox i LEFT JOIN decisions d ON d.inbox_id = i.id WHERE i.id IN (SELECT id FROM inbox
      WHERE device_id = ?1 AND id > 0 AND chat = c.value AND from_me = ${fromMe} AND type <> 'timer'
      AND chat <> 'status@broadcast' AND received_at >= ?3 AND received_at <= ?5 ORDER BY received_at DESC, id DESC LIMIT ?4)`,
    {
      id: inbox.id,
      receivedAt: inbox.receivedAt,
      waId: inbox.waId,
      body: inbox.body,
      by: nullable(decisions.by),
      guard: nullable(decisions.guard),
      trail: nullable(decisions.trail),
    },
  );
const CAME = [came(0), came(1)];
const LEFT = defineQuery(
  `SELECT o.id, o.created_at, o.wa_id, o.origin, o.inbox_id, o.body FROM ${IN_CHAT} outbox o
  WHERE o.id IN (SELECT id FROM outbox WHERE device_id = ?1 AND chat = c.value AND created_at >= ?3 AND created_at <= ?5
    ORDER BY created_at DESC, id DESC LIMIT ?4)`,
  {
    id: outbox.id,
    createdAt: outbox.createdAt,
    waId: outbox.waId,
    origin: outbox.origin,
    inboxId: outbox.inboxId,
    body: outbox.body,
  },
);

/** Reads what was said in one chat, in order. What cannot be opened any more is left out. */
export async function readConversation(
  store: Pick<Store, "read" | "box">,
  { deviceId, chats, since, until = Number.MAX_SAFE_INTEGER, limit }: Span,
): Promise<Happened[]> {
  const openIncoming = contentOpener(store.box);
  const openDraft = draftOpener(store.box);
  const args = [deviceId, JSON.stringify(chats), since, limit, until];
  const found: Happened[] = [];
  for (const query of CAME)
    for (const row of await store.read(query, args)) {
      if (row.guard === "own") continue;
      const message = opened(() => openIncoming(deviceId, row.waId, row.body));
      const merged = row.trail?.find(({ outcome }) => outcome === "merged")?.detail ?? null;
      if (message !== null)
        found.push({
          kind: "came",
          at: row.receivedAt,
          id: row.id,
          message,
          mergedInto: merged,
          by: row.by,
        });
    }
  for (const row of await store.read(LEFT, args)) {
    const draft = opened(() => openDraft(deviceId, row.waId, row.body));
    if (draft !== null)
      found.push({
        kind: "left",
        at: row.createdAt,
        id: row.id,
        draft,
        waId: row.waId,
        origin: row.origin,
        answers: row.inboxId,
      });
  }
  // What came first was stored first; an answer is never before its message.
  found.sort(
    (one, other) =>
      one.at - other.at || Number(one.kind === "left") - Number(other.kind === "left") || one.id - other.id,
  );
  return found.slice(-limit);
}

function opened<T>(open: () => T): T | null {
  try {
    return open();
  } catch {
    return null;
  }
}
