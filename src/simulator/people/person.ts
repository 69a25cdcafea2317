import type { proto } from "@whiskeysockets/baileys";
import type { Random } from "../random.ts";
import type { SignalDevice } from "../signal/device.ts";
import type { Content, LoadedMedia, TypingState, VoteOptions } from "../types.ts";
import { element } from "../wire/nodes.ts";
import { compose } from "./content.ts";
import { composeEdit, composeRevoke } from "./content/edit.ts";
import { composeReaction } from "./content/reaction.ts";
import { signByAccount, signByDevice } from "./device-identity.ts";
import { STATUS, isGroup, toJid } from "./jids.ts";
import { keyOf } from "./keys.ts";
import { loadMedia } from "./load-media.ts";
import type { KnownMessage } from "./memory.ts";
import { writeVote } from "./votes.ts";
import type { PersonOptions, PhoneWorld, SendOptions, SendTextOptions, SimulatedPerson } from "./link.ts";
import { Phone, type PhoneOptions } from "./phone.ts";

/** A simulated person with one or several devices. Nothing but the options is kept until the first one wakes. */
export class Person implements SimulatedPerson {
  protected readonly world: PhoneWorld;
  protected readonly options: PersonOptions;
  #phones: Phone[] = [];
  #waking: Promise<void> | undefined;

  constructor(world: PhoneWorld, options: PersonOptions) {
    this.world = world;
    this.options = options;
  }

  get number(): string {
    return this.options.number;
  }

  get lid(): string {
    return this.options.lid;
  }

  get name(): string {
    return this.options.name ?? this.options.number;
  }

  get awake(): boolean {
    return this.#waking !== undefined;
  }

  wake(): Promise<void> {
    this.#waking ??= this.#wakeAll();
    return this.#waking;
  }

  sleep(): void {
    this.#waking = undefined;
    for (const phone of this.#phones) phone.sleep();
  }

  async settle(): Promise<void> {
    for (const phone of this.#phones) await phone.settle();
  }

  async sendText(to: string, text: string, options: SendTextOptions = {}): Promise<{ id: string }> {
    return await this.sendContent(to, { kind: "text", text }, options);
  }

  async sendContent(to: string, content: Content, options: SendTextOptions = {}): Promise<{ id: string }> {
    await this.wake();
    const phone = this.phone(options.device);
    return await phone.do(async () => {
      const chat = await this.#chatFor(phone, toJid(to));
      const mentions = options.mentions && (await this.#memberJids(phone, chat, options.mentions));
      const quoted = options.quoted && { participant: chat, text: "", ...options.quoted };
      const message = compose(content, phone.desk, { mentions, quoted });
      const id = options.id ?? phone.newMessageId();
      await phone.outbox.send(chat, id, message);
      return { id };
    });
  }

  knows(id: string): boolean {
    return this.#phones[0]?.state.memory.find(id) !== undefined;
  }

  async react(id: string, emoji: string): Promise<{ id: string }> {
    return await this.#writeAbout(id, (known) =>
      composeReaction(keyOf(known), emoji, this.world.clock.now()),
    );
  }

  async edit(id: string, text: string): Promise<{ id: string }> {
    return await this.#writeAbout(id, (known) => {
      if (!known.fromMe) throw new Error(`message ${id} is not ${this.number}'s own: it cannot be edited`);
      return composeEdit(keyOf(known), text, this.world.clock.now());
    });
  }

