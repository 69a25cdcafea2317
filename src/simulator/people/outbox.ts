import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import { type BinaryNode, element } from "../wire/nodes.ts";
import { envelopeOf, summarize } from "./content.ts";
import type { Directory } from "./directory.ts";
import type { GroupChats } from "./group-chats.ts";
import { NUMBERS, STATUS, deviceJid, isGroup, isShared, userJid } from "./jids.ts";
import type { SentEvent } from "./link.ts";
import { pad } from "./padding.ts";
import { type PhoneState, isOwn, isThisDevice, ownJid } from "./phone-state.ts";

/** Sent messages that a phone can still send again when a device asks for them. */
const REMEMBERED = 500;

interface SentMessage {
  to: string;
  message: proto.IMessage;
  /** Who sees a status. */
  audience?: string[];
}

interface Encrypted {
  to: string;
  enc: BinaryNode;
}

/** Everything that one device writes: direct and group messages, their resends, and messages to own devices. */
export class Outbox {
  readonly #state: PhoneState;
  readonly #directory: Directory;
  readonly #groups: GroupChats;
  readonly #sent = new Map<string, SentMessage>();

  constructor(state: PhoneState, directory: Directory, groups: GroupChats) {
    this.#state = state;
    this.#directory = directory;
    this.#groups = groups;
  }

