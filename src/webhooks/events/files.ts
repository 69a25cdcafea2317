import type { Incoming, IncomingMedia } from "../../model/messages.ts";
import type { WebhookMedia } from "./payload.ts";
import type { Delivery } from "../rows.ts";

/** Files of messages, as far as events need them. */
export interface EventFiles {
  /** The address of a message's file on this gateway, or why there is none. */
  link(
    target: { deviceId: number; inboxId: number },
    media: IncomingMedia,
  ): { url: string } | { error: string };
  /** Bytes of the largest image that an event holds. */
  largestImage: number;
  /**
   * An image as base64, or why there is none. Takes a limited time and keeps the chat waiting, no other one.
   * @throws only when the gateway is stopping
   */
  image(target: { deviceId: number; inboxId: number }): Promise<{ base64: string } | { error: string }>;
}

/** What an event says of the message's file, and whether the file itself belongs into it (`bufferImage`). */
export function describeFile(
  files: EventFiles,
  { deviceId, inboxId, message }: { deviceId: number; inboxId: number; message: Incoming },
): { media: WebhookMedia; image: boolean } | null {
  const { media } = message;
  if (!media) return null;
  const link = files.link({ deviceId, inboxId }, media);
  const isImage = media.kind === "image" && "url" in link;
  const fits = media.size <= files.largestImage;
  const error = "error" in link ? link.error : isImage && !fits ? tooLarge(files) : null;
  return {
    media: {
      type: message.type === "channel" ? media.kind : message.type,
      mimetype: media.mimetype,
      fileName: media.fileName || null,
      size: media.size,
      url: "url" in link ? link.url : null,
      ...(error !== null && { error }),
    },
    image: isImage && fits,
  };
}

/**
 * The body to post. An image is put in now: no row holds megabytes, and an attempt that comes hours later has the image
 * even when the first one came too early for it.
 */
export async function postedBody(
  files: EventFiles,
  { deviceId, inboxId, body, image }: Delivery,
): Promise<string> {
  if (!image) return body;
  const loaded = await files.image({ deviceId, inboxId });
  const event = JSON.parse(body) as { media: WebhookMedia };
  if ("base64" in loaded) return JSON.stringify({ ...event, bufferImage: loaded.base64 });
  // What cannot be loaded now would not be there under its address either.
  const media = { ...event.media, url: null, error: loaded.error };
  return JSON.stringify({ ...event, media });
}

/** Said beside an address that works: the image is only too large for JSON. */
const tooLarge = ({ largestImage }: EventFiles): string =>
  `bufferImage holds images of up to ${largestImage / 1024 ** 2} MiB; load this one from media.url.`;
