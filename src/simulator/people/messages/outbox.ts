import type { proto } from "@whiskeysockets/baileys";
import { type BinaryNode, element } from "../../wire/nodes.ts";
import { envelopeOf, summarize } from "../content.ts";
import { learnTimer } from "./chat-timers.ts";
import type { Directory } from "../directory.ts";
import { readSealedEdit } from "./edits.ts";
import { Encryption, wrapForOwnDevice } from "./encryption.ts";
import type { Encrypted, Envelopes } from "./encryption.ts";
import type { SentEvent } from "../events.ts";
import type { GroupChats } from "../group-chats.ts";
import { learnOption } from "./poll-options.ts";
import { NUMBERS, deviceJid, isGroup, isShared, ownAddress, userJid } from "../jids.ts";
import { type PhoneState, isOwn } from "../phone-state.ts";
import type { Tokens } from "../tokens.ts";

/** How many sent messages a phone remembers, to send them again when a device asks. */
const REMEMBERED = 500;

interface SentMessage {
  to: string;
  message: proto.IMessage;
  /** Who sees a status. */
  audience?: string[];
  /** The group's members were named by the other kind of address at first. */
  isReaddressed?: true;
}

/** The ciphertexts of a stanza, and what goes with them. */
interface Written extends Pick<Envelopes, "participants" | "common"> {
  extra?: BinaryNode[];
}

/** Everything that one device writes: direct and group messages, their resends, and messages to own devices. */
export class Outbox {
  readonly #state: PhoneState;
  readonly #groups: GroupChats;
  readonly #encryption: Encryption;
  readonly #tokens: Tokens;
  readonly #sent = new Map<string, SentMessage>();

  constructor(state: PhoneState, directory: Directory, groups: GroupChats, tokens: Tokens) {
    this.#state = state;
    this.#tokens = tokens;
    this.#groups = groups;
    this.#encryption = new Encryption(state, directory, groups);
  }

