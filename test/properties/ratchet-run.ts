/* oxlint-disable no-underscore-dangle -- the names are those of libsignal */
import {
  decrypt,
  encrypt,
  RatchetRefused,
  type RatchetRefusal,
} from "../../src/whatsapp/everyday/ratchet.ts";
import { openSession, type StoredRecord } from "../../src/whatsapp/everyday/record.ts";
import { LOW_ORDER_KEYS } from "../fixtures/low-order-keys.ts";
import { afterLosing, underLowOrderKey, withCounter, withPreviousCounter } from "./ratchet-chains.ts";
import { NOW, Party, positionOf, PREKEY_TYPE, type Message } from "./ratchet-party.ts";
import { noTally, type RatchetTally } from "./ratchet-tally.ts";

const MOST_UNDER_WAY = 12;
/** Messages that are lost in a row. */
const FLOODS = [1, 2, 3, 5, 10, 20, 40, 150];
/** The limit, and what lies beside it. The keys of all that is missing are kept, which makes each step after it dear. */
const LONG_FLOODS = [1_999, 2_000, 2_001, 2_500];
const LAST_COUNTERS = [2 ** 31 - 2, 2 ** 31, 2 ** 32 - 2];
/** What somebody may claim to have written before its last change of keys. */
const PREVIOUS_COUNTERS = [0, 1, 40, 1_999, 2_000, 2_001, 5_000, 2 ** 31, 2 ** 32 - 1];
/** In front of a message; libsignal takes those whose lower half is at most 3 and whose upper half is at least 3. */
const FOREIGN_VERSIONS = [0x00, 0x22, 0x23, 0x32, 0x34, 0x43, 0x44, 0xff];

/**
 * Two parties, one session at a time: each step goes by the everyday ratchet, by libsignal, or by both on the same
 * record, at random; what both give must be the same to the byte, and either goes on from what the other has left. Between any
 * two steps of either a process may die: before its commit, or after it and before what follows from it has left.
 */
export class RatchetRun {
  readonly tally = noTally();
  readonly #ana = new Party("ana");
  readonly #ben = new Party("ben");
  /** Keys that messages which have left were encrypted with. */
  readonly #used = new Set<string>();
  readonly #random: () => number;

  readonly #floods: number[];

  /** @param seed runs of one seed take the same steps; only keys differ */
  constructor(seed: number, { longFloods = true } = {}) {
    this.#random = mulberry(seed);
    this.#floods = longFloods ? [...FLOODS, ...LONG_FLOODS] : FLOODS;
  }

  /** @throws Error that says what the two did differently */
  async run(steps: number): Promise<RatchetTally> {
    await this.#meet(this.#ana, this.#ben);
    for (let step = 0; step < steps; step++) {
      const [one, other] = this.#random() < 0.5 ? [this.#ana, this.#ben] : [this.#ben, this.#ana];
      await this.#step(one, other);
    }
    return this.tally;
  }

  async #step(one: Party, other: Party): Promise<void> {
    const dice = this.#random();
    if (dice < 0.0002) return this.#meet(one, other);
    if (dice < 0.001) return this.#flood(one);
    if (dice < 0.4 && other.inbox.length < MOST_UNDER_WAY) return this.#send(one, other);
    if (one.inbox.length === 0) return;
    // The next one, mostly; sometimes any.
    const at = this.#random() < 0.7 ? 0 : this.#pick(one.inbox.length);
    const message = one.inbox[at]!;
    if (dice > 0.96) return this.#lose(one, at);
    if (dice > 0.95)
      return void (await this.#receive(one, other, { message: this.#forged(message), fits: false }));
    if (dice > 0.94) return this.#receiveCrafted(one, other, message);
    const fits = !one.read.has(message.text);
    if (!fits) this.tally.repeated++;
    const taken = await this.#receive(one, other, { message, fits });
    // One in twenty comes again, and each that is not known to have been taken.
    if (taken && this.#random() < 0.95) one.inbox.splice(one.inbox.indexOf(message), 1);
  }

  #lose(to: Party, at: number): void {
    to.inbox.splice(at, 1);
    this.tally.lost++;
  }

