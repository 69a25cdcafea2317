import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import { SignalError } from "../signal/error.ts";
import { type BinaryNode, bytes, children, element } from "../wire/nodes.ts";
import { summarize } from "./content.ts";
import type { Directory } from "./directory.ts";
import { isGroup, isShared, userJid } from "./jids.ts";
import { readVote } from "./votes.ts";
import { registrationNode, retryKeysNode } from "./key-nodes.ts";
import type { DecryptedEvent, UndecryptableEvent } from "./link.ts";
import { unpad } from "./padding.ts";
import { type PhoneState, isOwn, label } from "./phone-state.ts";

/** A phone asks so often for a message before it gives up. */
const MAX_RETRIES = 5;
/** Messages whose ids a phone remembers, to tell a repeated one. */
const REMEMBERED = 2000;

type EncType = DecryptedEvent["encType"];

/** Told of every message that was decrypted: its id, its author's device, and whether it is between own devices only. */
export type MessageListener = (
  message: proto.IMessage,
  about: { id: string; from: string; isPeer: boolean },
) => Promise<void>;

/** A message stanza, taken apart. */
interface Arrival {
  attrs: Record<string, string>;
  id: string;
  /** Device address of the author. */
  author: string;
  chat: string;
  ownCopy: boolean;
  isPeer: boolean;
  encs: BinaryNode[];
}

/** Where a message that has arrived can be answered with a read receipt. */
interface Seen {
  from: string;
  participant?: string;
}

/** Everything that arrives at one device: decrypted, recorded, and answered with a receipt or a request to send it again. */
export class Inbox {
  readonly #state: PhoneState;
  readonly #directory: Directory;
  readonly #onMessage: MessageListener;
  readonly #readsMessages: boolean;
  readonly #seen = new Map<string, Seen>();
  readonly #retries = new Map<string, number>();

  constructor(
    state: PhoneState,
    directory: Directory,
    options: {
      readsMessages: boolean;
      onMessage: MessageListener;
    },
  ) {
    this.#state = state;
    this.#directory = directory;
    this.#readsMessages = options.readsMessages;
    this.#onMessage = options.onMessage;
  }

  /** Takes one message stanza. */
  async take(node: BinaryNode): Promise<void> {
    const arrival = this.#read(node);
    if (!arrival) return;
    const peer = await this.#directory.peer(arrival.author);
    const name = `${peer} ${arrival.id}`;
    try {
      const { message, encType } = this.#decrypt(arrival, peer);
      this.#record(arrival, name, message, encType);
      this.#acknowledge(arrival);
      await this.#onMessage(message, { id: arrival.id, from: arrival.author, isPeer: arrival.isPeer });
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      // The server delivers again what it has no receipt for; a phone confirms that and shows nothing.
      if (error.reason === "duplicate" && this.#seen.has(name)) this.#acknowledge(arrival);
      else this.#askAgain(arrival, name, error);
    }
  }

  /** Sends a receipt that a message was read, or listened to. @throws when no such message has arrived */
  mark(id: string, type: "read" | "played"): void {
    const names = [...this.#seen].filter(([name]) => name.endsWith(` ${id}`));
    if (names.length === 0) throw new Error(`No message ${id} has arrived at ${label(this.#state)}.`);
    for (const [, seen] of names) this.#sendMark(id, seen, type);
  }

  #read({ attrs, content }: BinaryNode): Arrival | undefined {
    const { id, from, participant, recipient } = attrs;
    const author = participant ?? from;
    if (!id || !from || !author) {
      this.#violation("malformed_message", `a message without id or from: ${JSON.stringify(attrs)}`);
      return undefined;
    }
    this.#learn(attrs, author);
    const ownCopy = isOwn(this.#state, author);
    const chat = isShared(from) ? from : userJid(recipient ?? from);
    const encs = children({ tag: "", attrs: {}, content }, "enc");
    return { attrs, id, author, chat, ownCopy, isPeer: attrs.category === "peer", encs };
  }

  #learn(attrs: Record<string, string>, author: string): void {
    const { book } = this.#state;
    for (const other of ["sender_lid", "sender_pn", "participant_lid", "participant_pn"]) {
      book.learn(author, attrs[other]);
    }
    book.learn(attrs.recipient, attrs.peer_recipient_lid ?? attrs.peer_recipient_pn);
  }

  #decrypt(arrival: Arrival, peer: string): { message: proto.IMessage; encType: EncType } {
    const whole: proto.IMessage = {};
    let encType: EncType | undefined;
    for (const enc of arrival.encs) {
      encType = enc.attrs.type as EncType;
      const message = this.#open(arrival, peer, encType, bytes(enc) ?? new Uint8Array());
      this.#checkWrapping(arrival, message);
      Object.assign(whole, message.deviceSentMessage?.message ?? message);
      this.#takeSenderKey(arrival, peer, message);
    }
    if (!encType) throw new Unreadable("no_enc", "");
    return { message: whole, encType };
  }

