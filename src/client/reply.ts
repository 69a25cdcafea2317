/** A text. `quoted`: as an answer to the message that the event is about. */
export interface TextReply {
  message: string;
  quoted?: true;
  hold?: number;
}

/** A poll; `countable` "1": one answer, "0": any number. */
export interface PollReply {
  name: string;
  option: string[];
  countable: "1" | "0";
  quoted?: true;
  hold?: number;
}

/** What a file may be called that is sent; `document` is a file of whatever kind, `sticker` any picture. */
export type MediaType =
  | "image"
  | "video"
  | "audio"
  | "document"
  | "pdf"
  | "xls"
  | "xlsx"
  | "doc"
  | "docx"
  | "zip"
  | "mp3"
  | "xml"
  | "sticker";

/** A file, by its address. */
export interface MediaReply {
  media_type: MediaType;
  url: string;
  caption?: string;
  filename?: string;
  ptt?: "vn";
  quoted?: true;
  hold?: number;
}

/** A place on the map. */
export interface LocationReply {
  latitude: number;
  longitude: number;
  name?: string;
  address?: string;
  quoted?: true;
  hold?: number;
}

/** Cards of people. */
export interface ContactReply {
  contacts: Person[];
  quoted?: true;
  hold?: number;
}

/** A person whose card is sent. */
export interface Person {
  name: string;
  /** Phone numbers, digits with the country code. */
  numbers: string[];
  organization?: string;
  email?: string;
}

/** One thing to be sent. */
export type OneReply = TextReply | PollReply | MediaReply | LocationReply | ContactReply;

/** What a webhook answers, as JSON, with a status of success. */
export type WebhookReply =
  | OneReply
  | { replies: OneReply[]; hold?: number }
  | { hold: number }
  | Record<never, never>;

const MOST_REPLIES = 10;

/** Says what a webhook answers. `Response.json(reply.text("Until six."))` */
export const reply = {
  /** Nothing is sent. */
  none: (): Record<never, never> => ({}),

  text: (message: string): TextReply => ({ message }),

  /** @param options 2 to 5; @param several whether more than one may be chosen */
  poll: (name: string, options: readonly string[], several = false): PollReply => ({
    name,
    option: [...options],
    countable: several ? "0" : "1",
  }),

  /**
   * @param words `caption` stands under an image, a video, and a document that has a `filename`; alone it is a document's name.
   *   `voice` makes a voice note of audio
   */
  media: (
    type: MediaType,
    url: string,
    { voice, ...words }: { caption?: string; filename?: string; voice?: boolean } = {},
  ): MediaReply => ({ media_type: type, url, ...words, ...(voice && { ptt: "vn" }) }),

  /** @param words `name` stands above `address`, below the map */
  location: (
    latitude: number,
    longitude: number,
    words: { name?: string; address?: string } = {},
  ): LocationReply => ({ latitude, longitude, ...words }),

  /** @param people 1 to 10 */
  contact: (...people: Person[]): ContactReply => ({ contacts: people }),

  /** The same, quoting the message that the event is about. */
  quoted: <R extends OneReply>(one: R): R => ({ ...one, quoted: true }),

  /** In this order. @throws RangeError above ten: the gateway sends no more */
  several(...replies: OneReply[]): { replies: OneReply[] } {
    if (replies.length > MOST_REPLIES) throw new RangeError(`At most ${MOST_REPLIES} replies are sent.`);
    return { replies };
  },

  /** Keeps the chat with the webhook, away from bots, for these seconds; 0 lets it go. */
  hold: <R extends WebhookReply = Record<never, never>>(seconds: number, what?: R): R & { hold: number } => ({
    ...(what as R),
    hold: seconds,
  }),
};