  /** A new session, in the middle of whatever is under way on the one before. */
  async #meet(one: Party, other: Party): Promise<void> {
    this.tally.met++;
    await one.meet(other);
    await this.#send(one, other);
  }

  async #send(from: Party, to: Party): Promise<void> {
    // Who has not been written to yet knows nothing of the session.
    if (from.record === null) return;
    const text = `${from.name} ${++this.tally.sent} ${"x".repeat(this.#pick(40))}`;
    const who = this.#whoTries();
    const own =
      who === "libsignal"
        ? NOBODY
        : everyday(() => encrypt(from.record!, Buffer.from(text), from.identity.pubKey));
    const theirs = who === "everyday" && own.given !== null ? null : await from.encrypt(text);
    const type = theirs?.type ?? 1;
    if (own.given !== null && type === PREKEY_TYPE)
      throw new Error("the everyday ratchet encrypts what is to open a session");
    if (own.refusal !== null && type !== PREKEY_TYPE)
      throw new Error("the everyday ratchet does not encrypt what libsignal encrypts");
    if (own.given !== null && theirs !== null) {
      if (!own.given.ciphertext.equals(theirs.body)) throw new Error("the two encrypt to different bytes");
      expectSame(own.given.record, theirs.record);
    }
    const next = this.#oneOf(own.given?.record, theirs?.record);
    const body = theirs?.body ?? own.given!.ciphertext;
    if (!this.#commit(from, next)) return;
    if (type !== PREKEY_TYPE) this.#leaves(body);
    to.inbox.push({ type, body, text });
  }

  /** @returns false: nothing follows from it, as the process died, or its commit failed and the next may stand on it */
  #commit(party: Party, next: StoredRecord): boolean {
    const dice = this.#random();
    if (dice < 0.01) {
      this.tally.diedBeforeCommit++;
      party.restart();
      return false;
    }
    if (dice < 0.02) {
      this.tally.standOnUncommitted++;
      party.stage(next);
      return false;
    }
    party.keep(next);
    // Read again, as what has not been used for long.
    if (dice > 0.9) party.restart();
    if (dice > 0.03) return true;
    this.tally.diedAfterCommit++;
    party.restart();
    return false;
  }

  /** A key that is used for two messages gives both away. */
  #leaves(body: Buffer): void {
    const { chain, counter } = positionOf(body);
    const key = `${chain} ${counter}`;
    if (this.#used.has(key)) throw new Error(`two messages have left under the key ${key}`);
    this.#used.add(key);
  }

  /** @returns whether WhatsApp may forget it: it was taken, or nobody will ever read it */
  async #receive(
    to: Party,
    from: Party,
    { message, fits }: { message: Message; fits: boolean },
  ): Promise<boolean> {
    if (to.record === null && message.type !== PREKEY_TYPE) return true;
    if (message.type === PREKEY_TYPE) return this.#receiveFirst(to, message);
    const before = to.record!;
    const mustRead = fits && to.mustRead(message);
    const who = this.#whoTries();
    const own =
      who === "libsignal" ? NOBODY : everyday(() => decrypt(before, message.body, to.identity.pubKey, NOW));
    // What it refuses is libsignal's affair.
    const theirs =
      who === "everyday" && own.given !== null ? null : await to.decrypt(message, own.given?.record ?? null);
    if (own.given === null && theirs === null) {
      if (mustRead) throw new Error("nobody reads what there is a key for");
      await this.#refused(to, from, fits && own.refusal === "counter_jump");
      return true;
    }
    if (own.given !== null && theirs === null && who === "both")
      throw new Error("the everyday ratchet reads what libsignal refuses");
    for (const read of [own.given?.plaintext.toString(), theirs?.plaintext])
      if (read !== undefined && (!fits || read !== message.text))
        throw new Error("something else was read than was written");
    if (own.refusal !== null) return this.#readByLibsignalAlone(to, message, theirs!.record);
    if (own.given !== null && theirs !== null) expectSame(own.given.record, theirs.record);
    this.tally.read++;
    const { chain, counter } = positionOf(message.body);
    const known = openSession(before)?.session._chains[chain];
    if (known !== undefined && known.chainKey.counter >= counter) this.tally.late++;
    return this.#took(to, message, this.#oneOf(own.given?.record, theirs?.record));
  }

  async #refused(to: Party, from: Party, isFlood: boolean): Promise<void> {
    this.tally.refusedByBoth++;
    if (!isFlood) return;
    this.tally.refusedFlood++;
    // As a phone does that is asked for it again.
    if (this.#random() < 0.5) await this.#meet(from, to);
  }

  /** Nobody encrypts on a session whose change by a message is not committed: its address is locked until then. */
  #took(to: Party, { text }: Message, next: StoredRecord): boolean {
    if (this.#random() < 0.01) {
      this.tally.diedBeforeCommit++;
      to.restart();
      return false;
    }
    to.keep(next);
    to.read.add(text);
    if (this.#random() > 0.01) return true;
    this.tally.diedAfterCommit++;
    to.restart();
    return false;
  }

  #readByLibsignalAlone(to: Party, message: Message, record: StoredRecord): boolean {
    if (JSON.stringify(openSession(to.record!)) !== JSON.stringify(openSession(record)))
      throw new Error("the everyday ratchet refuses what libsignal reads on the open session");
    this.tally.readByLibsignalAlone++;
    return this.#took(to, message, record);
  }

  async #receiveFirst(to: Party, message: Message): Promise<boolean> {
    const found = await to.decrypt(message, null);
    return found === null || this.#took(to, message, found.record);
  }

  /** So many messages are encrypted and lost, without anybody doing it. */
  #flood(from: Party): void {
    const lost = this.#floods[this.#pick(this.#floods.length)]!;
    const flooded = afterLosing(from.record, lost);
    if (flooded === null) return;
    from.keep(flooded);
    this.tally.flooded += lost;
  }

  /** A bit is another one, or the end is missing. */
  #forged(message: Message): Message {
    this.tally.forged++;
    const body = Buffer.from(message.body);
    if (this.#random() < 0.1) return { ...message, body: body.subarray(0, this.#pick(body.length)) };
    // Some of them in the MAC alone.
    const from = this.#random() < 0.3 ? body.length - 8 : 1;
    // Of the byte in front, which no MAC covers, libsignal takes several values; the everyday ratchet leaves those to it.
    body[from + this.#pick(body.length - from)]! ^= 1 << this.#pick(8);
    return { ...message, body };
  }

  /** Somebody who has the session's keys writes what no client writes. */
  async #receiveCrafted(to: Party, from: Party, message: Message): Promise<void> {
    this.tally.crafted++;
    const kind = this.#pick(4);
    if (kind === 0) return this.#receiveForeign(to, message);
    const crafted = this.#crafted(from, to, kind);
    // A wrong number of messages before is no reason to refuse one: it says where the chain before has ended.
    if (crafted !== null) await this.#receive(to, from, { message: crafted, fits: kind === 1 });
  }

  /** Null: there is no session that is open on both sides. */
  #crafted(from: Party, to: Party, kind: number): Message | null {
    const text = `crafted ${this.tally.crafted}`;
    const record =
      kind === 1
        ? withPreviousCounter(from.record, this.#oneIn(PREVIOUS_COUNTERS))
        : kind === 2
          ? underLowOrderKey(from.record, to.record, Buffer.from(this.#oneIn(LOW_ORDER_KEYS), "hex"))
          : withCounter(from.record, this.#oneIn(LAST_COUNTERS));
    if (record === null) return null;
    if (kind === 1) this.tally.previousCounters++;
    if (kind === 2) this.tally.lowOrder++;
    const { ciphertext: body } = encrypt(record, Buffer.from(text), from.identity.pubKey);
    return { type: 1, body, text };
  }

  /** No MAC covers the byte in front: libsignal may read it, and then what was written; the everyday ratchet leaves it to libsignal. */
  async #receiveForeign(to: Party, message: Message): Promise<void> {
    if (to.record === null || message.type === PREKEY_TYPE) return;
    this.tally.foreignVersions++;
    const body = Buffer.from(message.body);
    body[0] = this.#oneIn(FOREIGN_VERSIONS);
    const { refusal } = everyday(() => decrypt(to.record!, body, to.identity.pubKey, NOW));
    if (refusal !== "not_a_message" && refusal !== "no_open_session")
      throw new Error("the everyday ratchet takes a version that it does not speak");
    const theirs = await to.decrypt({ ...message, body }, null);
    if (theirs !== null && theirs.plaintext !== message.text)
      throw new Error("something else was read than was written");
  }

  #whoTries(): "both" | "everyday" | "libsignal" {
    if (this.#random() < 0.5) return "both";
    return this.#random() < 0.5 ? "everyday" : "libsignal";
  }

  #oneOf(own: StoredRecord | undefined, theirs: StoredRecord | undefined): StoredRecord {
    if (own !== undefined && theirs !== undefined) return this.#random() < 0.5 ? own : theirs;
    return (own ?? theirs)!;
  }

  #oneIn<T>(values: readonly T[]): T {
    return values[this.#pick(values.length)]!;
  }

  #pick(below: number): number {
    return Math.floor(this.#random() * below);
  }
}

/** The everyday ratchet was not asked. */
const NOBODY = { given: null, refusal: null };

/** What the everyday ratchet gives, or why it refuses. */
function everyday<T>(
  work: () => T,
): { given: T; refusal: null } | { given: null; refusal: RatchetRefusal | "broken" | null } {
  try {
    return { given: work(), refusal: null };
  } catch (error) {
    if (error instanceof RatchetRefused) return { given: null, refusal: error.reason };
    // What OpenSSL and the protobuf's reader refuse is refused as well; a mistake of our own is not.
    if (error instanceof TypeError && !("code" in error)) throw error;
    return { given: null, refusal: "broken" };
  }
}

function expectSame(one: StoredRecord, other: StoredRecord): void {
  const [a, b] = [JSON.stringify(one._sessions), JSON.stringify(other._sessions)];
  if (a !== b) throw new Error(`the two leave different records:\n${a}\n${b}`);
}

/** Public domain; enough for choices that have to be the same again. */
function mulberry(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