  /**
   * Sends a message to a person or a group.
   *
   * @param to        user or group address, or the status address
   * @param audience  who sees a status
   * @throws when the other side is unknown or no device of it can be written to
   */
  async send(to: string, id: string, message: proto.IMessage, audience: string[] = []): Promise<void> {
    const chat = isShared(to) ? to : userJid(to);
    const encrypted = await this.#encryption.forChat(chat, message, audience);
    const { user, device } = this.#state.address;
    const author = deviceJid({ user, server: NUMBERS, device });
    this.#remember(id, { to: chat, message, audience });
    const timestamp = Math.floor(this.#state.world.time.now() / 1000);
    this.#state.memory.add({ id, chat, author, fromMe: true, timestamp, message });
    learnTimer(this.#state, chat, message);
    learnOption(this.#state, message, author);
    const { type, attrs } = envelopeOf(message);
    const head = { id, to: chat, type, ...attrs, ...encrypted.attrs };
    this.#write(head, message, { ...encrypted, extra: this.#tokens.nodesFor(chat) });
    this.#tokens.give(chat);
  }

  /** Sends a message about the account itself to another of its devices. @throws when that device has no keys */
  async sendToOwnDevice(to: string, id: string, message: proto.IMessage): Promise<void> {
    await this.#encryption.startSessions([to]);
    const encrypted = this.#encryption.forDevice(to, message);
    this.#remember(id, { to, message });
    const attrs = { id, to, type: "text", category: "peer", push_priority: "high" };
    this.#write(attrs, message, { participants: [], common: [encrypted] });
  }

  /**
   * Sends an earlier message once more, to the one device that asked for it.
   *
   * @returns false when the message is not remembered
   */
  async sendAgain(id: string, device: string, count: number): Promise<boolean> {
    const sent = this.#sent.get(id);
    if (!sent) return false;
    const { to } = sent;
    const message = isShared(to) ? { ...sent.message, ...this.#encryption.distribution(to) } : sent.message;
    const forOwn = isOwn(this.#state, device) && !isShared(to);
    const isPeer = forOwn && isOwn(this.#state, to);
    const { secretOutsideOwnCopy } = this.#state.world.behaviour;
    const body = forOwn && !isPeer ? wrapForOwnDevice(to, message, secretOutsideOwnCopy) : message;
    const encrypted = this.#encryption.forDevice(device, body);
    encrypted.enc.attrs.count = String(count);
    if (isGroup(to)) this.#groups.gaveKey(to, [device]);
    const envelope = envelopeOf(sent.message);
    const attrs: Record<string, string> = {
      id,
      to: isShared(to) ? to : device,
      type: envelope.type,
      ...envelope.attrs,
    };
    if (isShared(to)) attrs.participant = device;
    else if (isPeer) attrs.category = "peer";
    else attrs.device_fanout = "false";
    if (forOwn && !isPeer) attrs.recipient = to;
    this.#write(attrs, message, { participants: [], common: [encrypted] }, count);
    return true;
  }

  /**
   * Sends a message to a group once more that was refused, because its members go by other addresses now: the group is asked for.
   *
   * @returns false when that was done already
   */
  async sendByOtherAddresses(id: string, group: string): Promise<boolean> {
    const sent = this.#sent.get(id);
    if (!sent || sent.isReaddressed) return false;
    this.#groups.refused(group);
    await this.repeat(id);
    this.#sent.get(id)!.isReaddressed = true;
    return true;
  }

  /** Can this device send the message again? */
  remembers(id: string): boolean {
    return this.#sent.has(id);
  }

  /** Sends an earlier message again to everyone it was for, as a phone does when it has missed the server's ack. */
  async repeat(id: string): Promise<void> {
    const { to, message, audience } = this.#sent.get(id)!;
    await this.send(to, id, message, audience);
  }

  #write(
    attrs: Record<string, string>,
    message: proto.IMessage,
    encrypted: Written,
    resendOf?: number,
  ): void {
    const { world, address } = this.#state;
    const all = [...encrypted.participants, ...encrypted.common];
    const { mediaType } = envelopeOf(message);
    if (mediaType) for (const { enc } of all) enc.attrs.mediatype = mediaType;
    // Recorded before it is sent, so that whoever learns of its arrival can look the message up.
    world.recorder.onSent({
      at: world.time.now(),
      device: address,
      to: attrs.to!,
      id: attrs.id!,
      ...summarize(message),
      ...this.#ownEdit(message),
      encs: all.map(({ to, enc }) => ({ to, type: enc.attrs.type as SentEvent["encs"][number]["type"] })),
      resendOf,
    });
    this.#state.send(element("message", attrs, this.#contentOf(message, encrypted)));
  }

  /** What a sealed edit of this phone says. */
  #ownEdit(message: proto.IMessage): { text?: string } | undefined {
    const { address } = this.#state;
    return (
      readSealedEdit(this.#state, message, ownAddress(address, "s.whatsapp.net")) ??
      readSealedEdit(this.#state, message, ownAddress(address, "lid"))
    );
  }

  #contentOf(message: proto.IMessage, { participants, common, extra = [] }: Written): BinaryNode[] {
    const { deviceIdentity } = this.#state;
    const { nodes = [] } = envelopeOf(message);
    const copies = participants.map(({ to, enc }) => element("to", { jid: to }, [enc]));
    const vouches = deviceIdentity && [...participants, ...common].some(isFirstContact);
    return [
      ...(copies.length > 0 ? [element("participants", {}, copies)] : []),
      ...common.map(({ enc }) => enc),
      ...(vouches ? [element("device-identity", {}, deviceIdentity)] : []),
      ...nodes,
      ...extra,
    ];
  }

  #remember(id: string, sent: SentMessage): void {
    this.#sent.set(id, sent);
    if (this.#sent.size > REMEMBERED) this.#sent.delete(this.#sent.keys().next().value!);
  }
}

const isFirstContact = ({ enc }: Encrypted): boolean => enc.attrs.type === "pkmsg";
