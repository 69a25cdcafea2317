import { decisions, inbox, outbox } from "../../drizzle/schema.ts";
import { newestFirst } from "../model/page.ts";
import { hasFile, textOfDraft, type Draft } from "../model/content/drafts.ts";
import { isImported, type Incoming, type SentState } from "../model/messages.ts";
import { defineQuery, nullable, text } from "../store/query.ts";
import type { Reading } from "../store/store.ts";
import { changesOf, type Changes } from "./changes.ts";
import { partsOfDraft, partsOfIncoming } from "./parts.ts";
import type { Contents, ListedMessage, MessageFile, OwnNumber } from "./records.ts";
import { canonicalChats } from "./same-chat.ts";
import { rowOf, type Spot } from "./spots.ts";

const RECEIVED = defineQuery(
  `SELECT i.id, i.device_id, i.wa_id, i.chat, i.sender, i.from_me, i.type, i.received_at, i.body, d."by"
  FROM inbox i LEFT JOIN decisions d ON d.inbox_id = i.id WHERE i.id IN (SELECT value FROM json_each(?))`,
  {
    id: inbox.id,
    deviceId: inbox.deviceId,
    waId: inbox.waId,
    chat: inbox.chat,
    sender: inbox.sender,
    fromMe: inbox.fromMe,
    type: text<ListedMessage["type"]>(),
    receivedAt: inbox.receivedAt,
    body: inbox.body,
    by: nullable(decisions.by),
  },
);
const SENT = defineQuery(
  `SELECT id, device_id, wa_id, chat, kind, origin, via, state, created_at, send_at, body
  FROM outbox WHERE id IN (SELECT value FROM json_each(?))`,
  {
    id: outbox.id,
    deviceId: outbox.deviceId,
    waId: outbox.waId,
    chat: outbox.chat,
    kind: text<ListedMessage["type"]>(),
    origin: outbox.origin,
    via: outbox.via,
    state: text<SentState>(),
    createdAt: outbox.createdAt,
    sendAt: outbox.sendAt,
    body: outbox.body,
  },
);
const QUOTED = defineQuery(
  `SELECT i.id, i.device_id, i.wa_id, i.body FROM json_each(?1) p CROSS JOIN inbox i
  WHERE i.device_id = json_extract(p.value, '$[0]') AND i.wa_id = json_extract(p.value, '$[1]') LIMIT 200`,
  { id: inbox.id, deviceId: inbox.deviceId, waId: inbox.waId, body: inbox.body },
);
const ANSWERED_LATER = defineQuery(
  `SELECT o.device_id, o.wa_id, o.origin FROM json_each(?1) p CROSS JOIN outbox o
  WHERE o.device_id = json_extract(p.value, '$[0]') AND o.wa_id = json_extract(p.value, '$[1]')`,
  { deviceId: outbox.deviceId, waId: outbox.waId, origin: outbox.origin },
);

/** Rows of messages, as the two tables have them. */
type ReceivedRow = ReturnType<typeof RECEIVED.decode>[number];
type SentRow = ReturnType<typeof SENT.decode>[number];

/** What the rows of a page are made into, besides themselves. */
interface Surroundings {
  contents: Contents;
  numberOf: (deviceId: number) => string;
  canonical: (chat: { deviceId: number; chat: string }) => string;
  changes: Changes;
  /** Who answered after it had been decided that nobody does. */
  answeredLater: (row: ReceivedRow) => string | null;
  /** Texts of quoted messages and facts of files, as far as they are known. */
  quotes: Map<string, string>;
  files: Map<string, { mimetype: string; size: number }>;
}

/** Digits of a number, the full id of everything else: what `number` of a send accepts. */
export const shownAddress = (id: string): string => id.replace(/@s\.whatsapp\.net$/, "");

const keyOf = (deviceId: number, waId: string): string => `${deviceId}:${waId}`;

/** The messages of {@link readPlaced}, in its order. */
export const readMessages = async (...page: Parameters<typeof readPlaced>): Promise<ListedMessage[]> =>
  (await readPlaced(...page)).map(({ message }) => message);

/**
 * Reads the messages of a page, newest first. Six statements, however long the page is. A message that was deleted since its
 * place was found is left out.
 *
 * @param canonical who knows already in which chat they are says so; default: it is looked up
 * @returns each with the `row` of its spot
 */
export async function readPlaced(
  store: Pick<Reading, "read">,
  contents: Contents,
  devices: readonly OwnNumber[],
  spots: readonly Spot[],
  canonical?: Surroundings["canonical"],
): Promise<{ row: number; message: ListedMessage }[]> {
  const idsOf = (sent: boolean): string =>
    JSON.stringify(spots.filter(({ stream }) => (stream === "sent") === sent).map(({ id }) => id));
  const received = await store.read(RECEIVED, [idsOf(false)]);
  const sent = (await store.read(SENT, [idsOf(true)])).map((row) => ({ row, draft: opened(contents, row) }));
  const drafts = sent.flatMap(({ row, draft }) =>
    draft === null ? [] : [{ deviceId: row.deviceId, draft }],
  );
  const numbers = new Map(devices.map(({ id, number }) => [id, number]));
  const around: Surroundings = {
    contents,
    numberOf: (deviceId) => numbers.get(deviceId)!,
    canonical: canonical ?? (await canonicalChats(store, spots)),
    changes: await changesOf(store, contents, spots),
    answeredLater: await laterAnswers(store, contents, received),
    quotes: await quotedTexts(store, contents, drafts),
    files: await contents.fileFacts(drafts.flatMap(({ draft }) => (hasFile(draft) ? [draft.file] : []))),
  };
  const all = [
    ...received.map((row) => ({
      at: row.receivedAt,
      row: rowOf("in", row.id),
      message: cameIn(row, around),
    })),
    ...sent.map(({ row, draft }) => ({
      at: row.createdAt,
      row: rowOf("sent", row.id),
      message: wentOut(row, draft, around),
    })),
  ];
  return all.toSorted(newestFirst);
}

