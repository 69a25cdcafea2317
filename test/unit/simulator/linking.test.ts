import { createHmac } from "node:crypto";
import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import { describe, expect, it } from "vitest";
import {
  sealForCompanion,
  signByAccount,
  signByDevice,
} from "../../../src/simulator/people/linking/device-identity.ts";
import { answerHello, openKeyBundle } from "../../../src/simulator/people/linking/linking-code.ts";
import { NoteBox } from "../../../src/simulator/people/linking/note-box.ts";
import { pad, unpad } from "../../../src/simulator/people/messages/padding.ts";
import { seededRandom } from "../../../src/simulator/random.ts";
import { keyPairFrom, verify } from "../../../src/simulator/signal/curve.ts";
import { hostTime } from "../../../src/simulator/time.ts";

const random = seededRandom("linking");
const account = keyPairFrom(random.fork("account").bytes(32));
const companion = keyPairFrom(random.fork("companion").bytes(32));
const details = { rawId: 7, timestamp: 1_700_000_000, keyIndex: 3 };

describe("a companion's device identity", () => {
  it("is signed by the account over details and companion, and sealed with the secret of the QR", () => {
    const secret = random.fork("secret").bytes(32);

    const sealed = proto.ADVSignedDeviceIdentityHMAC.decode(
      sealForCompanion(signByAccount(account, companion.public, details), secret),
    );

    const expected = createHmac("sha256", secret).update(sealed.details!).digest();
    expect(Buffer.from(sealed.hmac!).equals(expected)).toBe(true);
    const signed = proto.ADVSignedDeviceIdentity.decode(sealed.details!);
    const content = Buffer.concat([Buffer.from([6, 0]), signed.details!, companion.public]);
    expect(verify(account.public, content, signed.accountSignature!)).toBe(true);
    const { rawId, timestamp, keyIndex } = proto.ADVDeviceIdentity.decode(signed.details!);
    expect({ rawId, timestamp: Number(timestamp), keyIndex }).toEqual(details);
  });

  it("is signed by the device over the account's key as well", () => {
    const bytes = signByDevice(companion, signByAccount(account, companion.public, details));

    const signed = proto.ADVSignedDeviceIdentity.decode(bytes);
    const content = Buffer.concat([Buffer.from([6, 1]), signed.details!, companion.public, account.public]);
    expect(verify(companion.public, content, signed.deviceSignature!)).toBe(true);
    content[3]! ^= 1;
    expect(verify(companion.public, content, signed.deviceSignature!)).toBe(false);
  });
});

describe("linking by code", () => {
  it("says what is wrong with a hello that is cut off", async () => {
    await expect(answerHello("ABCD1234", new Uint8Array(79), random)).rejects.toThrow("80 bytes, not 79");
  });

  it("says that the code is wrong when the companion's bundle does not open", async () => {
    const exchange = await answerHello("ABCD1234", random.bytes(80), random.fork("phone"));

    expect(() => openKeyBundle(exchange, random.bytes(156), companion.public, account)).toThrow(
      "code is wrong",
    );
  });
});

describe("notes that wait to be taken", () => {
  it("are taken once, the newest first, by those whom they fit", async () => {
    const box = new NoteBox<number>(hostTime);
    for (const note of [1, 2, 3]) box.put(note);

    expect(box.takeNow((note) => note < 3)).toBe(2);
    expect(box.takeNow(() => true)).toBe(3);
    const later = box.take((note) => note > 8, 5000);
    box.put(4);
    box.put(9);
    expect(await later).toBe(9);
    expect(await box.take((note) => note > 8, 1)).toBeUndefined();
    expect([box.takeNow(() => true), box.takeNow(() => true), box.takeNow(() => true)]).toEqual([
      4,
      1,
      undefined,
    ]);
  });
});

describe("padding", () => {
  it("adds 1 to 16 bytes of their own number, every length at some time, and takes them off again", () => {
    const stream = random.fork("padding");
    const plaintext = Buffer.from("words");
    const padded = Array.from({ length: 400 }, () => pad(plaintext, stream));

    expect(new Set(padded.map(({ length }) => length - 5))).toEqual(
      new Set(Array.from({ length: 16 }, (_, n) => n + 1)),
    );
    expect(padded.every((bytes) => Buffer.from(unpad(bytes)!).equals(plaintext))).toBe(true);
  });

  it.each([[], [0], [17], [1, 2], [9, 3, 3]])("is not taken for padding when it is %j", (...bytes) => {
    expect(unpad(Uint8Array.from(bytes.flat()))).toBeUndefined();
  });
});