  #open(arrival: Arrival, peer: string, type: EncType, ciphertext: Uint8Array): proto.IMessage {
    const { signal } = this.#state;
    let padded: Uint8Array;
    try {
      padded =
        type === "skmsg"
          ? signal.groupDecrypt(arrival.chat, peer, ciphertext)
          : signal.decrypt(peer, type, ciphertext).plaintext;
    } catch (error) {
      if (error instanceof SignalError) throw new Unreadable(error.reason, type);
      throw error;
    }
    const plaintext = unpad(padded);
    if (!plaintext) throw new Unreadable("bad_padding", type);
    try {
      return proto.Message.decode(plaintext);
    } catch {
      throw new Unreadable("bad_protobuf", type);
    }
  }

  /** Only one's own other devices wrap what they sent to others, and in a direct chat they always do. */
  #checkWrapping(
    { id, chat, author, ownCopy, isPeer }: Arrival,
    { deviceSentMessage }: proto.IMessage,
  ): void {
    // Between own devices phones take both: real clients wrap their questions to the phone, and are answered.
    if (isPeer) return;
    const mustBeWrapped = ownCopy && !isShared(chat);
    if (mustBeWrapped !== Boolean(deviceSentMessage)) {
      const how = mustBeWrapped ? "without" : "with";
      this.#violation("own_copy", `message ${id} of ${author} in ${chat} came ${how} deviceSentMessage`);
    } else if (deviceSentMessage && !this.#isSamePerson(deviceSentMessage.destinationJid, chat)) {
      this.#violation(
        "own_copy",
        `message ${id} of ${author} in ${chat} says ${deviceSentMessage.destinationJid}`,
      );
    }
  }

  #isSamePerson(jid: string | null | undefined, other: string): boolean {
    return (
      jid != null && !isGroup(jid) && this.#state.book.peer(userJid(jid)) === this.#state.book.peer(other)
    );
  }

  #takeSenderKey({ id, chat, author }: Arrival, peer: string, message: proto.IMessage): void {
    const { groupId, axolotlSenderKeyDistributionMessage: key } = message.senderKeyDistributionMessage ?? {};
    if (!groupId || !key) return;
    if (groupId !== chat)
      this.#violation("sender_key_group", `${author} gave a key for ${groupId} in ${chat} (${id})`);
    try {
      this.#state.signal.processSenderKey(groupId, peer, key);
    } catch (error) {
      if (!(error instanceof SignalError)) throw error;
      this.#violation("malformed_sender_key", `in message ${id} of ${author}: ${error.message}`);
    }
  }

  #record(arrival: Arrival, name: string, message: proto.IMessage, encType: EncType): void {
    const { world, address, book } = this.#state;
    const { id, attrs, author, chat, ownCopy } = arrival;
    const body = { ...summarize(message), ...readVote(this.#state, message, author) };
    // A phone that never had the poll cannot read votes in it, and shows nothing of them.
    if (body.kind === "vote" && !body.choices && this.#state.memory.find(body.target ?? ""))
      this.#violation(
        "vote_unreadable",
        `the vote ${id} of ${author} does not open with the poll ${body.target}`,
      );
    const timestamp = Number(attrs.t);
    const pushName = attrs.notify;
    const repeated = this.#seen.has(name);
    // A phone drops a message that it has: nothing is shown, nothing is replaced.
    if (!repeated)
      this.#state.memory.add({ id, chat, author, fromMe: ownCopy, timestamp, pushName, message });
    world.recorder.onDecrypted({
      at: world.clock.now(),
      device: address,
      from: author,
      fromNumber: book.numberOf(author),
      chat,
      id,
      timestamp,
      encType,
      tries: 1 + (this.#retries.get(name) ?? 0),
      ownCopy,
      repeated,
      message,
      attrs,
      ...body,
    });
    this.#retries.delete(name);
    this.#seen.set(name, { from: attrs.from!, participant: attrs.participant });
    if (this.#seen.size > REMEMBERED) this.#seen.delete(this.#seen.keys().next().value!);
  }

  #acknowledge({ id, attrs, ownCopy, isPeer }: Arrival): void {
    const { from, participant, recipient } = attrs;
    const type = isPeer ? "peer_msg" : ownCopy ? "sender" : undefined;
    this.#state.send(element("receipt", { id, to: from, participant, recipient, type }));
    if (this.#readsMessages && !type) this.#sendMark(id, { from: from!, participant }, "read");
  }

  #sendMark(id: string, { from, participant }: Seen, type: "read" | "played"): void {
    const t = String(Math.floor(this.#state.world.clock.now() / 1000));
    this.#state.send(element("receipt", { id, to: from, participant, type, t }));
  }

  #askAgain(arrival: Arrival, name: string, { reason, encType }: Unreadable): void {
    const { world, address, book, signal, deviceIdentity } = this.#state;
    const { id, attrs, author, chat } = arrival;
    const { from, participant, recipient, t } = attrs;
    const count = (this.#retries.get(name) ?? 0) + 1;
    const gaveUp = count > MAX_RETRIES;
    const event: UndecryptableEvent = {
      at: world.clock.now(),
      device: address,
      from: author,
      fromNumber: book.numberOf(author),
      chat,
      id,
      encType,
      tries: gaveUp ? MAX_RETRIES : count,
      reason,
      gaveUp,
    };
    world.recorder.onUndecryptable(event);
    if (!gaveUp) {
      this.#retries.set(name, count);
      const content = [element("retry", { v: "1", count: String(count), id, t }), registrationNode(signal)];
      if (count > 1) content.push(retryKeysNode(signal, deviceIdentity));
      this.#state.send(element("receipt", { id, to: from, participant, recipient, type: "retry" }, content));
    }
    // The retry receipt does not take the stanza off the server's queue; this does.
    this.#state.send(element("ack", { class: "message", id, to: from, participant }));
  }

  #violation(rule: string, detail: string): void {
    this.#state.world.recorder.onViolation({ rule, who: label(this.#state), detail });
  }
}

/** A message that this device cannot read now; `reason` is told to the recorder. */
class Unreadable extends Error {
  readonly reason: string;
  readonly encType: string;

  constructor(reason: string, encType: string) {
    super(reason);
    this.reason = reason;
    this.encType = encType;
  }
}