/** A webhook may answer in a retry or a replay: its reply has the id that a reply at once would have had. */
async function laterAnswers(
  store: Pick<Reading, "read">,
  { replyId }: Contents,
  received: readonly ReceivedRow[],
): Promise<Surroundings["answeredLater"]> {
  const open = replyId === null ? [] : received.filter(({ by, fromMe }) => by === null && !fromMe);
  if (replyId === null || open.length === 0) return () => null;
  const pairs = open.map(({ deviceId, id }) => [deviceId, replyId(deviceId, id)]);
  const replies = await store.read(ANSWERED_LATER, [JSON.stringify(pairs)]);
  const origins = new Map(replies.map(({ deviceId, waId, origin }) => [keyOf(deviceId, waId), origin]));
  return ({ deviceId, id }) => origins.get(keyOf(deviceId, replyId(deviceId, id))) ?? null;
}

function cameIn(row: ReceivedRow, around: Surroundings): ListedMessage {
  const { contents, numberOf, canonical } = around;
  const own = numberOf(row.deviceId);
  const message = openedIncoming(contents, row);
  const by = row.by ?? around.answeredLater(row);
  return {
    id: row.waId,
    sender: own,
    chat: shownAddress(canonical(row)),
    direction: row.fromMe ? "out" : "in",
    from: row.fromMe ? own : (message?.number ?? message?.lid ?? shownAddress(row.sender)),
    type: row.type,
    message: message?.text ?? "",
    ...(message && partsOfIncoming(message)),
    ...(message?.media && { media: fileOf(contents, row, message) }),
    ...(message?.quoted && {
      quoted: { ...message.quoted, from: shownAddress(message.quoted.from) },
    }),
    at: row.receivedAt,
    ...(message?.expiresAt !== undefined && { expiresAt: message.expiresAt * 1000 }),
    ...(by !== null && { answeredBy: by }),
    ...(row.fromMe && { by: "phone" }),
    ...(isImported(row.id) && { imported: true as const }),
    ...around.changes(row.deviceId, row.waId, { chat: row.chat, sender: row.sender, fromMe: row.fromMe }),
  };
}

function wentOut(row: SentRow, draft: Draft | null, around: Surroundings): ListedMessage {
  const own = around.numberOf(row.deviceId);
  const quote = draft?.quote;
  return {
    id: row.waId,
    sender: own,
    chat: shownAddress(around.canonical(row)),
    direction: "out",
    from: own,
    type: row.kind,
    message: draft === null ? "" : textOfDraft(draft),
    ...(draft !== null && partsOfDraft(draft, row.waId)),
    ...(draft !== null && hasFile(draft) && { media: sentFile(row, draft, around) }),
    ...(quote && {
      quoted: {
        id: quote.id,
        from: quote.fromMe ? own : shownAddress(quote.sender),
        text: "sent" in quote ? quote.sent.text : (around.quotes.get(keyOf(row.deviceId, quote.id)) ?? ""),
      },
    }),
    at: row.createdAt,
    ...(row.sendAt !== null && { sendAt: row.sendAt }),
    state: row.state,
    ...(row.origin !== "api" && { answeredBy: row.origin }),
    by: row.origin === "api" ? (row.via ?? "api") : row.origin,
    ...around.changes(row.deviceId, row.waId, { chat: row.chat, sender: null, fromMe: true }),
  };
}

function fileOf(contents: Contents, row: ReceivedRow, { media, type }: Incoming): MessageFile {
  const file = media!;
  const link = contents.link({ deviceId: row.deviceId, inboxId: row.id }, file);
  return {
    type: type === "channel" ? file.kind : type,
    mimetype: file.mimetype,
    fileName: file.fileName || null,
    size: file.size,
    ...(file.seconds !== undefined && { seconds: file.seconds }),
    url: "url" in link ? link.url : null,
    ...("error" in link && { error: link.error }),
  };
}

function sentFile(
  row: SentRow,
  draft: Extract<Draft, { file: string }>,
  { contents, files }: Surroundings,
): MessageFile {
  const facts = files.get(draft.file);
  return {
    type: draft.kind,
    mimetype: facts?.mimetype ?? "",
    fileName: draft.fileName ?? null,
    size: facts?.size ?? 0,
    url: facts === undefined ? null : contents.sentLink({ deviceId: row.deviceId, waId: row.waId }),
    ...(facts === undefined && { error: "The gateway no longer has this file." }),
  };
}

async function quotedTexts(
  { read }: Pick<Reading, "read">,
  contents: Contents,
  drafts: { deviceId: number; draft: Draft }[],
): Promise<Map<string, string>> {
  const pairs = drafts.flatMap(({ deviceId, draft }) => (draft.quote ? [[deviceId, draft.quote.id]] : []));
  if (pairs.length === 0) return new Map();
  const rows = await read(QUOTED, [JSON.stringify(pairs)]);
  return new Map(
    rows.map((row) => [keyOf(row.deviceId, row.waId), openedIncoming(contents, row)?.text ?? ""]),
  );
}

/** What is sealed; null when it does not open: one damaged row hides no other. */
function openedIncoming(
  { openIncoming }: Contents,
  { deviceId, waId, body }: { deviceId: number; waId: string; body: Buffer },
): Incoming | null {
  try {
    return openIncoming(deviceId, waId, body);
  } catch {
    return null;
  }
}

function opened({ openDraft }: Contents, { deviceId, waId, body }: SentRow): Draft | null {
  try {
    return openDraft(deviceId, waId, body);
  } catch {
    return null;
  }
}