  /**
   * Sends a message to a person or a group.
   *
   * @param to        user or group address, or {@link STATUS}
   * @param audience  who sees a status
   * @throws when the other side is unknown or no device of it can be written to
   */
  async send(to: string, id: string, message: proto.IMessage, audience: string[] = []): Promise<void> {
    const chat = isShared(to) ? to : userJid(to);
    const encrypted = await this.#encryptFor(chat, message, audience);
    const { user, device } = this.#state.address;
    const author = deviceJid({ user, server: NUMBERS, device });
    this.#remember(id, { to: chat, message, audience });
    const timestamp = Math.floor(this.#state.world.clock.now() / 1000);
    this.#state.memory.add({ id, chat, author, fromMe: true, timestamp, message });
    const { type, attrs } = envelopeOf(message);
    this.#write({ id, to: chat, type, ...attrs, ...encrypted.attrs }, message, encrypted);
  }

  /** Sends a message that concerns the account to one other device of it. @throws when it has no keys */
  async sendToOwnDevice(to: string, id: string, message: proto.IMessage): Promise<void> {
    await this.#startSessions([to]);
    const { enc } = this.#encrypt(to, proto.Message.encode(message).finish());
    this.#remember(id, { to, message });
    const attrs = { id, to, type: "text", category: "peer", push_priority: "high" };
    this.#write(attrs, message, { participants: [], common: [{ to, enc }] });
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
    const message = isShared(to) ? { ...sent.message, ...this.#distribution(to) } : sent.message;
    const forOwn = isOwn(this.#state, device) && !isShared(to);
    const isPeer = forOwn && isOwn(this.#state, to);
    const body = forOwn && !isPeer ? wrapForOwnDevice(to, message) : message;
    const { enc } = this.#encrypt(device, proto.Message.encode(body).finish());
    enc.attrs.count = String(count);
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
    this.#write(attrs, message, { participants: [], common: [{ to: device, enc }] }, count);
    return true;
  }

  remembers(id: string): boolean {
    return this.#sent.has(id);
  }

  /** Sends an earlier message once more to all it was for, as a phone does that has missed the server's ack. */
  async repeat(id: string): Promise<void> {
    const { to, message, audience } = this.#sent.get(id)!;
    await this.send(to, id, message, audience);
  }

  async #encryptFor(chat: string, message: proto.IMessage, audience: string[]) {
    if (chat === STATUS) return await this.#forAudience(audience, message);
    return await (isGroup(chat) ? this.#forGroup(chat, message) : this.#forPerson(chat, message));
  }

  /** A status: the sender key goes along each time, since its readers may be others than last time. */
  async #forAudience(audience: string[], message: proto.IMessage) {
    const own = ownJid(this.#state, audience[0] ?? `0@${NUMBERS}`);
    const devices = await this.#reachable(async () => {
      const all = await this.#directory.devicesOf([userJid(own), ...audience]);
      return all.filter((jid) => !isThisDevice(this.#state, jid));
    });
    const distribution = proto.Message.encode(this.#distribution(STATUS)).finish();
    const participants = devices.map((jid) => this.#encrypt(jid, distribution));
    return { participants, common: [this.#encryptForAll(STATUS, message)], attrs: {} };
  }

  #encryptForAll(chat: string, message: proto.IMessage): Encrypted {
    const padded = pad(proto.Message.encode(message).finish(), this.#state.random);
    const ciphertext = this.#state.signal.groupEncrypt(chat, padded);
    return { to: chat, enc: element("enc", { v: "2", type: "skmsg" }, ciphertext) };
  }

  async #forPerson(to: string, message: proto.IMessage) {
    const own = userJid(ownJid(this.#state, to));
    const devices = await this.#reachable(async () => {
      const all = await this.#directory.devicesOf([own, to]);
      return all.filter((jid) => !isThisDevice(this.#state, jid));
    });
    if (!devices.some((jid) => userJid(jid) === to) && to !== own) {
      throw new Error(`No device of ${to} gives keys to write to.`);
    }
    const plain = proto.Message.encode(message).finish();
    const copy = proto.Message.encode(wrapForOwnDevice(to, message)).finish();
    const participants = devices.map((jid) => this.#encrypt(jid, isOwn(this.#state, jid) ? copy : plain));
    return { participants, common: [], attrs: {} };
  }

  async #forGroup(group: string, message: proto.IMessage) {
    let addressing = "pn";
    const devices = await this.#reachable(async () => {
      const chat = await this.#groups.chat(group);
      addressing = chat.addressing;
      return await this.#groups.devices(chat);
    });
    const without = this.#groups.withoutKey(group, devices);
    const distribution = proto.Message.encode(this.#distribution(group)).finish();
    const participants = without.map((jid) => this.#encrypt(jid, distribution));
    this.#groups.gaveKey(group, without);
    const common = [this.#encryptForAll(group, message)];
    return { participants, common, attrs: { addressing_mode: addressing } };
  }

  /** The devices to write to, with sessions; asked for anew when a list changed while sessions were being started. */
  async #reachable(list: () => Promise<string[]>): Promise<string[]> {
    for (;;) {
      const before = this.#directory.changes;
      const devices = await this.#startSessions(await list());
      if (this.#directory.changes === before) return devices;
    }
  }

  async #startSessions(devices: string[]): Promise<string[]> {
    // The LID decides where a session is filed: it must be known before the first one starts.
    for (const jid of new Set(devices.map(userJid))) await this.#directory.lidOf(jid);
    return await this.#directory.startSessions(devices);
  }

  #distribution(groupId: string): proto.IMessage {
    const key = this.#state.signal.createSenderKey(groupId);
    return { senderKeyDistributionMessage: { groupId, axolotlSenderKeyDistributionMessage: key } };
  }

  #encrypt(to: string, plaintext: Uint8Array): Encrypted {
    const { signal, book, random } = this.#state;
    const { type, ciphertext } = signal.encrypt(book.peer(to), pad(plaintext, random));
    return { to, enc: element("enc", { v: "2", type }, ciphertext) };
  }

  #write(
    attrs: Record<string, string>,
    message: proto.IMessage,
    { participants, common }: { participants: Encrypted[]; common: Encrypted[] },
    resendOf?: number,
  ): void {
    const { deviceIdentity, world, address } = this.#state;
    const encrypted = [...participants, ...common];
    const content = common.map(({ enc }) => enc);
    const { mediaType, nodes = [] } = envelopeOf(message);
    if (mediaType) for (const { enc } of encrypted) enc.attrs.mediatype = mediaType;
    if (participants.length > 0) {
      const copies = participants.map(({ to, enc }) => element("to", { jid: to }, [enc]));
      content.unshift(element("participants", {}, copies));
    }
    if (deviceIdentity && encrypted.some(({ enc }) => enc.attrs.type === "pkmsg")) {
      content.push(element("device-identity", {}, deviceIdentity));
    }
    content.push(...nodes);
    // Told before it is sent: whoever hears of the arrival can look the message up.
    world.recorder.onSent({
      at: world.clock.now(),
      device: address,
      to: attrs.to!,
      id: attrs.id!,
      ...summarize(message),
      encs: encrypted.map(({ to, enc }) => ({
        to,
        type: enc.attrs.type as SentEvent["encs"][number]["type"],
      })),
      resendOf,
    });
    this.#state.send(element("message", attrs, content));
  }

  #remember(id: string, sent: SentMessage): void {
    this.#sent.set(id, sent);
    if (this.#sent.size > REMEMBERED) this.#sent.delete(this.#sent.keys().next().value!);
  }
}

/** The form in which one's own other devices get what one of them wrote. */
function wrapForOwnDevice(destinationJid: string, message: proto.IMessage): proto.IMessage {
  const { messageContextInfo } = message;
  return {
    deviceSentMessage: { destinationJid, message },
    ...(messageContextInfo && { messageContextInfo }),
  };
}
