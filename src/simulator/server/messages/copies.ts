import { child, children, element } from "../../wire/nodes.ts";
import type { Attributes, BinaryNode } from "../../wire/nodes.ts";
import type { Device } from "../../world/accounts.ts";
import type { MessageBook } from "./message-book.ts";
import type { Profiles } from "../../world/profiles.ts";
import type { Deliveries, Stamps } from "../ports.ts";
import { verifiedName } from "./verified-name.ts";

interface Needs extends Pick<Stamps, "now">, Deliveries {
  book: MessageBook;
  transcript: { sent(sender: Device, receiver: Device, chat: string, node: BinaryNode): void };
  /** Timestamps and push names that a caller chose for single messages, by sender and id. */
  overrides: ReadonlyMap<string, { t?: string; notify?: string }>;
  profiles: Profiles;
}

/** One device's copy of a message. */
interface Copy {
  sender: Device;
  target: Device;
  /** The chat as the transcript names it. */
  chat: string;
  /** The message as its sender wrote it. */
  node: BinaryNode;
  /** The ciphertexts that are for this device. */
  encs: BinaryNode[];
  /** How the copy names sender and chat. */
  attrs: Attributes;
}

/** Records a copy in the transcript and queues it for its device. */
export type PassCopy = (copy: Copy) => void;

/** Builds each copy's stanza from the attributes that all copies share and its own. */
export function createCopies(needs: Needs): PassCopy {
  return ({ sender, target, chat, node, encs, attrs }) => {
    const all = { ...commonAttributes(needs, sender, node), ...attrs };
    const stanza = element("message", all, [...travelling(node, encs), ...nameOf(needs, sender)]);
    needs.transcript.sent(sender, target, chat, stanza);
    needs.deliver(target, stanza);
  };
}

/** The attributes that every copy of a message carries. */
function commonAttributes(needs: Needs, sender: Device, node: BinaryNode): Attributes {
  const { id, type, edit, category, expiration, push_priority: priority } = node.attrs;
  const override = needs.overrides.get(`${sender.account.number} ${id}`);
  // A resend for a single device carries the date of the original.
  const isResend = node.attrs.participant !== undefined || node.attrs.device_fanout === "false";
  const sentAt = isResend ? needs.book.find(sender.account.number, id!)?.t : undefined;
  return {
    id,
    t: override?.t ?? sentAt ?? needs.now(),
    type: type ?? "text",
    // A name that is chosen to be empty is none.
    notify: (override?.notify ?? node.attrs.notify ?? sender.account.name) || undefined,
    edit,
    category,
    expiration,
    push_priority: priority,
  };
}

/** Messages of a business bear its verified name. Source: whatsmeow `parseMessageInfo`. */
function nameOf({ profiles }: Needs, { account }: Device): BinaryNode[] {
  const business = profiles.known(account.number)?.business;
  return business ? [verifiedName(business.name)] : [];
}

/** Children that travel with each copy besides the ciphertext. */
function travelling(node: BinaryNode, encs: BinaryNode[]): BinaryNode[] {
  const identity = child(node, "device-identity");
  const isFirstContact = encs.some((enc) => enc.attrs.type === "pkmsg");
  return [...encs, ...children(node, "meta"), ...(identity && isFirstContact ? [identity] : [])];
}
