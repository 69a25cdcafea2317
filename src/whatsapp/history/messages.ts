import type { WAMessage } from "@whiskeysockets/baileys";
import type { OwnIds } from "../addresses.ts";
import { baileys } from "../baileys.ts";
import { withReadablePolls } from "../content/newer-polls.ts";
import { fieldsIn } from "../wire-fields.ts";
import { isGroup, isLid, isPn, withoutDevice } from "../jids.ts";

// Field numbers from WhatsApp's own definitions (`WAProto`, as whatsmeow, whatsapp-rust and zapo have them).
/** `HistorySync`. */
const CONVERSATION = 2;
const PAIR = 15;
/** `HistorySync.phoneNumberToLidMappings`. */
const [PAIR_PN, PAIR_LID] = [1, 2];
/** `Conversation`. */
const [ID, MESSAGE, PN, LID] = [1, 2, 39, 42];
/** `Conversation.messages`, and in it `WebMessageInfo.message`. */
const [INFO, CONTENT] = [1, 2];

/** Fields that are looked at before others have their turn: some of a millisecond. */
const LOOKED_AT_ONCE = 2_000;

/** A message, or null for a pause: whoever reads on lets others have their turn. */
type Breathing<T> = Generator<T | null>;

/** A number and its LID. */
export interface Pair {
  pn: string;
  lid: string;
}

/** The pairs of numbers and LIDs of a piece. @param piece an encoded `HistorySync` */
export function* pairsIn(piece: Uint8Array): Breathing<Pair> {
  let looked = 0;
  for (const { number, from, to } of fieldsIn(piece, 0, piece.length)) {
    if (++looked % LOOKED_AT_ONCE === 0) yield null;
    if (number !== PAIR) continue;
    const texts = textsIn(piece, from, to);
    const [pn, lid] = [withoutDevice(texts.get(PAIR_PN)), withoutDevice(texts.get(PAIR_LID))];
    if (isPn(pn) && isLid(lid)) yield { pn, lid };
  }
}

/**
 * The messages of a piece, those of one chat behind another, the oldest first, as far as they can be read. One is decoded at
 * a time: a piece may hold a hundred thousand.
 *
 * @param piece an encoded `HistorySync`
 */
export function* messagesIn(piece: Uint8Array, own: OwnIds): Breathing<WAMessage> {
  for (const { number, from, to } of fieldsIn(piece, 0, piece.length))
    if (number === CONVERSATION) yield* messagesOfChat(piece, from, to, own);
}

/** Whose a chat is. */
interface Chat {
  id: string;
  /** The other form of a person's address; null when it is not told. */
  alternative: string | null;
}

function* messagesOfChat(piece: Uint8Array, start: number, end: number, own: OwnIds): Breathing<WAMessage> {
  // Begin and end of each in turn: objects of so many would be a burden.
  const places: number[] = [];
  const texts = new Map<number, string>();
  let looked = 0;
  for (const { number, from, to } of fieldsIn(piece, start, end)) {
    if (++looked % LOOKED_AT_ONCE === 0) yield null;
    if (number === MESSAGE) places.push(from, to);
    else if (SAID.has(number)) texts.set(number, textOf(piece, from, to));
  }
  const chat = chatOf(texts);
  if (chat === null) return;
  // Phones begin with the newest.
  for (let at = places.length - 2; at >= 0; at -= 2) {
    const message = messageAt(piece, places[at]!, places[at + 1]!, chat, own);
    if (message !== null) yield message;
  }
}

const SAID = new Set([ID, PN, LID]);

/** Null for what is no chat with people: status updates, lists, channels. */
function chatOf(texts: Map<number, string>): Chat | null {
  const id = withoutDevice(texts.get(ID));
  if (isGroup(id)) return { id, alternative: null };
  if (!isPn(id) && !isLid(id)) return null;
  const other = withoutDevice(texts.get(isPn(id) ? LID : PN));
  const alternative = isPn(id) ? isLid(other) : isPn(other);
  return { id, alternative: alternative ? other : null };
}

/** Null when it cannot be read, or holds nothing. */
function messageAt(
  piece: Uint8Array,
  start: number,
  end: number,
  { id: remoteJid, alternative }: Chat,
  own: OwnIds,
): WAMessage | null {
  const info = [...fieldsIn(piece, start, end)].find(({ number }) => number === INFO);
  if (info === undefined) return null;
  try {
    const found = baileys.proto.WebMessageInfo.decode(
      withReadablePolls(piece.subarray(info.from, info.to), CONTENT),
    );
    const { key, message, messageTimestamp, participant, pushName } = found;
    if (!key?.id || !message) return null;
    const fromMe = key.fromMe ?? false;
    const inGroup = isGroup(remoteJid);
    const writer = fromMe ? own.pn : participant || key.participant || undefined;
    if (inGroup && writer === undefined) return null;
    return unedited({
      key: {
        remoteJid,
        id: key.id,
        fromMe,
        ...(inGroup ? { participant: writer } : alternative !== null && { remoteJidAlt: alternative }),
      },
      message,
      messageTimestamp,
      pushName,
    } as WAMessage);
  } catch {
    return null;
  }
}

/** A message that was edited may stand there as its last edit: it is the message, with the text that it has now. */
function unedited(found: WAMessage): WAMessage {
  const edit = baileys.normalizeMessageContent(found.message)?.protocolMessage;
  if (!edit?.editedMessage || !edit.key?.id) return found;
  return { ...found, key: { ...found.key, id: edit.key.id }, message: edit.editedMessage };
}

const textOf = (bytes: Uint8Array, from: number, to: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("utf8");

function textsIn(bytes: Uint8Array, start: number, end: number): Map<number, string> {
  const texts = new Map<number, string>();
  for (const { number, from, to } of fieldsIn(bytes, start, end)) texts.set(number, textOf(bytes, from, to));
  return texts;
}
