import { LIDS, NUMBERS, readUserJid } from "./jids.ts";

/** Which number and which LID are one person, as far as this phone has been told. */
export class AddressBook {
  readonly #lidOfNumber = new Map<string, string>();
  readonly #numberOfLid = new Map<string, string>();

  /** Takes over a pair of addresses of one person, in any order; device parts and missing halves are ignored. */
  learn(one: string | undefined, other: string | undefined): void {
    if (!one || !other) return;
    const [a, b] = [readUserJid(one), readUserJid(other)];
    if (a.server === b.server) return;
    const [number, lid] = a.server === NUMBERS ? [a.user, b.user] : [b.user, a.user];
    this.#lidOfNumber.set(number, lid);
    this.#numberOfLid.set(lid, number);
  }

  /** The LID of a number is to be asked for anew. */
  forgetLid(number: string): void {
    this.#lidOfNumber.delete(number);
  }

  /** LID digits of a person, when known. */
  lidOf(jid: string): string | undefined {
    const { user, server } = readUserJid(jid);
    return server === LIDS ? user : this.#lidOfNumber.get(user);
  }

  /** Number digits of a person, when known. */
  numberOf(jid: string): string | undefined {
    const { user, server } = readUserJid(jid);
    return server === NUMBERS ? user : this.#numberOfLid.get(user);
  }

  /** Name of a device that is the same for both addresses of a person, once the LID is known. Signal state is filed under it. */
  peer(jid: string): string {
    const { device, user } = readUserJid(jid);
    const lid = this.lidOf(jid);
    return lid ? `${lid}_lid.${device}` : `${user}.${device}`;
  }
}
