import type { StoredMessage } from "../../model/answerer.ts";
import { sentAt } from "../../model/messages.ts";
import type { Store } from "../../store/store.ts";
import { deliveryId, type Delivery } from "../rows.ts";
import { describeFile, type EventFiles } from "./files.ts";
import { toEvent } from "./payload.ts";

/** For whom the event of a message is, and what is made of it. */
interface ForWhom {
  /** See `Target`. */
  listener: string;
  /** `bot:<id>` of the bot that has answered, or null. */
  handledBy: string | null;
  /** False: whatever is answered is recorded and not sent. */
  mayReply: boolean;
  /** Replies to a message of a group go to its writer alone. */
  privately: boolean;
}

interface DeliveryDeps {
  store: Pick<Store, "box">;
  files: EventFiles;
  /** Unix milliseconds. */
  now: () => number;
}

/** The event of a message for one receiver, before its first attempt. */
export function messageDelivery(
  { store: { box }, files, now }: DeliveryDeps,
  stored: StoredMessage,
  { listener, handledBy, mayReply, privately }: ForWhom,
): Delivery {
  const { deviceId, inboxId, ownNumber, message } = stored;
  const file = describeFile(files, stored);
  const { id, fromMe, raw, participant, chat, sender } = message;
  const quote = { id, sender: participant ?? (fromMe ? sender : chat), fromMe, raw };
  const apart = privately && message.chatKind === "group";
  return {
    id: deliveryId(box, deviceId, inboxId, listener),
    deviceId,
    listener,
    inboxId,
    messageId: id,
    chat: message.chatKey,
    type: message.type,
    attempts: 0,
    mayReply,
    createdAt: now(),
    body: JSON.stringify(toEvent(message, ownNumber, handledBy, file?.media)),
    ...(file?.image && { image: true }),
    // A message of the group cannot be quoted outside of it.
    target: {
      jid: apart ? sender : chat,
      chat: apart ? sender : message.chatKey,
      quote: apart ? null : quote,
      timestamp: Math.floor(sentAt(message) / 1000),
    },
    reply: null,
  };
}