  async revoke(id: string): Promise<{ id: string }> {
    return await this.#writeAbout(id, (known) => {
      if (!known.fromMe && !isGroup(known.chat))
        throw new Error(`message ${id} is not ${this.number}'s own: it cannot be deleted for everybody`);
      return composeRevoke(keyOf(known));
    });
  }

  async votePoll(id: string, options: string[], how: VoteOptions = {}): Promise<{ id: string }> {
    const hides = this.options.hidesNumber ?? false;
    return await this.#writeAbout(id, (known, phone) => writeVote(phone, known, options, how, hides), how.id);
  }

  async mediaOf(id: string): Promise<LoadedMedia> {
    await this.wake();
    const phone = this.phone();
    return await phone.do(async () => loadMedia(phone.state, this.#known(phone, id)));
  }

  async markRead(id: string): Promise<void> {
    await this.#mark(id, "read");
  }

  async markPlayed(id: string): Promise<void> {
    await this.#mark(id, "played");
  }

  async typing(to: string, state: TypingState): Promise<void> {
    await this.wake();
    const phone = this.phone();
    await phone.do(async () => {
      const chat = await this.#chatFor(phone, toJid(to));
      const what = state === "recording" ? element("composing", { media: "audio" }) : element(state);
      phone.state.send(element("chatstate", { to: chat }, [what]));
    });
  }

  async postStatus(content: Content, audience: string[], options: SendOptions = {}): Promise<{ id: string }> {
    await this.wake();
    const phone = this.phone(options.device);
    return await phone.do(async () => {
      const id = options.id ?? phone.newMessageId();
      await phone.outbox.send(STATUS, id, compose(content, phone.desk), audience.map(toJid));
      return { id };
    });
  }

  async resend(id: string, one?: { to: string; count: number }): Promise<void> {
    await this.wake();
    for (const phone of this.#phones) {
      if (!phone.outbox.remembers(id)) continue;
      await phone.do(async () => {
        if (one) await phone.outbox.sendAgain(id, one.to, one.count);
        else await phone.outbox.repeat(id);
      });
      return;
    }
    throw new Error(`no device of ${this.number} has sent a message ${id} lately`);
  }

  /** The stream of this person. */
  protected get random(): Random {
    return this.world.random.fork(`person ${this.options.number}`);
  }

  /** One device. @throws when there is none of that number, or the person never woke */
  protected phone(device = 0): Phone {
    const phone = this.#phones[device];
    if (!phone) throw new Error(`${this.number} has no device ${device}.`);
    return phone;
  }

  /** Options of one device; the owner's phone adds to them. */
  protected phoneOptions(device: number): PhoneOptions {
    const random = this.random.fork(`device ${device}`);
    const base = { random, name: this.name, readsMessages: this.options.readsMessages ?? false };
    return device === 0 ? base : { ...base, deviceIdentity: (signal) => this.#vouchFor(device, signal) };
  }

  async #wakeAll(): Promise<void> {
    if (this.#phones.length === 0) {
      const { number: user, lid, devices = 1 } = this.options;
      // One after another: the phone's identity vouches for those of the others.
      for (let device = 0; device < devices; device++) {
        this.#phones.push(new Phone(this.world, { user, lid, device }, this.phoneOptions(device)));
      }
    }
    for (const phone of this.#phones) await phone.wake();
  }

  async #writeAbout(
    messageId: string,
    write: (known: KnownMessage, phone: Phone) => proto.IMessage | Promise<proto.IMessage>,
    id?: string,
  ): Promise<{ id: string }> {
    await this.wake();
    const phone = this.phone();
    return await phone.do(async () => {
      const known = this.#known(phone, messageId);
      const message = await write(known, phone);
      const own = id ?? phone.newMessageId();
      await phone.outbox.send(known.chat, own, message);
      return { id: own };
    });
  }

  #known(phone: Phone, id: string): KnownMessage {
    const known = phone.state.memory.find(id);
    if (!known) throw new Error(`message ${id} is not on the phone of ${this.number}`);
    return known;
  }

  async #mark(id: string, type: "read" | "played"): Promise<void> {
    await this.wake();
    const phone = this.phone();
    await phone.do(async () => phone.inbox.mark(id, type));
  }

  async #chatFor(phone: Phone, jid: string): Promise<string> {
    if (isGroup(jid) || this.options.addressing !== "lid") return jid;
    return (await phone.directory.lidOf(jid)) ?? jid;
  }

  /** Mentioned people are named as the chat names its members. */
  async #memberJids(phone: Phone, chat: string, people: string[]): Promise<string[]> {
    const byLid = isGroup(chat)
      ? (await phone.groups.chat(chat)).addressing === "lid"
      : chat.endsWith("@lid");
    return await Promise.all(
      people.map(async (person) =>
        byLid ? ((await phone.directory.lidOf(toJid(person))) ?? toJid(person)) : toJid(person),
      ),
    );
  }

  #vouchFor(device: number, signal: SignalDevice): Uint8Array {
    const account = this.phone(0).state.signal.identity;
    const timestamp = Math.floor(this.world.clock.now() / 1000);
    const details = {
      rawId: this.random.fork(`raw id ${device}`).integer(2 ** 31),
      timestamp,
      keyIndex: device,
    };
    return signByDevice(signal.identity, signByAccount(account, signal.identity.public, details));
  }
}
