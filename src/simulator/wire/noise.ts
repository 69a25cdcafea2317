import { createCipheriv, createDecipheriv, createHash, hkdfSync } from "node:crypto";
import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import type { Random } from "../random.ts";
import { agree, keyPairFrom, sign } from "./keys.ts";
import type { KeyPair } from "./keys.ts";

const MODE = Buffer.from("Noise_XX_25519_AESGCM_SHA256\0\0\0\0");
const HEADER = Buffer.from([0x57, 0x41, 6, 3]);
const NO_AAD = Buffer.alloc(0);
const TAG_BYTES = 16;

/** The server's long-lived keys: the root that clients trust, and the key that it vouches for. */
export interface ServerIdentity {
  rootPublicKey: Buffer;
  staticKey: KeyPair;
  /** Encoded `CertChain`: leaf (static key) signed by the intermediate, intermediate signed by the root. */
  certificate: Buffer;
}

/** Makes root, intermediate and leaf; the intermediate's issuer serial is 0, as clients of the real service expect. */
export function makeServerIdentity(random: Random): ServerIdentity {
  const root = keyPairFrom(random.fork("root").bytes(32));
  const intermediate = keyPairFrom(random.fork("intermediate").bytes(32));
  const staticKey = keyPairFrom(random.fork("static").bytes(32));
  const { Details } = proto.CertChain.NoiseCertificate;
  const validity = { notBefore: 1_600_000_000, notAfter: 4_100_000_000 };
  const intermediateDetails = Details.encode({
    serial: 1,
    issuerSerial: 0,
    key: intermediate.publicKey,
    ...validity,
  }).finish();
  const leafDetails = Details.encode({
    serial: 2,
    issuerSerial: 1,
    key: staticKey.publicKey,
    ...validity,
  }).finish();
  const certificate = proto.CertChain.encode({
    intermediate: {
      details: intermediateDetails,
      signature: sign(root.privateKey, intermediateDetails),
    },
    leaf: { details: leafDetails, signature: sign(intermediate.privateKey, leafDetails) },
  }).finish();
  return { rootPublicKey: root.publicKey, staticKey, certificate: Buffer.from(certificate) };
}

function seal(key: Uint8Array, counter: number, aad: Uint8Array, plaintext: Uint8Array): Buffer {
  const cipher = createCipheriv("aes-256-gcm", key, nonce(counter)).setAAD(aad);
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

function open(key: Uint8Array, counter: number, aad: Uint8Array, sealed: Uint8Array): Buffer {
  if (sealed.length < TAG_BYTES) throw new Error(`sealed data of ${sealed.length} bytes has no tag`);
  const cut = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv("aes-256-gcm", key, nonce(counter)).setAAD(aad);
  decipher.setAuthTag(sealed.subarray(cut));
  return Buffer.concat([decipher.update(sealed.subarray(0, cut)), decipher.final()]);
}

function nonce(counter: number): Buffer {
  const iv = Buffer.alloc(12);
  iv.writeUInt32BE(counter, 8);
  return iv;
}

/** The two directions after the handshake; every message uses the next counter. */
export class NoiseTransport {
  #sent = 0;
  #received = 0;
  readonly #sendKey: Buffer;
  readonly #receiveKey: Buffer;

  constructor(sendKey: Buffer, receiveKey: Buffer) {
    this.#sendKey = sendKey;
    this.#receiveKey = receiveKey;
  }

  encrypt(plaintext: Uint8Array): Buffer {
    return seal(this.#sendKey, this.#sent++, NO_AAD, plaintext);
  }

  /** @throws when the data was tampered with or comes out of order */
  decrypt(ciphertext: Uint8Array): Buffer {
    return open(this.#receiveKey, this.#received++, NO_AAD, ciphertext);
  }
}

/** What the client proved and said in the handshake. */
export interface ClientFinish {
  transport: NoiseTransport;
  /** The client's long-lived Noise public key. */
  clientStatic: Buffer;
  payload: proto.ClientPayload;
}

/** The answering side of Noise_XX_25519_AESGCM_SHA256 as WhatsApp frames it. */
export class NoiseHandshake {
  #hash: Buffer = MODE;
  #salt: Buffer = MODE;
  #key: Buffer = MODE;
  #counter = 0;
  readonly #identity: ServerIdentity;
  readonly #ephemeral: KeyPair;

  constructor(identity: ServerIdentity, ephemeralSecret: Uint8Array) {
    this.#identity = identity;
    this.#ephemeral = keyPairFrom(ephemeralSecret);
    this.#authenticate(HEADER);
  }

  /** Answers the first frame. @throws when it is no client hello */
  hello(data: Uint8Array): Buffer {
    const clientEphemeral = proto.HandshakeMessage.decode(data).clientHello?.ephemeral;
    if (clientEphemeral?.length !== 32) throw new Error("client hello without an ephemeral key");
    this.#authenticate(clientEphemeral);
    this.#authenticate(this.#ephemeral.publicKey);
    this.#mix(agree(this.#ephemeral.privateKey, clientEphemeral));
    const staticKey = this.#seal(this.#identity.staticKey.publicKey);
    this.#mix(agree(this.#identity.staticKey.privateKey, clientEphemeral));
    const payload = this.#seal(this.#identity.certificate);
    const serverHello = { ephemeral: this.#ephemeral.publicKey, static: staticKey, payload };
    return Buffer.from(proto.HandshakeMessage.encode({ serverHello }).finish());
  }

  /** Takes the second frame and derives the transport keys. @throws when it does not decrypt */
  finish(data: Uint8Array): ClientFinish {
    const { clientFinish } = proto.HandshakeMessage.decode(data);
    if (!clientFinish?.static || !clientFinish.payload) throw new Error("client finish is incomplete");
    const clientStatic = this.#open(clientFinish.static);
    this.#mix(agree(this.#ephemeral.privateKey, clientStatic));
    const payload = proto.ClientPayload.decode(this.#open(clientFinish.payload));
    const [fromClient, toClient] = this.#expand(NO_AAD);
    return { transport: new NoiseTransport(toClient, fromClient), clientStatic, payload };
  }

  #authenticate(data: Uint8Array): void {
    this.#hash = createHash("sha256").update(this.#hash).update(data).digest();
  }

  #expand(input: Uint8Array): [Buffer, Buffer] {
    const derived = Buffer.from(hkdfSync("sha256", input, this.#salt, "", 64));
    return [derived.subarray(0, 32), derived.subarray(32)];
  }

  #mix(input: Uint8Array): void {
    [this.#salt, this.#key] = this.#expand(input);
    this.#counter = 0;
  }

  #seal(plaintext: Uint8Array): Buffer {
    const sealed = seal(this.#key, this.#counter++, this.#hash, plaintext);
    this.#authenticate(sealed);
    return sealed;
  }

  #open(sealed: Uint8Array): Buffer {
    const plaintext = open(this.#key, this.#counter++, this.#hash, sealed);
    this.#authenticate(sealed);
    return plaintext;
  }
}
