import { historyOf } from "./history.ts";
import { createOwner } from "../people/owner/owner.ts";
import type { PhoneWorld } from "../people/link.ts";
import type { PersonOptions, SimulatedOwner, SimulatedPerson } from "../people/people.ts";
import { createPerson } from "../people/person.ts";
import type { Random } from "../random.ts";
import type { ContactOptions, NumberOptions } from "../surface/accounts.ts";
import { Device } from "../world/accounts.ts";
import type { Account } from "../world/accounts.ts";
import { HOSTED_DEVICE } from "../world/jid.ts";
import type { World } from "../world/world.ts";

/** As it was added, and the person once it is used. */
interface Contact {
  given: ContactOptions;
  options: PersonOptions;
  person?: SimulatedPerson;
}

/** The people behind the accounts: owners with their phones, and contacts. */
export class Population {
  readonly #world: World;
  readonly #phones: PhoneWorld;
  readonly #random: Random;
  readonly #owners = new Map<string, SimulatedOwner>();
  /** A contact is made when it is first used: thousands may be there of whom only a few ever write. */
  readonly #contacts = new Map<string, Contact>();

  constructor(world: World, phones: PhoneWorld, random: Random) {
    this.#world = world;
    this.#phones = phones;
    this.#random = random;
  }

  /** Adds an account that can be linked, with its owner. @throws when the number or the LID is taken or malformed */
  addOwner(number: string, options: NumberOptions): Account {
    const account = this.#addAccount(number, options.lid, 1, {
      kind: "owner",
      name: options.name ?? `Owner ${number.slice(-4)}`,
      edition: options.edition ?? "standard",
      // The server goes by what its phone and companions write.
      addressing: "pn",
      hidesNumber: false,
      refusesGroups: false,
      username: undefined,
      demandsToken: false,
      reachableBy: "both",
      otherForms: [],
    });
    const { lid, name } = account;
    const { time } = this.#phones;
    // Evaluated when a companion is linked, so that accounts added until then are known as well.
    const history = () =>
      historyOf(
        this.#world,
        number,
        options.history ?? {},
        this.#random.fork(`history:${number}`),
        Math.floor(time.now() / 1000),
      );
    const addressing = this.#phones.behaviour.lidChats ? "lid" : "pn";
    this.#owners.set(number, createOwner(this.#phones, { number, lid, name, addressing, history }));
    return account;
  }

  /** Adds a contact. @throws when the number or the LID is taken or malformed */
  addContact(number: string, options: ContactOptions): Account {
    const { devices = 1, username } = options;
    const hidesNumber = options.hidesNumber ?? username !== undefined;
    const reachableBy = options.reachableBy ?? (hidesNumber ? "lid" : "both");
    const usual = this.#phones.behaviour.lidChats && reachableBy !== "number" ? "lid" : "pn";
    const account = this.#addAccount(number, options.lid, devices, {
      kind: "contact",
      name: options.name ?? `Contact ${number.slice(-4)}`,
      edition: "standard",
      addressing: hidesNumber ? "lid" : (options.addressing ?? usual),
      hidesNumber,
      refusesGroups: options.refusesGroups ?? false,
      username,
      demandsToken: options.demandsToken ?? false,
      reachableBy,
      otherForms: options.otherForms ?? [],
    });
    const { lid, name, addressing } = account;
    const { readsMessages, hosted = false } = options;
    if (hosted) addDevice(account, HOSTED_DEVICE);
    const person = { number, lid, name, devices, hosted, addressing, hidesNumber, readsMessages };
    this.#contacts.set(number, { given: options, options: person });
    return account;
  }

  /** A contact goes on under another number, with a new phone; the old account stays without one. @throws when it is no contact */
  renumber(number: string, to: string): Account {
    this.contact(number).sleep();
    const { given, options } = this.#contacts.get(number)!;
    const account = this.addContact(to, { ...given, name: options.name, devices: 1, lid: undefined });
    this.#contacts.delete(number);
    return account;
  }

  /** @throws when there is no such owner */
  owner(number: string): SimulatedOwner {
    const owner = this.#owners.get(number);
    if (!owner) throw new Error(`${number} is no number that can be linked: add it with addNumber`);
    return owner;
  }

  /** @throws when there is no such contact */
  contact(number: string): SimulatedPerson {
    const contact = this.#contacts.get(number);
    if (!contact) throw new Error(`${number} is no contact: add it with addContact`);
    return (contact.person ??= createPerson(this.#phones, contact.options));
  }

  /** Somebody with a phone, contact or owner. @throws when there is no such account */
  person(number: string): SimulatedPerson {
    return this.#owners.get(number) ?? this.contact(number);
  }

  /** Brings all devices of an account online, once. */
  async wake(account: Account): Promise<void> {
    const { number } = account;
    if (!this.#owners.has(number) && !this.#contacts.has(number)) return;
    const person = this.person(number);
    // Waking takes a while; anyone who asks in the meantime must wait for it too, or will find no keys.
    if (person.awake || !account.devices.get(0)?.seen) await person.wake();
  }

  /** Takes everybody offline. */
  sleep(): void {
    for (const owner of this.#owners.values()) owner.sleep();
    for (const { person } of this.#contacts.values()) person?.sleep();
  }

  #addAccount(
    number: string,
    lid: string | undefined,
    devices: number,
    rest: Omit<Account, "number" | "lid" | "devices" | "nextDevice" | "watchers">,
  ): Account {
    if (!/^\d{5,15}$/.test(number))
      throw new Error(`"${number}" is no phone number: 5 to 15 digits, nothing else`);
    if (lid !== undefined && !/^\d{5,18}$/.test(lid)) throw new Error(`"${lid}" is no LID: digits only`);
    const account: Account = {
      number,
      lid: lid ?? this.newLid(number),
      devices: new Map(),
      nextDevice: devices,
      watchers: new Set(),
      ...rest,
    };
    this.#world.addAccount(account);
    for (let id = 0; id < devices; id += 1) addDevice(account, id);
    return account;
  }

  /** Fifteen digits that cannot be mistaken for a number and reveal nothing about it; always the same ones for a name. */
  newLid(name: string): string {
    const random = this.#random.fork(`lid:${name}`);
    const digits = (count: number) =>
      random
        .integer(10 ** count)
        .toString()
        .padStart(count, "0");
    return `1${digits(7)}${digits(7)}`;
  }
}

function addDevice(account: Account, id: number): void {
  const device = new Device(account, id);
  device.listed = true;
  account.devices.set(id, device);
}
