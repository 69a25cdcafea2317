import { inbox, outbox } from "../../drizzle/schema.ts";
import { textOfDraft } from "../model/content/drafts.ts";
import type { Incoming } from "../model/messages.ts";
import { defineQuery, text } from "../store/query.ts";
import type { Reading } from "../store/store.ts";
import type { Contents } from "./records.ts";

/** What edits and revokes have made of a message. @param of the message itself; `sender` null: this gateway */
export type Changes = (
  deviceId: number,
  waId: string,
  of: { chat: string; sender: string | null; fromMe: boolean },
) => { message?: string; edited?: true; revoked?: true };

/** Of one message that are looked at: anybody may send an edit of anything, and most mean nothing. */
const MOST_OF_ONE = 10;
/** Edits of a page that are opened once more: each is a few lookups, and a stranger may send any number that opens for nobody. */
const MOST_LATE = 20;

const CHANGES = defineQuery(
  `SELECT i.device_id, i.target_id AS targetId, i.wa_id, i.type, i.chat, i.sender, i.from_me, i.body
  FROM json_each(?1) p CROSS JOIN inbox i WHERE i.id IN (SELECT id FROM inbox
    WHERE device_id = json_extract(p.value, '$[0]') AND target_id = json_extract(p.value, '$[1]')
    AND target_id IS NOT NULL ORDER BY id DESC LIMIT ${MOST_OF_ONE})
  ORDER BY i.timestamp DESC, i.id DESC`,
  {
    deviceId: inbox.deviceId,
    targetId: text(),
    waId: inbox.waId,
    type: text<"edit" | "revoke">(),
    chat: inbox.chat,
    sender: inbox.sender,
    fromMe: inbox.fromMe,
    body: inbox.body,
  },
);

/** What the gateway itself has done to messages, or is about to. */
const OUR_CHANGES = defineQuery(
  `SELECT o.device_id, o.target_id AS targetId, o.wa_id, o.kind, o.body
  FROM json_each(?1) p CROSS JOIN outbox o WHERE o.id IN (SELECT id FROM outbox INDEXED BY outbox_changes
    WHERE device_id = json_extract(p.value, '$[0]') AND target_id = json_extract(p.value, '$[1]')
    AND target_id IS NOT NULL AND kind IN ('edit', 'revoke') AND state NOT IN ('failed', 'expired', 'cancelled')
    ORDER BY id DESC LIMIT ${MOST_OF_ONE})
  ORDER BY o.id DESC`,
  {
    deviceId: outbox.deviceId,
    targetId: text(),
    waId: outbox.waId,
    kind: text<"edit" | "revoke">(),
    body: outbox.body,
  },
);

type Row = ReturnType<typeof CHANGES.decode>[number];

/**
 * Looks up what has become of messages since. Only the writer's own edit counts, and the last that was written, whenever it came; a
 * revoke in a group may be that of an admin, and counts whoever it comes from: WhatsApp's servers let no other through.
 */
export async function changesOf(
  { read }: Pick<Reading, "read">,
  contents: Pick<Contents, "openIncoming" | "openDraft" | "readAgain">,
  messages: readonly { deviceId: number; waId: string }[],
): Promise<Changes> {
  const pairs = messages.map(({ deviceId, waId }) => [deviceId, waId]);
  const rows = await read(CHANGES, [JSON.stringify(pairs)]);
  const ours = await read(OUR_CHANGES, [JSON.stringify(pairs)]);
  const texts = await newestTexts(
    contents,
    rows.filter(({ type }) => type === "edit"),
  );

  return (deviceId, waId, { chat, sender, fromMe }) => {
    const own = ours.filter((row) => row.deviceId === deviceId && row.targetId === waId);
    const ownEdit = fromMe ? own.find(({ kind }) => kind === "edit") : undefined;
    const about = rows.filter(
      (row) => row.deviceId === deviceId && row.targetId === waId && row.chat === chat,
    );
    const byWriter = about.filter((row) => (sender === null ? row.fromMe : row.sender === sender));
    const edits = byWriter.filter(({ type }) => type === "edit");
    const revoked = (chat.endsWith("@g.us") ? about : byWriter).some(({ type }) => type === "revoke");
    const readable = edits.find((row) => texts.has(row));
    const text = ownEdit === undefined ? readable && texts.get(readable) : draftText(ownEdit);
    return {
      ...(text !== undefined && { message: text }),
      ...((edits.length > 0 || ownEdit !== undefined) && { edited: true }),
      ...((revoked || own.some(({ kind }) => kind === "revoke")) && { revoked: true }),
    };
  };

  function draftText({ deviceId, waId, body }: (typeof ours)[number]): string | undefined {
    try {
      return textOfDraft(contents.openDraft(deviceId, waId, body));
    } catch {
      return undefined;
    }
  }
}

/**
 * The text of the newest edit of each writer that has one. An edit without a text is one that could not be opened: what is known is
 * shown, not nothing.
 *
 * @param edits the newest first
 */
async function newestTexts(
  { openIncoming, readAgain }: Pick<Contents, "openIncoming" | "readAgain">,
  edits: readonly Row[],
): Promise<Map<Row, string>> {
  const texts = new Map<Row, string>();
  const known = new Set<string>();
  let late = 0;
  for (const row of edits) {
    const { deviceId, targetId, chat, sender } = row;
    const writer = JSON.stringify([deviceId, targetId, chat, sender]);
    if (known.has(writer)) continue;
    const edit = opened(row);
    const isLate = edit !== null && edit.text === "" && readAgain !== undefined && late++ < MOST_LATE;
    const text = (isLate ? await readAgain(deviceId, edit) : edit)?.text ?? "";
    if (text === "") continue;
    texts.set(row, text);
    known.add(writer);
  }
  return texts;

  function opened({ deviceId, waId, body }: Row): Incoming | null {
    try {
      return openIncoming(deviceId, waId, body);
    } catch {
      return null;
    }
  }
}
