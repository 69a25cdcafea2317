import type { AddressedDraft, StoredMessage } from "../../model/answerer.ts";
import { isAction, type ContentDraft, type DraftQuote, type MediaDraft } from "../../model/content/drafts.ts";
import type { MediaRequest } from "../../model/media/media.ts";
import { MINUTE_MS, SECOND_MS, type Time } from "../../model/time.ts";
import type { FileWanted, Wanted } from "../messages/content.ts";
import type { Effects } from "./effects.ts";

/** Makes files ready to be sent. */
export interface BotMedia {
  /** @throws {GatewayError} FILE_UNREACHABLE, FILE_NOT_USABLE, … */
  prepare(request: MediaRequest): Promise<MediaDraft>;
}

/** Messages that bots name by their ids, as long as they are kept. */
export interface NamedMessages {
  /** What quoting a message of this chat takes; null: it is not known there. */
  findQuote(deviceId: number, chatKey: string, id: string): Promise<DraftQuote | null>;
  /** What somebody else gets when the message is handed on; null: it is not known, or cannot be. */
  handedOn(deviceId: number, id: string): Promise<ContentDraft | null>;
}

export interface ToDraftsDeps {
  media: BotMedia;
  messages: NamedMessages;
  time: Pick<Time, "after">;
  /** Aborts when the gateway waits no longer. */
  stopping?: AbortSignal;
}

/** How phones count what is handed on for the first time. */
const FORWARDED_ONCE = 1;
const FILES_MS = MINUTE_MS;

/** Gets what a handler wants sent: its files, and the messages that it quotes or hands on. */
export async function toDrafts(
  deps: ToDraftsDeps,
  stored: StoredMessage,
  { replies }: Pick<Effects, "replies">,
): Promise<AddressedDraft[]> {
  if (replies.every(({ wanted }) => "draft" in wanted && wanted.quoteId === undefined))
    return replies.map(({ wanted, ...reply }) =>
      addressed(stored, reply, (wanted as { draft: AddressedDraft["draft"] }).draft),
    );
  const { time, stopping } = deps;
  const abort = new AbortController();
  const cancel = time.after(FILES_MS, () =>
    abort.abort(new Error(`The files of the reply did not arrive within ${FILES_MS / SECOND_MS} s.`)),
  );
  const stop = (): void => abort.abort(stopping?.reason);
  if (stopping?.aborted) stop();
  stopping?.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.all(
      replies.map(async ({ wanted, ...reply }) =>
        addressed(stored, reply, await draftOf(deps, stored, wanted, abort.signal)),
      ),
    );
  } finally {
    cancel();
    stopping?.removeEventListener("abort", stop);
  }
}

async function draftOf(
  { media, messages }: ToDraftsDeps,
  { deviceId, message: { chatKey } }: StoredMessage,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<AddressedDraft["draft"]> {
  if ("forward" in wanted) {
    const content = await messages.handedOn(deviceId, wanted.forward);
    if (content === null)
      throw new TypeError(
        `ctx.forward(): the message ${wanted.forward} is not stored any more, or cannot be forwarded.`,
      );
    return { ...content, ...wanted.manner, forwarded: FORWARDED_ONCE };
  }
  const { quoteId } = wanted;
  const named = quoteId === undefined ? null : await messages.findQuote(deviceId, chatKey, quoteId);
  if ("draft" in wanted) {
    const { draft } = wanted;
    return named === null || isAction(draft) ? draft : { ...draft, quote: named };
  }
  const { file, quote = named, manner } = wanted;
  const draft = await media.prepare(requestOf(deviceId, file, signal));
  return { ...draft, ...manner, ...(quote && { quote }) };
}

function addressed(
  { message }: StoredMessage,
  { jid, id }: { jid: string | null; id: string },
  draft: AddressedDraft["draft"],
): AddressedDraft {
  return jid === null || jid === message.chat
    ? { jid: message.chat, draft, id }
    : { jid, draft, id, elsewhere: true };
}

function requestOf(
  deviceId: number,
  { mediaType, url = "", bytes, fileName, caption, text, voice }: FileWanted,
  signal: AbortSignal,
): MediaRequest {
  const name = mediaType === "document" ? fileName : caption;
  return {
    deviceId,
    mediaType,
    url,
    signal,
    ...(bytes !== undefined && { bytes }),
    ...(name !== undefined && { caption: name }),
    ...(text !== undefined && { text }),
    ...(voice && { ptt: "vn" }),
  };
}
