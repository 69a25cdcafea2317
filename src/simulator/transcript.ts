import type { Time } from "./time.ts";
import type {
  ArrivedMessage,
  TranscriptDirection,
  TranscriptEntry,
  TranscriptFilter,
} from "./surface/evidence.ts";
import type { MessageBody } from "./surface/content.ts";
import type { BinaryNode } from "./wire/nodes.ts";
import { children } from "./wire/nodes.ts";
import type { Device } from "./world/accounts.ts";

const KEPT = 200_000;

/** Which message ids went to which device, how often, in which order, and whether they could be read. */
export class Transcript {
  #seq = 0;
  #entries: TranscriptEntry[] = [];
  readonly #byMessage = new Map<string, TranscriptEntry[]>();
  readonly #summaries = new Map<string, MessageBody>();
  /** What phones have read, for messages whose sender does not report its content. */
  readonly #read = new Map<string, MessageBody>();
  readonly #arrived = new Map<string, ArrivedMessage[]>();
  readonly #listeners = new Set<(entry: TranscriptEntry) => void>();
  readonly #time: Time;

  constructor(time: Time) {
    this.#time = time;
  }

  /** Calls back for each entry when it is created and whenever it changes. Returns a function that ends this. */
  subscribe(listener: (entry: TranscriptEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A message is on its way to one device. */
  sent(sender: Device, receiver: Device, chat: string, node: BinaryNode): void {
    const id = node.attrs.id ?? "";
    const encs = children(node, "enc").map((enc) => enc.attrs.type as TranscriptEntry["encType"]);
    const key = messageKey(receiver.account.number, receiver.id, sender.account.number, id);
    const earlier = this.#byMessage.get(key) ?? [];
    const entry: TranscriptEntry = {
      seq: ++this.#seq,
      at: this.#time.now(),
      direction: directionTo(receiver),
      from: sender.account.number,
      fromDevice: sender.id,
      to: receiver.account.number,
      device: receiver.id,
      chat,
      id,
      kind: "unknown",
      ...this.#summaries.get(`${sender.account.number} ${id}`),
      encType: encs.includes("skmsg") ? "skmsg" : (encs[0] ?? "msg"),
      decrypted: false,
      tries: 0,
      ordinal: earlier.length + 1,
    };
    this.#byMessage.set(key, [...earlier, entry]);
    this.#entries.push(entry);
    this.#forgetOldest();
    this.#tell(entry);
  }

  /** The sender reports the content of what it has sent. */
  summarize(senderNumber: string, id: string, summary: MessageBody): void {
    remember(this.#summaries, `${senderNumber} ${id}`, summary);
    for (const entry of this.#entries.slice(-200)) {
      if (entry.from === senderNumber && entry.id === id && entry.kind === "unknown")
        Object.assign(entry, summary);
    }
  }

  /** A simulated device has read a message. */
  decrypted(
    where: { number: string; device: number; from: string; id: string },
    message: {
      at: number;
      chat: string;
      encType: TranscriptEntry["encType"];
      tries: number;
      repeated: boolean;
    },
    body: MessageBody,
  ): void {
    const entries = this.#byMessage.get(messageKey(where.number, where.device, where.from, where.id));
    const entry = entries?.find((candidate) => !candidate.decrypted) ?? entries?.at(-1);
    if (entry) {
      Object.assign(entry, { decrypted: true, ...body, chat: message.chat });
      entry.tries = Math.max(entry.tries, message.tries - 1);
      this.#tell(entry);
    }
    remember(this.#read, `${where.from} ${where.id}`, body);
    if (where.device === 0) this.#arrive(where, message, body, entry?.ordinal ?? 1);
  }

  /** Notes how a message was delivered to a device. */
  underway(
    receiver: Device,
    senderNumber: string,
    id: string,
    what: Pick<TranscriptEntry, "offline" | "unavailable">,
  ): void {
    const key = messageKey(receiver.account.number, receiver.id, senderNumber, id);
    const entry = this.#byMessage.get(key)?.at(-1);
    if (entry) Object.assign(entry, what);
  }

  /** A device could not read a message. */
  undecryptable(where: { number: string; device: number; from: string; id: string }, error: string): void {
    const entry = this.#byMessage.get(messageKey(where.number, where.device, where.from, where.id))?.at(-1);
    if (!entry) return;
    entry.error = error;
    entry.tries += 1;
    this.#tell(entry);
  }

  /** A companion has acknowledged a message: with a receipt it could read it, with an error it could not. */
  acknowledged(receiver: Device, senderNumber: string, id: string, error?: string): void {
    const key = messageKey(receiver.account.number, receiver.id, senderNumber, id);
    const entries = this.#byMessage.get(key);
    const entry = entries?.find((candidate) => !candidate.decrypted) ?? entries?.at(-1);
    if (entry?.direction !== "to_companion") return;
    if (error === undefined) entry.decrypted = !entry.unavailable;
    else entry.error = `nack ${error}`;
    this.#tell(entry);
  }

  entries(filter: TranscriptFilter = {}): TranscriptEntry[] {
    return this.#entries.filter(
      (entry) =>
        touches(entry, filter.contact) &&
        touches(entry, filter.number) &&
        (filter.chat === undefined || entry.chat === filter.chat) &&
        (filter.id === undefined || entry.id === filter.id) &&
        (filter.direction === undefined || entry.direction === filter.direction) &&
        (filter.since === undefined || entry.seq > filter.since),
    );
  }

  /** Decrypted messages at an account's phone, in the order of arrival. */
  arrivedAt(number: string): readonly ArrivedMessage[] {
    return this.#arrived.get(number) ?? [];
  }

  /** The content of an account's message, as its sender or some phone has reported it. */
  bodyOf(senderNumber: string, id: string): MessageBody | undefined {
    return this.#summaries.get(`${senderNumber} ${id}`) ?? this.#read.get(`${senderNumber} ${id}`);
  }

  #arrive(
    where: { number: string; from: string; id: string },
    message: { at: number; chat: string; encType: TranscriptEntry["encType"]; repeated: boolean },
    body: MessageBody,
    ordinal: number,
  ): void {
    const list = this.#arrived.get(where.number) ?? [];
    this.#arrived.set(where.number, list);
    const { at, chat, encType, repeated } = message;
    const row = { at, id: where.id, from: where.from, chat, ...body, encType, ordinal, repeated };
    list.push({ seq: ++this.#seq, ...row });
  }

  #forgetOldest(): void {
    if (this.#entries.length <= KEPT * 1.1) return;
    for (const entry of this.#entries.splice(0, this.#entries.length - KEPT)) {
      this.#byMessage.delete(messageKey(entry.to, entry.device, entry.from, entry.id));
    }
  }

  #tell(entry: TranscriptEntry): void {
    for (const listener of this.#listeners) listener(entry);
  }
}

function remember<T>(kept: Map<string, T>, name: string, value: T): void {
  kept.set(name, value);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
}

const messageKey = (number: string, device: number, from: string, id: string): string =>
  `${number}:${device} ${from} ${id}`;

function directionTo(receiver: Device): TranscriptDirection {
  if (receiver.account.kind === "contact") return "to_contact";
  return receiver.id === 0 ? "to_owner_phone" : "to_companion";
}

const touches = (entry: TranscriptEntry, number: string | undefined): boolean =>
  number === undefined || entry.from === number || entry.to === number;
