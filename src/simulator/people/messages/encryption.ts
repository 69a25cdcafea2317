import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import { type BinaryNode, element } from "../../wire/nodes.ts";
import type { Directory } from "../directory.ts";
import type { GroupChats } from "../group-chats.ts";
import { NUMBERS, STATUS, isGroup, userJid } from "../jids.ts";
import { pad } from "./padding.ts";
import { encodeMessage } from "./wire-message.ts";
import { type PhoneState, isOwn, isThisDevice, ownJid } from "../phone-state.ts";

/** A ciphertext and the device or chat it is for. */
export interface Encrypted {
  to: string;
  enc: BinaryNode;
}

/** All ciphertexts of one message. */
export interface Envelopes {
  /** One for each device. */
  participants: Encrypted[];
  /** One for all who have the sender's key. */
  common: Encrypted[];
  /** Additional attributes of the stanza. */
  attrs: Record<string, string>;
}

/** Encrypts what one device writes, starting sessions and fetching device lists as needed. */
export class Encryption {
  readonly #state: PhoneState;
  readonly #directory: Directory;
  readonly #groups: GroupChats;

  constructor(state: PhoneState, directory: Directory, groups: GroupChats) {
    this.#state = state;
    this.#directory = directory;
    this.#groups = groups;
  }

  /**
   * Encrypts for everybody in a chat and for one's own other devices.
   *
   * @param chat      user or group address, or {@link STATUS}
   * @param audience  who sees a status
   * @throws when the other side is unknown or no device of it can be written to
   */
  async forChat(chat: string, message: proto.IMessage, audience: string[]): Promise<Envelopes> {
    if (chat === STATUS) return await this.#forAudience(audience, message);
    return await (isGroup(chat) ? this.#forGroup(chat, message) : this.#forPerson(chat, message));
  }

  /** Encrypts for one device, on the existing session. @throws {SignalError} `no_session` */
  forDevice(to: string, message: proto.IMessage): Encrypted {
    return this.#seal(to, encodeMessage(message));
  }

  /** Starts sessions where there are none, and returns the devices that can be written to. */
  async startSessions(devices: string[]): Promise<string[]> {
    // The LID decides where a session is filed: it must be known before the first one starts.
    for (const jid of new Set(devices.map(userJid))) await this.#directory.lidOf(jid);
    return await this.#directory.startSessions(devices);
  }

  /** A message that hands out this device's sender key for a group. */
  distribution(groupId: string): proto.IMessage {
    const key = this.#state.signal.createSenderKey(groupId);
    return { senderKeyDistributionMessage: { groupId, axolotlSenderKeyDistributionMessage: key } };
  }

  /** A status: the sender key goes along every time, because the audience may have changed. */
  async #forAudience(audience: string[], message: proto.IMessage): Promise<Envelopes> {
    const own = ownJid(this.#state, audience[0] ?? `0@${NUMBERS}`);
    const devices = await this.#reachable(async () => await this.#othersOf([userJid(own), ...audience]));
    const distribution = proto.Message.encode(this.distribution(STATUS)).finish();
    const participants = devices.map((jid) => this.#seal(jid, distribution));
    return { participants, common: [this.#forAll(STATUS, message)], attrs: {} };
  }

  async #forPerson(to: string, message: proto.IMessage): Promise<Envelopes> {
    const own = userJid(ownJid(this.#state, to));
    const devices = await this.#reachable(async () => await this.#othersOf([own, to]));
    if (!devices.some((jid) => userJid(jid) === to) && to !== own) {
      throw new Error(`No device of ${to} gives keys to write to.`);
    }
    const plain = encodeMessage(message);
    const { secretOutsideOwnCopy } = this.#state.world.behaviour;
    const copy = encodeMessage(wrapForOwnDevice(to, message, secretOutsideOwnCopy));
    const participants = devices.map((jid) => this.#seal(jid, isOwn(this.#state, jid) ? copy : plain));
    return { participants, common: [], attrs: {} };
  }

  async #forGroup(group: string, message: proto.IMessage): Promise<Envelopes> {
    let addressing = "pn";
    const devices = await this.#reachable(async () => {
      const chat = await this.#groups.chat(group);
      addressing = chat.addressing;
      return await this.#groups.devices(chat);
    });
    const without = this.#groups.withoutKey(group, devices);
    const distribution = proto.Message.encode(this.distribution(group)).finish();
    const participants = without.map((jid) => this.#seal(jid, distribution));
    this.#groups.gaveKey(group, without);
    return { participants, common: [this.#forAll(group, message)], attrs: { addressing_mode: addressing } };
  }

  #forAll(chat: string, message: proto.IMessage): Encrypted {
    const padded = pad(encodeMessage(message), this.#state.random);
    const ciphertext = this.#state.signal.groupEncrypt(chat, padded);
    return { to: chat, enc: element("enc", { v: "2", type: "skmsg" }, ciphertext) };
  }

  #seal(to: string, plaintext: Uint8Array): Encrypted {
    const { signal, book, random } = this.#state;
    const { type, ciphertext } = signal.encrypt(book.peer(to), pad(plaintext, random));
    return { to, enc: element("enc", { v: "2", type }, ciphertext) };
  }

  async #othersOf(users: string[]): Promise<string[]> {
    const all = await this.#directory.devicesOf(users);
    return all.filter((jid) => !isThisDevice(this.#state, jid));
  }

  /** The devices to write to, with sessions; fetched again when a device list changed while sessions were being started. */
  async #reachable(list: () => Promise<string[]>): Promise<string[]> {
    for (;;) {
      const before = this.#directory.changes;
      const devices = await this.startSessions(await list());
      if (this.#directory.changes === before) return devices;
    }
  }
}

/**
 * What one device has written, in the form that one's own other devices receive.
 *
 * @param secretOutside  puts the message's secret beside the message only
 */
export function wrapForOwnDevice(
  destinationJid: string,
  message: proto.IMessage,
  secretOutside: boolean,
): proto.IMessage {
  const { messageContextInfo, ...body } = message;
  if (!messageContextInfo) return { deviceSentMessage: { destinationJid, message } };
  return {
    deviceSentMessage: { destinationJid, message: secretOutside ? body : message },
    messageContextInfo,
  };
}
