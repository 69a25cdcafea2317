import type { proto } from "@whiskeysockets/baileys";
import { type BinaryNode, children, element } from "../../wire/nodes.ts";
import { learnTimer } from "./chat-timers.ts";
import { summarize } from "../content.ts";
import type { Directory } from "../directory.ts";
import { readSealedEdit } from "./edits.ts";
import type { DecryptedEvent, UndecryptableEvent } from "../events.ts";
import { isShared, userJid } from "../jids.ts";
import type { MarkType } from "../people.ts";
import { registrationNode, retryKeysNode } from "../key-nodes.ts";
import { type Arrival, Unreadable, openMessage } from "./opening.ts";
import { type PhoneState, isOwn, label, reportViolation } from "../phone-state.ts";
import { learnOption } from "./poll-options.ts";
import { readVote } from "./votes.ts";

/** How often a phone asks for a message again before it gives up. */
const MAX_RETRIES = 5;
/** How many message ids a phone remembers, to recognise repeats. */
const REMEMBERED = 2000;

type EncType = DecryptedEvent["encType"];

/** Called for every decrypted message, with its id, its author's device, and whether it is between own devices only. */
export type MessageListener = (
  message: proto.IMessage,
  about: { id: string; from: string; isPeer: boolean },
) => Promise<void>;

/** Where to send a read receipt for a message that has arrived. */
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
      const { message, encType } = openMessage(this.#state, arrival, peer);
      this.#record(arrival, name, message, encType);
      this.#acknowledge(arrival);
      await this.#onMessage(message, { id: arrival.id, from: arrival.author, isPeer: arrival.isPeer });
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      // The server redelivers what it has no receipt for; a phone confirms it and shows nothing.
      if (error.reason === "duplicate" && this.#seen.has(name)) this.#acknowledge(arrival);
      else this.#askAgain(arrival, name, error);
    }
  }

  /**
   * Sends receipts saying that messages were read or played: those of one writer in one chat together, the newest first.
   *
   * @throws when one of them has not arrived
   */
  mark(ids: string[], type: MarkType): void {
    const together = new Map<string, { seen: Seen; ids: string[] }>();
    for (const id of ids.toReversed()) {
      const found = [...this.#seen].filter(([name]) => name.endsWith(` ${id}`));
      if (found.length === 0) throw new Error(`No message ${id} has arrived at ${label(this.#state)}.`);
      for (const [, seen] of found) {
        const name = `${seen.from} ${seen.participant ?? ""}`;
        const known = together.get(name) ?? { seen, ids: [] };
        known.ids.push(id);
        together.set(name, known);
      }
    }
    for (const { seen, ids: marked } of together.values()) this.#sendMark(marked, seen, type);
  }

  #read({ attrs, content }: BinaryNode): Arrival | undefined {
    const { id, from, participant, recipient } = attrs;
    const author = participant ?? from;
    if (!id || !from || !author) {
      reportViolation(
        this.#state,
        "malformed_message",
        `a message without id or from: ${JSON.stringify(attrs)}`,
      );
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

  #record(arrival: Arrival, name: string, message: proto.IMessage, encType: EncType): void {
    const { world, address, book } = this.#state;
    const { id, attrs, author, chat, ownCopy } = arrival;
    const body = {
      ...summarize(message),
      ...readVote(this.#state, message, author),
      ...readSealedEdit(this.#state, message, author),
      ...learnOption(this.#state, message, author),
    };
    // A phone that never had the poll cannot read votes in it, and shows nothing of them.
    if (body.kind === "vote" && !body.choices && this.#state.memory.find(body.target ?? ""))
      reportViolation(
        this.#state,
        "vote_unreadable",
        `the vote ${id} of ${author} does not open with the poll ${body.target}`,
      );
    const timestamp = Number(attrs.t);
    const pushName = attrs.notify;
    const repeated = this.#seen.has(name);
    // A phone drops a message it already has: nothing is shown and nothing is replaced.
    if (!repeated)
      this.#state.memory.add({ id, chat, author, fromMe: ownCopy, timestamp, pushName, message });
    world.recorder.onDecrypted({
      at: world.time.now(),
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
    learnTimer(this.#state, chat, message);
    this.#retries.delete(name);
    this.#seen.set(name, { from: attrs.from!, participant: attrs.participant });
    if (this.#seen.size > REMEMBERED) this.#seen.delete(this.#seen.keys().next().value!);
  }

  #acknowledge({ id, attrs, ownCopy, isPeer }: Arrival): void {
    const { from, participant, recipient } = attrs;
    const type = isPeer ? "peer_msg" : ownCopy ? "sender" : undefined;
    this.#state.send(element("receipt", { id, to: from, participant, recipient, type }));
    if (this.#readsMessages && !type) this.#sendMark([id], { from: from!, participant }, "read");
  }

  #sendMark([id, ...others]: string[], { from, participant }: Seen, type: MarkType): void {
    const t = String(Math.floor(this.#state.world.time.now() / 1000));
    const items = others.map((other) => element("item", { id: other }));
    const content = items.length > 0 ? [element("list", {}, items)] : undefined;
    this.#state.send(element("receipt", { id, to: from, participant, type, t }, content));
  }

  #askAgain(arrival: Arrival, name: string, { reason, encType }: Unreadable): void {
    const { world, address, book, signal, deviceIdentity } = this.#state;
    const { id, attrs, author, chat } = arrival;
    const { from, participant, recipient, t } = attrs;
    const count = (this.#retries.get(name) ?? 0) + 1;
    const gaveUp = count > MAX_RETRIES;
    const event: UndecryptableEvent = {
      at: world.time.now(),
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
    this.#state.send(element("ack", { class: "message", id, to: from, participant, recipient }));
  }
}
