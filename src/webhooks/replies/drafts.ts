import type { Logger } from "../../log.ts";
import { GatewayError } from "../../model/errors/errors.ts";
import type { MediaRequest } from "../../model/media/media.ts";
import { canBeViewedOnce, mannerOf } from "../../model/content/manner.ts";
import type { Draft, DraftQuote, MediaDraft } from "../../model/content/drafts.ts";
import { unlessAborted } from "../../model/shared-abort.ts";
import type { Time } from "../../model/time.ts";
import { OutboundError } from "../../net/errors.ts";
import type { AddressedDraft } from "../../model/answerer.ts";
import type { Webhook } from "../settings.ts";
import type { ParsedReply, WebhookReply } from "./reply.ts";
import type { MediaReply } from "./reply-media.ts";
import type { Delivery, DeliveryReply } from "../rows.ts";

/** Fetches the files that answers name. */
export interface ReplyMedia {
  /**
   * @returns a draft whose file is ready to be sent
   * @throws {GatewayError} FILE_UNREACHABLE, FILE_NOT_USABLE, FILE_TOO_LARGE, URL_NOT_ALLOWED, CONVERTER_MISSING, …
   */
  prepare(request: MediaRequest): Promise<MediaDraft>;
}

interface DraftsDeps {
  log: Logger;
  media: ReplyMedia;
  /** What quoting a message of a chat takes, or null when it is not known there. */
  findQuote(deviceId: number, chat: string, waId: string): Promise<DraftQuote | null>;
  time: Pick<Time, "now" | "after">;
  /** Ends fetches that are under way: the attempt rejects with its reason and does not count. */
  stopping: AbortSignal;
  /** For all files of one answer together. Default 60,000. */
  mediaTimeMs?: number;
}

/** What is to be sent for an accepted answer, and what is recorded of it. */
export interface PreparedReply {
  replies: AddressedDraft[];
  reply: DeliveryReply;
}

/** Makes of a webhook's answer what can be sent, its files fetched. */
export interface Drafts {
  /**
   * @param guard asked before anything is fetched: why no automatic reply may go to this chat, or null
   * @throws the reason of `stopping`
   */
  of(
    parsed: ParsedReply,
    delivery: Delivery,
    webhook: Pick<Webhook, "replyMaxAge">,
    guard?: () => Promise<string | null>,
  ): Promise<PreparedReply>;
}

const MEDIA_TIME_MS = 60_000;
const NOT_ONCE = (): GatewayError =>
  new GatewayError("INVALID_PARAMETERS", "view_once is for images, videos and voice notes.");

/** Makes drafts of what a webhook answered. What may not or cannot be sent is recorded; the others go. */
export function createDrafts(deps: DraftsDeps): Drafts {
  const { log, media, time, stopping, mediaTimeMs = MEDIA_TIME_MS } = deps;

  async function draftOf(
    reply: WebhookReply,
    { deviceId, target }: Delivery,
    signal: AbortSignal,
  ): Promise<Draft> {
    const manner = mannerOf(reply.manner ?? {}, time.now());
    const content =
      reply.kind === "media"
        ? await unlessAborted(signal, media.prepare({ deviceId, ...wantedFile(reply), signal }))
        : plainDraft(reply);
    if (manner.viewOnce && !canBeViewedOnce(content.kind)) throw NOT_ONCE();
    const quote = await quoteOf(reply, deviceId, target);
    return { ...content, ...manner, ...(quote !== null && { quote }) };
  }

  async function quoteOf(
    { quoted, manner }: WebhookReply,
    deviceId: number,
    target: Delivery["target"],
  ): Promise<DraftQuote | null> {
    const named =
      manner?.quote === undefined ? null : await deps.findQuote(deviceId, target.chat, manner.quote);
    return named ?? (quoted ? (target.quote ?? null) : null);
  }

  async function draftsOf(parsed: ParsedReply, delivery: Delivery, ignored: string[]): Promise<Draft[]> {
    // Side by side: one slow server must not use up the time of the other files.
    const make = (signal: AbortSignal): Promise<PromiseSettledResult<Draft>[]> =>
      Promise.allSettled(parsed.replies.map((reply) => draftOf(reply, delivery, signal)));
    const files = parsed.replies.some(({ kind }) => kind === "media");
    const made = await (files ? withinTime(time, stopping, mediaTimeMs, make) : make(stopping));
    return made.flatMap((result, index) => {
      if (result.status === "fulfilled") return [result.value];
      ignored.push(`${nameOf(parsed.replies[index]!)}: ${reasonOf(result.reason, delivery, log)}`);
      return [];
    });
  }

  return {
    async of(parsed, delivery, { replyMaxAge }, guard = async () => null) {
      const { understood } = parsed;
      const ignored = [...parsed.ignored];
      const nothing = (): PreparedReply => ({ replies: [], reply: { understood, ignored, ids: [] } });
      if (parsed.replies.length === 0) return nothing();
      const early = refusal(delivery, replyMaxAge, time.now()) ?? (await guard());
      if (early !== null) {
        ignored.push(early);
        return nothing();
      }
      const drafts = await draftsOf(parsed, delivery, ignored);
      // Files take their time.
      const late = refusal(delivery, replyMaxAge, time.now());
      if (late !== null) {
        ignored.push(late);
        return nothing();
      }
      const { jid } = delivery.target;
      const replies = drafts.map((draft): AddressedDraft => ({ jid, draft }));
      return { replies, reply: { understood, ignored, ids: [] } };
    },
  };
}

