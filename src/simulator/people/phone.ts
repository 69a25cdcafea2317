import type { Random } from "../random.ts";
import type { PresenceState } from "../surface/profiles.ts";
import { SignalDevice } from "../signal/device.ts";
import { type BinaryNode, element } from "../wire/nodes.ts";
import type { DeviceAddress } from "./address.ts";
import { AddressBook } from "./address-book.ts";
import { ChatTimers } from "./messages/chat-timers.ts";
import type { Desk } from "./content/context.ts";
import { Directory } from "./directory.ts";
import { GroupChats } from "./group-chats.ts";
import { Inbox } from "./messages/inbox.ts";
import type { MessageListener } from "./messages/inbox.ts";
import { stanzaHandlers, uploadKeys } from "./incoming.ts";
import type { PhoneParts } from "./incoming.ts";
import { LIDS, NUMBERS } from "./jids.ts";
import type { Link, PhoneWorld } from "./link.ts";
import { Memory } from "./messages/memory.ts";
import { Outbox } from "./messages/outbox.ts";
import { type PhoneState, reportViolation } from "./phone-state.ts";
import { Tokens } from "./tokens.ts";

/** Options of one device of a person. */
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
export class Phone implements PhoneParts {
  readonly state: PhoneState;
  readonly directory: Directory;
  readonly outbox: Outbox;
  readonly inbox: Inbox;
  readonly groups: GroupChats;
  readonly tokens: Tokens;
  readonly desk: Desk;
  readonly onNotification: PhoneOptions["onNotification"];
  #options: PhoneOptions;
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
    this.tokens = new Tokens(this.state);
    this.outbox = new Outbox(this.state, this.directory, this.groups, this.tokens);
    this.desk = {
      random: options.random.fork("content"),
      now: () => world.time.now(),
      store: (type, bytes) => world.files.store(type, bytes),
    };
    this.onNotification = options.onNotification;
    const onMessage = options.onMessage ?? (async () => {});
    this.inbox = new Inbox(this.state, this.directory, { readsMessages: options.readsMessages, onMessage });
  }

  /** Goes online and makes sure that the server has keys to give out. Resolves when that is so. */
  async wake(): Promise<void> {
    if (this.#link) return;
    this.#link = this.state.world.attach(this.state.address);
    this.#link.onNode((node) => this.#take(node));
    this.presence("available");
    if (this.#hasUploaded) return;
    this.#hasUploaded = true;
    await uploadKeys(this.state);
  }

  /** Says whether the app is open. @throws when the device is asleep */
  presence(type: PresenceState): void {
    this.state.send(element("presence", { type, name: this.#options.name }));
  }

  rename(name: string): void {
    this.#options = { ...this.#options, name };
  }

  /** Goes offline; keys, sessions and what was learnt stay. */
  sleep(): void {
    this.#link?.close();
    this.#link = undefined;
  }

  /** Runs a job once everything before it has finished. */
  do<T>(job: () => Promise<T>): Promise<T> {
    this.#open += 1;
    const done = this.#jobs.then(job).finally(() => (this.#open -= 1));
    this.#jobs = done.catch(() => {});
    return done;
  }

  /** Resolves when nothing is left to do, including jobs that other jobs have started. */
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
      timers: new ChatTimers(),
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
      // The device list is out of date from this moment, even for a message that is being prepared.
      if (node.attrs.type === "devices") this.directory.forget(node.attrs.from, node.attrs.lid);
      this.#options.onArrival?.(node);
    }
    const handle = stanzaHandlers[node.tag];
    if (node.tag !== "message" && !handle) return;
    const job = handle ? () => handle(this, node) : () => this.inbox.take(node);
    void this.do(job).catch((error: Error) => {
      // Whatever was in progress when the connection went down is redelivered at the next login.
      if (error instanceof Asleep || this.#link !== link) return;
      reportViolation(this.state, "phone_failed", `${node.tag} ${node.attrs.id ?? ""}: ${error.message}`);
    });
  }
}

/** The device is offline and cannot do what was asked. */
class Asleep extends Error {}
