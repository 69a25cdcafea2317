import type { Random } from "../random.ts";
import { SignalDevice } from "../signal/device.ts";
import { SignalError } from "../signal/error.ts";
import { type BinaryNode, child, children, element } from "../wire/nodes.ts";
import { AddressBook } from "./address-book.ts";
import type { Desk } from "./content/context.ts";
import { Directory, iq } from "./directory.ts";
import { GroupChats } from "./group-chats.ts";
import { Inbox } from "./inbox.ts";
import type { MessageListener } from "./inbox.ts";
import { LIDS, NUMBERS } from "./jids.ts";
import { readBundle, uploadNodes } from "./key-nodes.ts";
import type { DeviceAddress, Link, PhoneWorld } from "./link.ts";
import { storeAgain } from "./media-retry.ts";
import { Memory } from "./memory.ts";
import { Outbox } from "./outbox.ts";
import { type PhoneState, label } from "./phone-state.ts";

/** One-time pre-keys that a phone uploads at first, and again when the server says that few are left. */
const PRE_KEYS = 10;

export interface PhoneOptions {
  /** This device's own stream. */
  random: Random;
  /** Push name, told to the server as a phone does. */
  name: string;
  readsMessages: boolean;
  /** Makes the `ADVSignedDeviceIdentity` of a device that is not the phone itself. */
  deviceIdentity?: (signal: SignalDevice) => Uint8Array;
  /** Called when a notification arrives, before its turn comes. */
  onArrival?: (notification: BinaryNode) => void;
  /** Called in turn, before a notification is acknowledged. */
  onNotification?: (notification: BinaryNode) => Promise<void>;
  /** Called in turn for every decrypted message. */
  onMessage?: MessageListener;
}

/**
 * One simulated device: a client at node level. What arrives and what is asked of it is done one after another, in the
 * order in which it came, as on a phone.
 */
export class Phone {
  readonly state: PhoneState;
  readonly directory: Directory;
  readonly outbox: Outbox;
  readonly inbox: Inbox;
  readonly groups: GroupChats;
  readonly desk: Desk;
  readonly #options: PhoneOptions;
  readonly #messageIds: Random;
  #link: Link | undefined;
  #hasUploaded = false;
  #jobs: Promise<unknown> = Promise.resolve();
  #open = 0;

  constructor(world: PhoneWorld, address: DeviceAddress, options: PhoneOptions) {
    this.#options = options;
    this.#messageIds = options.random.fork("message ids");
    this.state = this.#makeState(world, address);
    this.directory = new Directory(this.state);
    this.groups = new GroupChats(this.state, this.directory);
    this.outbox = new Outbox(this.state, this.directory, this.groups);
    this.desk = {
      random: options.random.fork("content"),
      now: () => world.clock.now(),
      store: (type, bytes) => world.files.store(type, bytes),
    };
    const onMessage = options.onMessage ?? (async () => {});
    this.inbox = new Inbox(this.state, this.directory, { readsMessages: options.readsMessages, onMessage });
  }

