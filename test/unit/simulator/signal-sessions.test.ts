import { beforeEach, describe, expect, it, vi } from "vitest";
import { seededRandom } from "../../../src/simulator/random.ts";
import type { KeyBundle } from "../../../src/simulator/signal/bundle.ts";
import { SignalDevice } from "../../../src/simulator/signal/device.ts";
import { SignalError } from "../../../src/simulator/signal/error.ts";
import { type BaileysSide, forBaileys, makeBaileysSide } from "./baileys-side.ts";

const BAILEYS = "their-device";
const OURS = "4915112345678@s.whatsapp.net";

const text = (words: string) => Buffer.from(words);

const bundleOf = (device: SignalDevice): KeyBundle => ({
  registrationId: device.registrationId,
  identity: device.identity.public,
  signedPreKey: device.signedPreKey,
  preKey: device.uploadPreKeys(1)[0],
});

describe("Signal sessions against the library that Baileys uses", () => {
  let ours: SignalDevice;
  let baileys: BaileysSide;

  beforeEach(() => {
    // libsignal prints whole session records; they would hide the test's own output.
    for (const method of ["info", "warn", "error"] as const)
      vi.spyOn(console, method).mockImplementation(() => {});
    ours = SignalDevice.create(seededRandom("ours"));
    baileys = makeBaileysSide();
  });

  const baileysReads = async ({ type, ciphertext }: { type: "pkmsg" | "msg"; ciphertext: Uint8Array }) => {
    const plaintext = await baileys.repository.decryptMessage({ jid: OURS, type, ciphertext });
    return Buffer.from(plaintext).toString();
  };
  const baileysWrites = (words: string) =>
    baileys.repository.encryptMessage({ jid: OURS, data: text(words) });
  const oursReads = ({ type, ciphertext }: { type: "pkmsg" | "msg"; ciphertext: Uint8Array }) =>
    Buffer.from(ours.decrypt(BAILEYS, type, ciphertext).plaintext).toString();

  it("starts a session with and without a one-time pre-key", async () => {
    ours.startSession(BAILEYS, await baileys.bundle());
    expect(await baileysReads(ours.encrypt(BAILEYS, text("without")))).toBe("without");

    ours.startSession(BAILEYS, await baileys.bundle(7));
    expect(await baileysReads(ours.encrypt(BAILEYS, text("with")))).toBe("with");
  });

  it("repeats the pre-key header until answered, and not after", async () => {
    ours.startSession(BAILEYS, await baileys.bundle(1));
    const [first, second] = [ours.encrypt(BAILEYS, text("1")), ours.encrypt(BAILEYS, text("2"))];
    expect([first.type, second.type]).toEqual(["pkmsg", "pkmsg"]);
    expect([await baileysReads(first), await baileysReads(second)]).toEqual(["1", "2"]);

    expect(oursReads(await baileysWrites("answer"))).toBe("answer");

    const third = ours.encrypt(BAILEYS, text("3"));
    expect(third.type).toBe("msg");
    expect(await baileysReads(third)).toBe("3");
  });

  it("answers a session that Baileys started, uses its one-time pre-key up and turns the ratchet on", async () => {
    const bundle = bundleOf(ours);
    await baileys.repository.injectE2ESession({ jid: OURS, session: forBaileys(bundle) as never });
    const opening = await baileysWrites("hello");
    expect(opening.type).toBe("pkmsg");

    const read = ours.decrypt(BAILEYS, "pkmsg", opening.ciphertext);
    expect(Buffer.from(read.plaintext).toString()).toBe("hello");
    expect(read.usedPreKeyId).toBe(bundle.preKey!.id);
    expect(Buffer.from(read.identity)).toEqual(Buffer.from(baileys.identity));

    for (let turn = 0; turn < 10; turn++) {
      const mine = ours.encrypt(BAILEYS, text(`mine ${turn}`));
      expect(mine.type).toBe("msg");
      expect(await baileysReads(mine)).toBe(`mine ${turn}`);
      expect(oursReads(await baileysWrites(`theirs ${turn}`))).toBe(`theirs ${turn}`);
    }
  });

  it("reads messages out of order, within a chain and across a turn of the ratchet", async () => {
    ours.startSession(BAILEYS, await baileys.bundle(1));
    await baileysReads(ours.encrypt(BAILEYS, text("opening")));
    const theirs = [await baileysWrites("a"), await baileysWrites("b"), await baileysWrites("c")];

    expect(oursReads(theirs[2]!)).toBe("c");
    await baileysReads(ours.encrypt(BAILEYS, text("turn")));
    const later = await baileysWrites("d");

    expect([later, theirs[1]!, theirs[0]!].map(oursReads)).toEqual(["d", "b", "a"]);
  });

  it("is read out of order by Baileys", async () => {
    ours.startSession(BAILEYS, await baileys.bundle(1));
    const sent = ["a", "b", "c"].map((words) => ours.encrypt(BAILEYS, text(words)));

    expect(await baileysReads(sent[2]!)).toBe("c");
    expect(await baileysReads(sent[0]!)).toBe("a");
    expect(await baileysReads(sent[1]!)).toBe("b");
  });

  it("keeps several sessions side by side and writes on the one that was heard last", async () => {
    ours.startSession(BAILEYS, await baileys.bundle(1));
    await baileysReads(ours.encrypt(BAILEYS, text("opening")));
    const current = () => Buffer.from(ours.sessionInfo(BAILEYS)!.baseKey).toString("hex");
    const first = current();
    const onFirst = [await baileysWrites("old 1"), await baileysWrites("old 2")];
    await baileys.repository.injectE2ESession({ jid: OURS, session: forBaileys(bundleOf(ours)) as never });
    const onSecond = await baileysWrites("new 1");

    expect(oursReads(onFirst[0]!)).toBe("old 1");
    expect(oursReads(onSecond)).toBe("new 1");
    expect(current()).not.toBe(first);
    expect(oursReads(await baileysWrites("new 2"))).toBe("new 2");
    expect(oursReads(onFirst[1]!)).toBe("old 2");
    expect(current()).toBe(first);
  });

  it("keeps forty sessions beside the current one, not more", async () => {
    const forgotten = bundleOf(ours);
    await baileys.repository.injectE2ESession({ jid: OURS, session: forBaileys(forgotten) as never });
    const first = [await baileysWrites("1"), await baileysWrites("2")];
    expect(oursReads(first[0]!)).toBe("1");

    for (let session = 0; session < 40; session++) ours.startSession(BAILEYS, await baileys.bundle());
    expect(oursReads(first[1]!)).toBe("2");

    const late = SignalDevice.create(seededRandom("late"));
    ours.startSession("late", bundleOf(late));
    late.decrypt("ours", "pkmsg", ours.encrypt("late", text("hi")).ciphertext);
    const unread = late.encrypt("ours", text("too late"));
    for (let session = 0; session < 41; session++) ours.startSession("late", bundleOf(late));
    expect(() => ours.decrypt("late", unread.type, unread.ciphertext)).toThrow("MAC");
  });

  it("is left as it was by a forged message, which it refuses", async () => {
    ours.startSession(BAILEYS, await baileys.bundle(1));
    await baileysReads(ours.encrypt(BAILEYS, text("opening")));
    const { type, ciphertext } = await baileysWrites("genuine");
    // A forger who knows the message format turns our ratchet, unless a failed try is undone.
    const stranger = SignalDevice.create(seededRandom("stranger"));
    stranger.startSession("ours", bundleOf(ours));
    const other = stranger.encrypt("ours", text("forged")).ciphertext;
    const forgedRatchet = other.subarray(other.indexOf(0x33, 40));
    const flipped = Buffer.from(ciphertext);
    flipped[flipped.length - 1]! ^= 1;

    for (const forged of [flipped, Buffer.from(ciphertext).fill(9, 40, 60), forgedRatchet]) {
      expect(() => ours.decrypt(BAILEYS, "msg", forged)).toThrow(
        expect.objectContaining({ name: "SignalError" }),
      );
    }
    expect(oursReads({ type, ciphertext })).toBe("genuine");
    expect(await baileysReads(ours.encrypt(BAILEYS, text("still here")))).toBe("still here");
  });

  it("says that a message was read before instead of reading it twice", async () => {
    ours.startSession(BAILEYS, await baileys.bundle(1));
    await baileysReads(ours.encrypt(BAILEYS, text("opening")));
    const message = await baileysWrites("once");
    oursReads(message);

    expect(() => oursReads(message)).toThrow(expect.objectContaining({ reason: "duplicate" }));
  });

  it("refuses a one-time pre-key that is unknown or was used before", async () => {
    const bundle = bundleOf(ours);
    await baileys.repository.injectE2ESession({ jid: OURS, session: forBaileys(bundle) as never });
    oursReads(await baileysWrites("first"));
    await baileys.repository.injectE2ESession({ jid: OURS, session: forBaileys(bundle) as never });
    const again = await baileysWrites("again");
    await baileys.repository.injectE2ESession({
      jid: OURS,
      session: forBaileys({ ...bundle, preKey: { id: 99, public: bundle.preKey!.public } }) as never,
    });
    const unknown = await baileysWrites("unknown");

    expect(() => oursReads(again)).toThrow(expect.objectContaining({ reason: "invalid_prekey" }));
    expect(() => oursReads(unknown)).toThrow(expect.objectContaining({ reason: "invalid_prekey" }));
  });

  it("uses no pre-key up when the message that names it is forged", async () => {
    await baileys.repository.injectE2ESession({ jid: OURS, session: forBaileys(bundleOf(ours)) as never });
    const { ciphertext } = await baileysWrites("hello");
    const forged = Buffer.from(ciphertext);
    forged[forged.indexOf(0x22) + 40]! ^= 1;

    expect(() => ours.decrypt(BAILEYS, "pkmsg", forged)).toThrow(SignalError);
    expect(oursReads({ type: "pkmsg", ciphertext })).toBe("hello");
  });

  it("refuses a bundle whose signed pre-key is not signed by its identity", async () => {
    const bundle = await baileys.bundle(1);
    const signature = Buffer.from(bundle.signedPreKey.signature);
    signature[3]! ^= 1;

    const start = () =>
      ours.startSession(BAILEYS, { ...bundle, signedPreKey: { ...bundle.signedPreKey, signature } });

    expect(start).toThrow(expect.objectContaining({ reason: "bad_signature" }));
    expect(ours.hasSession(BAILEYS)).toBe(false);
  });

  it("has no session with a stranger", () => {
    expect(() => ours.encrypt("nobody", text("?"))).toThrow(
      expect.objectContaining({ reason: "no_session" }),
    );
  });

  it("has the same keys for the same seed", () => {
    const again = SignalDevice.create(seededRandom("ours"));

    expect(again.identity).toEqual(ours.identity);
    expect(again.registrationId).toBe(ours.registrationId);
    expect(again.uploadPreKeys(3)).toEqual(ours.uploadPreKeys(3));
  });
});
