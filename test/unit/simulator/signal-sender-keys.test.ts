import { beforeEach, describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/simulator/random.ts";
import { SignalDevice } from "../../../src/simulator/signal/device.ts";
import { type BaileysSide, makeBaileysSide } from "./baileys-side.ts";

const GROUP = "120363000000000001@g.us";
const OURS = "4915112345678@s.whatsapp.net";
const BAILEYS = "their-device";

const text = (words: string) => Buffer.from(words);

describe("sender keys against the library that Baileys uses", () => {
  let ours: SignalDevice;
  let baileys: BaileysSide;

  beforeEach(() => {
    ours = SignalDevice.create(seededRandom("ours"));
    baileys = makeBaileysSide();
  });

  const giveBaileysOurKey = () =>
    baileys.repository.processSenderKeyDistributionMessage({
      authorJid: OURS,
      item: { groupId: GROUP, axolotlSenderKeyDistributionMessage: ours.createSenderKey(GROUP) },
    });
  const baileysReads = async (msg: Uint8Array) =>
    Buffer.from(
      await baileys.repository.decryptGroupMessage({ group: GROUP, authorJid: OURS, msg }),
    ).toString();
  const baileysWrites = (words: string) =>
    baileys.repository.encryptGroupMessage({
      group: GROUP,
      meId: "491700@s.whatsapp.net",
      data: text(words),
    });
  const oursReads = (ciphertext: Uint8Array) =>
    Buffer.from(ours.groupDecrypt(GROUP, BAILEYS, ciphertext)).toString();

  it("is read by Baileys, also after a gap", async () => {
    await giveBaileysOurKey();
    const sent = ["a", "b", "c"].map((words) => ours.groupEncrypt(GROUP, text(words)));

    expect(await baileysReads(sent[0]!)).toBe("a");
    expect(await baileysReads(sent[2]!)).toBe("c");
  });

  it("gives a later member the key from the next message on", async () => {
    ours.groupEncrypt(GROUP, text("before"));
    await giveBaileysOurKey();

    expect(await baileysReads(ours.groupEncrypt(GROUP, text("after")))).toBe("after");
  });

  it("reads Baileys, in and out of order, also after the key was given again", async () => {
    const first = await baileysWrites("a");
    ours.processSenderKey(GROUP, BAILEYS, first.senderKeyDistributionMessage);
    const [second, third] = [await baileysWrites("b"), await baileysWrites("c")];

    expect(oursReads(first.ciphertext)).toBe("a");
    expect(oursReads(third.ciphertext)).toBe("c");
    ours.processSenderKey(GROUP, BAILEYS, third.senderKeyDistributionMessage);
    expect(oursReads(second.ciphertext)).toBe("b");
    expect(oursReads((await baileysWrites("d")).ciphertext)).toBe("d");
  });

  it("refuses a forged signature and a message read before, and goes on", async () => {
    const first = await baileysWrites("a");
    ours.processSenderKey(GROUP, BAILEYS, first.senderKeyDistributionMessage);
    const forged = Buffer.from(first.ciphertext);
    forged[forged.length - 5]! ^= 1;

    expect(() => oursReads(forged)).toThrow(expect.objectContaining({ reason: "bad_signature" }));
    expect(oursReads(first.ciphertext)).toBe("a");
    expect(() => oursReads(first.ciphertext)).toThrow(expect.objectContaining({ reason: "duplicate" }));
  });

  it("says when it was never given the sender's key", async () => {
    const { ciphertext } = await baileysWrites("a");

    expect(() => oursReads(ciphertext)).toThrow(expect.objectContaining({ reason: "no_sender_key" }));
  });

  it("makes a new key after the old one was forgotten, which those who left cannot read", async () => {
    await giveBaileysOurKey();
    ours.forgetSenderKey(GROUP);

    await expect(baileysReads(ours.groupEncrypt(GROUP, text("secret")))).rejects.toThrow("No session found");
  });
});