  /** Goes online and makes sure that the server has keys to give out. Resolves when that is so. */
  async wake(): Promise<void> {
    if (this.#link) return;
    this.#link = this.state.world.attach(this.state.address);
    this.#link.onNode((node) => this.#take(node));
    this.state.send(element("presence", { type: "available", name: this.#options.name }));
    if (this.#hasUploaded) return;
    this.#hasUploaded = true;
    await this.#uploadKeys();
  }

  /** Goes offline; keys, sessions and what was learnt stay. */
  sleep(): void {
    this.#link?.close();
    this.#link = undefined;
  }

  /** Does something when everything that came before it is done. */
  do<T>(job: () => Promise<T>): Promise<T> {
    this.#open += 1;
    const done = this.#jobs.then(job).finally(() => (this.#open -= 1));
    this.#jobs = done.catch(() => {});
    return done;
  }

  /** Resolves when nothing is left to do; what a job starts is waited for as well. */
  async settle(): Promise<void> {
    while (this.#open > 0) await this.#jobs;
  }

  /** A message id as Android phones make them. */
  newMessageId(): string {
    return this.#messageIds.bytes(16).toString("hex").toUpperCase();
  }

  #makeState(world: PhoneWorld, address: DeviceAddress): PhoneState {
    const { random, deviceIdentity } = this.#options;
    const signal = SignalDevice.create(random.fork("signal"));
    const book = new AddressBook();
    book.learn(`${address.user}@${NUMBERS}`, `${address.lid}@${LIDS}`);
    return {
      world,
      address,
      signal,
      book,
      memory: new Memory(),
      random: random.fork("padding"),
      deviceIdentity: deviceIdentity?.(signal),
      send: (node) => this.#online().send(node),
      query: (node) => this.#online().query(node),
    };
  }

  #online(): Link {
    if (!this.#link) throw new Asleep(`${this.state.address.user}:${this.state.address.device} is offline.`);
    return this.#link;
  }

  #take(node: BinaryNode): void {
    const link = this.#link;
    if (node.tag === "notification") {
      // A device list is out of date from now on, also for a message that is being prepared.
      if (node.attrs.type === "devices") this.directory.forget(node.attrs.from, node.attrs.lid);
      this.#options.onArrival?.(node);
    }
    const handle = handlers[node.tag];
    if (!handle) return;
    void this.do(() => handle(this, node)).catch((error: Error) => {
      // What was under way when the line went down comes again at the next login.
      if (error instanceof Asleep || this.#link !== link) return;
      this.#violation("phone_failed", `${node.tag} ${node.attrs.id ?? ""}: ${error.message}`);
    });
  }

  async #uploadKeys(): Promise<void> {
    const answer = await this.state.query(iq("encrypt", uploadNodes(this.state.signal, PRE_KEYS), "set"));
    if (answer.attrs.type === "error") this.#violation("key_upload_refused", JSON.stringify(answer.content));
  }

  /** Acknowledges a receipt, notification or call. */
  acknowledge(node: BinaryNode): void {
    const { id, from, participant, type } = node.attrs;
    this.state.send(element("ack", { class: node.tag, id, to: from, participant, type }));
  }

  async receipt(node: BinaryNode): Promise<void> {
    const { world, address } = this.state;
    const items = children(child(node, "list"), "item").map((item) => item.attrs.id ?? "");
    const ids = [node.attrs.id ?? "", ...items];
    world.recorder.onReceipt({ at: world.clock.now(), device: address, attrs: node.attrs, ids });
    if (node.attrs.type === "retry") await this.#sendAgain(node);
    if (node.attrs.type === "server-error") await storeAgain(this.state, node, this.desk.random);
    this.acknowledge(node);
  }

  async notification(node: BinaryNode): Promise<void> {
    const { type } = node.attrs;
    if (type === "encrypt" && child(node, "count")) await this.#uploadKeys();
    if (type === "w:gp2") this.groups.changed(node);
    if (type === "devices") {
      for (const { attrs } of children(child(node, "remove"), "device")) {
        if (attrs.jid) this.groups.lostDevice(attrs.jid);
      }
    }
    await this.#options.onNotification?.(node);
    this.acknowledge(node);
  }

  messageAck(node: BinaryNode): void {
    const { id, from, error } = node.attrs;
    if (node.attrs.class !== "message" || !id) return;
    const { world, address } = this.state;
    world.recorder.onAck({ at: world.clock.now(), device: address, to: from ?? "", id, error });
  }

  /** A device asks for a message again: it gets it on a new session, made from the keys it sent or from its bundle. */
  async #sendAgain(receipt: BinaryNode): Promise<void> {
    const { id = "", from = "", participant } = receipt.attrs;
    const device = participant ?? from;
    const peer = await this.directory.peer(device);
    const keys = child(receipt, "keys");
    const bundle = readBundle(keys, receipt);
    if (keys && !bundle)
      this.#violation("malformed_retry_keys", `in the retry receipt of ${device} for ${id}`);
    try {
      if (bundle) this.state.signal.startSession(peer, bundle);
      else await this.directory.startSessions([device], { anew: true });
    } catch (error) {
      if (!(error instanceof SignalError)) throw error;
      this.#violation("retry_keys_signature", `in the retry receipt of ${device} for ${id}`);
      return;
    }
    await this.outbox.sendAgain(id, device, Number(child(receipt, "retry")?.attrs.count ?? 1));
  }

  #violation(rule: string, detail: string): void {
    this.state.world.recorder.onViolation({ rule, who: label(this.state), detail });
  }
}

/** What a phone does with each kind of stanza; others need no answer. */
const handlers: Record<string, (phone: Phone, node: BinaryNode) => Promise<void>> = {
  message: (phone, node) => phone.inbox.take(node),
  receipt: (phone, node) => phone.receipt(node),
  notification: (phone, node) => phone.notification(node),
  call: async (phone, node) => phone.acknowledge(node),
  ack: async (phone, node) => phone.messageAck(node),
  iq: async (phone, { attrs }) => {
    if (attrs.type === "get" || attrs.type === "set") {
      phone.state.send(element("iq", { type: "result", id: attrs.id, to: attrs.from }));
    }
  },
};

/** The device is offline, so that what was asked cannot be done now. */
class Asleep extends Error {}
