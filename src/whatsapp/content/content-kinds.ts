import type { proto } from "@whiskeysockets/baileys";
import type { Incoming, MessageType } from "../../model/messages.ts";
import { findFile } from "./content-media.ts";
import { contactsIn } from "./vcard.ts";

/** What a message says, without who says it to whom. */
export interface Content extends Pick<
  Incoming,
  "type" | "text" | "location" | "contacts" | "reaction" | "targetId" | "viewOnce"
> {
  media: NonNullable<Incoming["media"]> | null;
  /** A poll that begins here; its id is the message's. */
  poll: { name: string; options: string[] } | null;
  context: proto.IContextInfo | null;
}

/** What one kind of content has beyond an empty one. */
export type Said = Partial<Content> & { type: MessageType };

/** Kinds that are no message to anybody: keys, settings, receipts of a kind. An album's pictures come after it. */
export const SILENT = new Set([
  "protocolMessage",
  "senderKeyDistributionMessage",
  "fastRatchetKeySenderKeyDistributionMessage",
  "keepInChatMessage",
  "pinInChatMessage",
  "stickerSyncRmrMessage",
  "encEventResponseMessage",
  "encReactionMessage",
  "encCommentMessage",
  "callLogMesssage",
  "messageHistoryNotice",
  "messageHistoryBundle",
  "albumMessage",
]);

type Reader = (content: proto.IMessage) => Said;

const text = (value: string | null | undefined): Said => ({ type: "text", text: value ?? "" });
const unknown = (value: string | null | undefined): Said => ({ type: "unknown", text: value ?? "" });

const file: Reader = (content) => {
  const found = findFile(content);
  if (found === null) return { type: "unknown" };
  const { caption } = found.message as { caption?: string | null };
  return { type: found.kind, text: caption ?? "", media: found.media };
};

const poll =
  (
    name: "pollCreationMessage" | "pollCreationMessageV2" | "pollCreationMessageV3" | "pollCreationMessageV5",
  ): Reader =>
  ({ [name]: created }) => ({
    type: "poll",
    text: created?.name ?? "",
    poll: {
      name: created?.name ?? "",
      options: (created?.options ?? []).map(({ optionName }) => optionName ?? ""),
    },
  });

/** One entry per protobuf field that can be a message's content. */
export const READERS: Record<string, Reader> = {
  conversation: (content) => text(content.conversation),
  extendedTextMessage: (content) => text(content.extendedTextMessage?.text),
  imageMessage: file,
  videoMessage: file,
  ptvMessage: file,
  audioMessage: file,
  documentMessage: file,
  stickerMessage: file,
  locationMessage: (content) => readLocation(content.locationMessage),
  liveLocationMessage: ({ liveLocationMessage: live }) => ({
    ...readLocation(live),
    text: live?.caption ?? "",
  }),
  contactMessage: (content) => ({
    type: "contact",
    text: content.contactMessage?.displayName ?? "",
    contacts: contactsIn([content.contactMessage]),
  }),
  contactsArrayMessage: (content) => ({
    type: "contact",
    text: content.contactsArrayMessage?.displayName ?? "",
    contacts: contactsIn(content.contactsArrayMessage?.contacts ?? []),
  }),
  pollCreationMessage: poll("pollCreationMessage"),
  pollCreationMessageV2: poll("pollCreationMessageV2"),
  pollCreationMessageV3: poll("pollCreationMessageV3"),
  pollCreationMessageV5: poll("pollCreationMessageV5"),
  pollUpdateMessage: (content) => ({
    type: "poll_vote",
    targetId: content.pollUpdateMessage?.pollCreationMessageKey?.id ?? null,
  }),
  reactionMessage: ({ reactionMessage }) => ({
    type: "reaction",
    text: reactionMessage?.text ?? "",
    reaction: { id: reactionMessage?.key?.id ?? "", emoji: reactionMessage?.text ?? "" },
  }),
  buttonsResponseMessage: ({ buttonsResponseMessage: answer }) =>
    text(answer?.selectedDisplayText || answer?.selectedButtonId),
  listResponseMessage: ({ listResponseMessage: answer }) =>
    text(answer?.title || answer?.singleSelectReply?.selectedRowId),
  templateButtonReplyMessage: ({ templateButtonReplyMessage: answer }) =>
    text(answer?.selectedDisplayText || answer?.selectedId),
  interactiveResponseMessage: ({ interactiveResponseMessage: answer }) =>
    text(answer?.body?.text || answer?.nativeFlowResponseMessage?.paramsJson),
  interactiveMessage: (content) => {
    const { header, body } = content.interactiveMessage ?? {};
    const said = text(body?.text || header?.title);
    const found = findFile(content);
    return found === null ? said : { ...said, type: found.kind, media: found.media };
  },
  listMessage: ({ listMessage: list }) => text(list?.description || list?.title),
  templateMessage: ({ templateMessage: template }) => {
    const inner = template?.interactiveMessageTemplate;
    return inner ? READERS.interactiveMessage!({ interactiveMessage: inner }) : { type: "unknown" };
  },
  productMessage: ({ productMessage }) => unknown(productMessage?.body || productMessage?.product?.title),
  orderMessage: ({ orderMessage }) => unknown(orderMessage?.message || orderMessage?.orderTitle),
  eventMessage: (content) => unknown(content.eventMessage?.name),
  groupInviteMessage: (content) => unknown(content.groupInviteMessage?.caption),
  newsletterAdminInviteMessage: (content) => unknown(content.newsletterAdminInviteMessage?.caption),
};

function readLocation(location: proto.Message.ILocationMessage | null | undefined): Said {
  const name = location?.name || null;
  const address = location?.address || null;
  return {
    type: "location",
    text: name ?? address ?? "",
    location: {
      latitude: location?.degreesLatitude ?? 0,
      longitude: location?.degreesLongitude ?? 0,
      name,
      address,
    },
  };
}
