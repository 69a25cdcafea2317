import { createPrivateKey, createPublicKey, diffieHellman, randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { patchLibsignal } from "../../../src/whatsapp/signal/libsignal.ts";
import { LOW_ORDER_KEYS } from "../../fixtures/low-order-keys.ts";

const fromBaileys = createRequire(createRequire(import.meta.url).resolve("@whiskeysockets/baileys"));
const original = createRequire(import.meta.url);

interface Curve {
  generateKeyPair(): { pubKey: Buffer; privKey: Buffer };
  calculateAgreement(publicKey: Buffer, privateKey: Buffer): Buffer;
  calculateSignature(privateKey: Buffer, message: Buffer): Buffer;
  verifySignature(publicKey: Buffer, message: Buffer, signature: Buffer): boolean;
}

const curve = fromBaileys("libsignal/src/curve.js") as Curve;

/** Node's own X25519, by another way than libsignal's and the Rust code's. */
function agreementByNode(publicKey: Buffer, privateKey: Buffer): Buffer {
  const pkcs8 = Buffer.from("302e020100300506032b656e04220420", "hex");
  const spki = Buffer.from("302a300506032b656e032100", "hex");
  return diffieHellman({
    privateKey: createPrivateKey({ key: Buffer.concat([pkcs8, privateKey]), format: "der", type: "pkcs8" }),
    publicKey: createPublicKey({
      key: Buffer.concat([spki, publicKey.subarray(1)]),
      format: "der",
      type: "spki",
    }),
  });
}

beforeAll(async () => {
  // Taken before they are replaced: a fresh copy of the module keeps the slow originals.
  const path = fromBaileys.resolve("curve25519-js");
  delete original.cache[path];
  slow = original(path) as typeof slow;
  delete original.cache[path];
  await patchLibsignal();
});
let slow: {
  sign(privateKey: Uint8Array, message: Uint8Array): Uint8Array;
  verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
};

describe("the replaced curve", () => {
  it("agrees on the secret that X25519 gives", () => {
    for (let round = 0; round < 20; round++) {
      const [a, b] = [curve.generateKeyPair(), curve.generateKeyPair()];
      const secret = curve.calculateAgreement(b.pubKey, a.privKey);
      expect(secret).toEqual(agreementByNode(b.pubKey, a.privKey));
      expect(secret).toEqual(curve.calculateAgreement(a.pubKey, b.privKey));
      expect(a.pubKey).toHaveLength(33);
      expect(a.pubKey[0]).toBe(5);
    }
  });

  it.each(LOW_ORDER_KEYS)("agrees on nothing with the low-order key %s", (hex) => {
    const { privKey } = curve.generateKeyPair();
    const point = Buffer.from(hex, "hex");
    const typed = Buffer.concat([Buffer.of(5), point]);
    expect(() => curve.calculateAgreement(typed, privKey)).toThrow("gives no shared secret");
    // As the library is given the keys of a bundle.
    expect(() => curve.calculateAgreement(point, privKey)).toThrow("gives no shared secret");
  });

  it("signs what the original verifies, and verifies what the original signs", () => {
    const { pubKey, privKey } = curve.generateKeyPair();
    const message = randomBytes(100);
    const changed = Buffer.concat([message, Buffer.from([1])]);

    const signature = curve.calculateSignature(privKey, message);
    expect(slow.verify(pubKey.subarray(1), message, signature)).toBe(true);
    const originally = Buffer.from(slow.sign(privKey, message));
    expect(curve.verifySignature(pubKey, message, originally)).toBe(true);
    expect(curve.verifySignature(pubKey, changed, originally)).toBe(false);
    expect(curve.verifySignature(pubKey, message, Buffer.alloc(64))).toBe(false);
  });
});

describe("silence", () => {
  afterEach(() => vi.restoreAllMocks());

  it("nothing is printed when sessions are closed, opened or thrown away", () => {
    const printed = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const errors = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    const { SessionRecord } = fromBaileys("libsignal") as {
      SessionRecord: new () => {
        sessions: Record<string, object>;
        closeSession(session: object): void;
        openSession(session: object): void;
        removeOldSessions(): void;
      };
    };
    const record = new SessionRecord();
    const session = { indexInfo: { closed: -1, baseKey: Buffer.from("secret") } };
    record.closeSession(session);
    record.closeSession(session);
    record.openSession(session);
    for (let n = 0; n < 60; n++) record.sessions[`s${n}`] = { indexInfo: { closed: n === 0 ? -1 : n } };
    record.removeOldSessions();
    console.warn("Decrypted message with closed session.");
    console.info("Closing session:", session);

    expect(printed).not.toHaveBeenCalled();
    expect(errors).not.toHaveBeenCalled();
    expect(Object.keys(record.sessions)).toHaveLength(40);
    expect(record.sessions).toHaveProperty("s0");
    expect(record.sessions).not.toHaveProperty("s1");
  });
});
