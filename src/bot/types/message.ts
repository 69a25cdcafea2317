import type { Incoming, IncomingMedia, MediaKind, MessageType } from "../../model/messages.ts";
import type { PollView } from "../../model/polls.ts";

/**
 * A message as bots see it: a frozen view of what arrived. It is an interface because editors show an interface by its name,
 * but spell out an alias.
 */
export interface Message extends Readonly<
  Pick<
    Incoming,
    | "id"
    | "type"
    | "text"
    | "timestamp"
    | "quoted"
    | "mentions"
    | "location"
    | "contacts"
    | "reaction"
    | "targetId"
  >
> {
  /** The message's file: its description, not its bytes (`ctx.file()` returns those). */
  readonly media: Readonly<IncomingMedia> | null;
  /** The poll that arrived, or that a vote belongs to, with all known votes. */
  readonly poll: PollView | null;
}

/** Fields that are never null in messages of a type. */
type Known<Key extends keyof Message> = { [K in Key]: NonNullable<Message[K]> };
/** A message whose type is known. */
type OfType<Type extends MessageType> = Omit<Message, "type"> & { readonly type: Type };

/** A message of one type, with the fields that this type always has. */
export type MessageOf<Type extends MessageType> = Type extends "location"
  ? OfType<Type> & Known<"location">
  : Type extends "contact"
    ? OfType<Type> & Known<"contacts">
    : Type extends "poll" | "poll_vote"
      ? OfType<Type> & Known<"poll">
      : Type extends "reaction"
        ? OfType<Type> & Known<"reaction">
        : Type extends "edit" | "revoke"
          ? OfType<Type> & Known<"targetId">
          : OfType<Type>;

/** A message with a file. */
type MediaMessage<Kind extends MediaKind> = Omit<Message, "media"> & {
  readonly media: Readonly<Omit<IncomingMedia, "kind"> & { kind: Kind }>;
};

/**
 * What `b.on` takes: a message type (`location`, `reaction`, `edit`, …); `media` or `media:image` for files; `poll:new` and
 * `poll:vote`; `quoted` for answers to an earlier message; `mention` for messages that mention somebody.
 */
export type Filter =
  | Exclude<MessageType, "unknown">
  | "unknown"
  | "media"
  | `media:${MediaKind}`
  | "poll:new"
  | "poll:vote"
  | "quoted"
  | "mention";

/** The type of the message after a filter. */
export type Filtered<F extends Filter> = F extends "media"
  ? MediaMessage<MediaKind>
  : F extends `media:${infer Kind extends MediaKind}`
    ? MediaMessage<Kind>
    : F extends "poll:new"
      ? MessageOf<"poll">
      : F extends "poll:vote"
        ? MessageOf<"poll_vote">
        : F extends "quoted"
          ? Message & Known<"quoted">
          : F extends MessageType
            ? MessageOf<F>
            : Message;
