import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import type { Random } from "../random.ts";
import { agree, keyPairFrom, sign } from "./keys.ts";
import type { KeyPair } from "./keys.ts";
import { HandshakeState, NoiseTransport } from "./noise-state.ts";

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

/** What the client proved and said in the handshake. */
interface ClientFinish {
  transport: NoiseTransport;
  /** The client's long-lived Noise public key. */
  clientStatic: Buffer;
  payload: proto.ClientPayload;
}

/** The answering side of Noise_XX_25519_AESGCM_SHA256 as WhatsApp frames it. */
export class NoiseHandshake {
  readonly #state = new HandshakeState();
  readonly #identity: ServerIdentity;
  readonly #ephemeral: KeyPair;

  constructor(identity: ServerIdentity, ephemeralSecret: Uint8Array) {
    this.#identity = identity;
    this.#ephemeral = keyPairFrom(ephemeralSecret);
  }

  /** Answers the first frame. @throws when it is not a client hello */
  hello(data: Uint8Array): Buffer {
    const clientEphemeral = proto.HandshakeMessage.decode(data).clientHello?.ephemeral;
    if (clientEphemeral?.length !== 32) throw new Error("client hello without an ephemeral key");
    this.#state.authenticate(clientEphemeral);
    this.#state.authenticate(this.#ephemeral.publicKey);
    this.#state.mix(agree(this.#ephemeral.privateKey, clientEphemeral));
    const staticKey = this.#state.seal(this.#identity.staticKey.publicKey);
    this.#state.mix(agree(this.#identity.staticKey.privateKey, clientEphemeral));
    const payload = this.#state.seal(this.#identity.certificate);
    const serverHello = { ephemeral: this.#ephemeral.publicKey, static: staticKey, payload };
    return Buffer.from(proto.HandshakeMessage.encode({ serverHello }).finish());
  }

  /** Takes the second frame and derives the transport keys. @throws when it does not decrypt */
  finish(data: Uint8Array): ClientFinish {
    const { clientFinish } = proto.HandshakeMessage.decode(data);
    if (!clientFinish?.static || !clientFinish.payload) throw new Error("client finish is incomplete");
    const clientStatic = this.#state.open(clientFinish.static);
    this.#state.mix(agree(this.#ephemeral.privateKey, clientStatic));
    const payload = proto.ClientPayload.decode(this.#state.open(clientFinish.payload));
    const [fromClient, toClient] = this.#state.split();
    return { transport: new NoiseTransport(toClient, fromClient), clientStatic, payload };
  }
}
