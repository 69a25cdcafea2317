import type { Random } from "../../random.ts";
import type { SignalDevice } from "../../signal/device.ts";
import { signByAccount, signByDevice } from "../linking/device-identity.ts";
import { HOSTED, LIDS, NUMBERS } from "../jids.ts";
import type { PhoneWorld } from "../link.ts";
import type { PersonOptions } from "../people.ts";
import { Phone, type PhoneOptions } from "../phone.ts";

/** The extra duties of an owner's phone. */
type PhoneDuties = Pick<PhoneOptions, "onArrival" | "onNotification" | "onMessage">;

/** The devices of one person. Until they wake for the first time, only the options are kept. */
export class Devices {
  readonly #world: PhoneWorld;
  #options: PersonOptions;
  readonly #duties: PhoneDuties;
  /** By device number. */
  #phones: (Phone | undefined)[] = [];
  /** How often it was begun anew with a new phone. */
  #lives = 0;
  #waking: Promise<void> | undefined;

  /** @param duties  extra duties of device 0 */
  constructor(world: PhoneWorld, options: PersonOptions, duties: PhoneDuties = {}) {
    this.#world = world;
    this.#options = options;
    this.#duties = duties;
  }

  get awake(): boolean {
    return this.#waking !== undefined;
  }

  /** The stream of this person. */
  get random(): Random {
    return this.#world.random.fork(`person ${this.#options.number}`);
  }

  wake(): Promise<void> {
    this.#waking ??= this.#wakeAll();
    return this.#waking;
  }

  sleep(): void {
    this.#waking = undefined;
    for (const phone of this.#phones) phone?.sleep();
  }

  /** Resolves when all that was received or asked for so far has been handled. */
  async settle(): Promise<void> {
    for (const phone of this.#phones) await phone?.settle();
  }

  /** One device. @throws when there is none of that number, or the person never woke */
  phone(device = 0): Phone {
    const phone = this.#phones[device];
    if (!phone) throw new Error(`${this.#options.number} has no device ${device}.`);
    return phone;
  }

  /** One more, with the number that the service gives it. */
  async add(device: number): Promise<number> {
    await this.wake();
    const phone = this.#newPhone(device);
    this.#phones[device] = phone;
    await phone.wake();
    return device;
  }

  /** A new phone, without the others. */
  startAnew(): void {
    this.sleep();
    this.#phones = [];
    this.#lives += 1;
  }

  /** They go by another LID from now on. */
  moveLid(lid: string): void {
    for (const phone of this.#phones) {
      if (!phone) continue;
      const { address, book } = phone.state;
      address.lid = lid;
      book.learn(`${address.user}@${NUMBERS}`, `${lid}@${LIDS}`);
    }
  }

  rename(name: string): void {
    this.#options = { ...this.#options, name };
    for (const phone of this.#phones) phone?.rename(name);
  }

  /** Is the message on the phone? */
  knows(id: string): boolean {
    return this.#phones[0]?.state.memory.find(id) !== undefined;
  }

  /** The device that has sent a message and can send it again. @throws when there is none */
  writerOf(id: string): Phone {
    const writer = this.#phones.find((phone) => phone?.outbox.remembers(id));
    if (!writer) throw new Error(`no device of ${this.#options.number} has sent a message ${id} lately`);
    return writer;
  }

  async #wakeAll(): Promise<void> {
    if (this.#phones.length === 0) {
      const { devices = 1 } = this.#options;
      // One after another: the phone's identity vouches for those of the others.
      for (let device = 0; device < (this.#lives > 0 ? 1 : devices); device++)
        this.#phones.push(this.#newPhone(device));
      if (this.#options.hosted && this.#lives === 0) this.#phones[HOSTED] = this.#newPhone(HOSTED);
    }
    for (const phone of this.#phones) await phone?.wake();
  }

  #newPhone(device: number): Phone {
    const { number: user, lid } = this.#options;
    return new Phone(this.#world, { user, lid, device }, this.#phoneOptions(device));
  }

  #phoneOptions(device: number): PhoneOptions {
    const { name, number, readsMessages = false } = this.#options;
    const life = this.#lives > 0 ? ` of life ${this.#lives}` : "";
    const base = { random: this.random.fork(`device ${device}${life}`), name: name ?? number, readsMessages };
    if (device === 0) return { ...base, ...this.#duties };
    return { ...base, deviceIdentity: (signal) => this.#vouchFor(device, signal) };
  }

  #vouchFor(device: number, signal: SignalDevice): Uint8Array {
    const account = this.phone(0).state.signal.identity;
    const timestamp = Math.floor(this.#world.time.now() / 1000);
    const rawId = this.random.fork(`raw id ${device}`).integer(2 ** 31);
    const details = { rawId, timestamp, keyIndex: device };
    return signByDevice(signal.identity, signByAccount(account, signal.identity.public, details));
  }
}
