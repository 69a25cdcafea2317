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
export interface ClientFinish {
  transport: NoiseTransport;
  /** The client's long-lived Noise public key. */
  clientStatic: Buffer;
  payload: proto.ClientPayload;
}

/** The answer to the first frame; with it the handshake is over when the client knew the server's key. */
interface ServerHello {
  answer: Buffer;
  done?: ClientFinish;
}

/**
 * The answering side of the handshake, as WhatsApp frames it. A client that knows the server's key proves itself with its first
 * frame (IK); one that knows another is answered as if it knew none (XXfallback).
 *
 * Source: whatsapp-rust `wacore/noise/src/handshake.rs`; zapo `transport/noise/WaNoiseSession.ts`.
 */
export class NoiseHandshake {
  #state = new HandshakeState();
  readonly #identity: ServerIdentity;
  readonly #ephemeral: KeyPair;

  constructor(identity: ServerIdentity, ephemeralSecret: Uint8Array) {
    this.#identity = identity;
    this.#ephemeral = keyPairFrom(ephemeralSecret);
  }

  /** Answers the first frame. @throws when it is not a client hello */
  hello(data: Uint8Array): ServerHello {
    const { clientHello } = proto.HandshakeMessage.decode(data);
    const ephemeral = clientHello?.ephemeral;
    if (ephemeral?.length !== 32) throw new Error("client hello without an ephemeral key");
    const { static: sealedKey, payload } = clientHello!;
    if (!sealedKey || !payload) return { answer: this.#introduce(ephemeral) };
    const resumed = this.#resume(ephemeral, sealedKey, payload);
    if (resumed) return resumed;
    this.#state = new HandshakeState("XXfallback");
    return { answer: this.#introduce(ephemeral) };
  }

  /** Takes the second frame and derives the transport keys. @throws when it does not decrypt */
  finish(data: Uint8Array): ClientFinish {
    const { clientFinish } = proto.HandshakeMessage.decode(data);
    if (!clientFinish?.static || !clientFinish.payload) throw new Error("client finish is incomplete");
    const clientStatic = this.#state.open(clientFinish.static);
    this.#state.mix(agree(this.#ephemeral.privateKey, clientStatic));
    return this.#end(clientStatic, this.#state.open(clientFinish.payload));
  }

  /** Tells a client that does not know the server's key which it is. */
  #introduce(clientEphemeral: Uint8Array): Buffer {
    this.#state.authenticate(clientEphemeral);
    this.#state.authenticate(this.#ephemeral.publicKey);
    this.#state.mix(agree(this.#ephemeral.privateKey, clientEphemeral));
    const staticKey = this.#state.seal(this.#identity.staticKey.publicKey);
    this.#state.mix(agree(this.#identity.staticKey.privateKey, clientEphemeral));
    const payload = this.#state.seal(this.#identity.certificate);
    return serverHello({ ephemeral: this.#ephemeral.publicKey, static: staticKey, payload });
  }

  /** Takes everything from the first frame. Undefined when it was sealed for another server's key. */
  #resume(clientEphemeral: Uint8Array, sealedKey: Uint8Array, payload: Uint8Array): ServerHello | undefined {
    const state = new HandshakeState("IK");
    const { publicKey, privateKey } = this.#identity.staticKey;
    state.authenticate(publicKey);
    state.authenticate(clientEphemeral);
    state.mix(agree(privateKey, clientEphemeral));
    let clientStatic: Buffer;
    try {
      clientStatic = state.open(sealedKey);
    } catch {
      return undefined;
    }
    state.mix(agree(privateKey, clientStatic));
    const said = state.open(payload);
    state.authenticate(this.#ephemeral.publicKey);
    state.mix(agree(this.#ephemeral.privateKey, clientEphemeral));
    state.mix(agree(this.#ephemeral.privateKey, clientStatic));
    const certificate = state.seal(this.#identity.certificate);
    this.#state = state;
    const answer = serverHello({ ephemeral: this.#ephemeral.publicKey, payload: certificate });
    return { answer, done: this.#end(clientStatic, said) };
  }

  #end(clientStatic: Buffer, said: Buffer): ClientFinish {
    const [fromClient, toClient] = this.#state.split();
    const transport = new NoiseTransport(toClient, fromClient);
    return { transport, clientStatic, payload: proto.ClientPayload.decode(said) };
  }
}

const serverHello = (hello: proto.HandshakeMessage.IServerHello): Buffer =>
  Buffer.from(proto.HandshakeMessage.encode({ serverHello: hello }).finish());