/** @param now Unix milliseconds: a reply later than `replyMaxAge` (seconds) after the message is recorded only */
function refusal({ mayReply, target }: Delivery, replyMaxAge: number, now: number): string | null {
  if (!mayReply) return "not sent: the webhook may not answer this message";
  return now - target.timestamp * 1000 > replyMaxAge * 1000
    ? `not sent: the message is older than reply_max_age (${replyMaxAge} s)`
    : null;
}

/** A document's caption is its name there; what stands under it has a field of its own. */
function wantedFile({
  mediaType,
  url,
  caption,
  fileName,
  voice,
}: MediaReply): Omit<MediaRequest, "deviceId"> {
  const isShown = mediaType === "image" || mediaType === "video";
  const named = isShown ? { caption } : { caption: fileName, text: caption };
  const words = Object.entries(named).filter(([, text]) => text !== null);
  return { mediaType, url, ...Object.fromEntries(words), ...(voice && { ptt: "vn" }) };
}

function plainDraft(reply: Exclude<WebhookReply, MediaReply>): Draft {
  if (reply.kind === "shared") return reply.draft;
  if (reply.kind === "text") return { kind: "text", text: reply.text };
  const { name, options, selectable } = reply;
  return { kind: "poll", name, options, selectable };
}

function nameOf(reply: WebhookReply): string {
  if (reply.kind === "shared") return reply.draft.kind;
  return reply.kind === "media" ? reply.name : reply.kind;
}

/** For the record: what these errors say is meant to be read by callers, anything else is not. */
function reasonOf(error: unknown, { deviceId, id }: Delivery, log: Logger): string {
  if (error instanceof GatewayError) {
    const fields = Object.entries(error.details.fields ?? {});
    const wrong = fields.map(([name, texts]) => ` ${name}: ${texts.join(" ")}`);
    return `${error.code}: ${error.message}${wrong.join("")}`;
  }
  if (error instanceof OutboundError) return error.message;
  const kind = error instanceof Error ? error.name : typeof error;
  log.error({ err: error, device: deviceId, delivery: id }, "could not send the file of a webhook's answer");
  return `the file could not be sent (${kind})`;
}

async function withinTime<T>(
  time: Pick<Time, "after">,
  stopping: AbortSignal,
  timeMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  stopping.throwIfAborted();
  const controller = new AbortController();
  const tooSlow = new GatewayError("FILE_UNREACHABLE", `The file did not arrive within ${timeMs / 1000} s.`);
  const cancel = time.after(timeMs, () => controller.abort(tooSlow));
  const stop = (): void => controller.abort(stopping.reason);
  stopping.addEventListener("abort", stop, { once: true });
  try {
    const done = await work(controller.signal);
    stopping.throwIfAborted();
    return done;
  } finally {
    cancel();
    stopping.removeEventListener("abort", stop);
  }
}
