import { randomBytes } from "node:crypto";
import { proto } from "@whiskeysockets/baileys";
import { WebSocket } from "ws";
import { frame } from "../../src/simulator/wire/frames.ts";
import { agree, keyPairFrom } from "../../src/simulator/wire/keys.ts";
import type { KeyPair } from "../../src/simulator/wire/keys.ts";
import { HandshakeState, NoiseTransport } from "../../src/simulator/wire/noise-state.ts";
import { decodeNode, element, encodeNode } from "../../src/simulator/wire/nodes.ts";
import type { BinaryNode } from "../../src/simulator/wire/nodes.ts";

const INTRO = Buffer.from([0x57, 0x41, 6, 3]);

/**
 * A companion that speaks the wire and no more: it logs in, confirms what comes and reads none of it. One costs a hundredth of
 * a whole client, so that hundreds can be connected at once.
 */
export class WireClient {
  /** Ids of the messages that came, in their order. */
  readonly received: string[] = [];
  isOnline = false;
  readonly #socket: WebSocket;
  readonly #noiseKey: KeyPair;
  readonly #payload: Uint8Array;
  readonly #state = new HandshakeState();
  readonly #ephemeral = keyPairFrom(randomBytes(32));
  #bytes: Buffer = Buffer.alloc(0);
  #transport: NoiseTransport | undefined;

  constructor(wsUrl: string, number: string, device: number, noiseKey: KeyPair) {
    this.#noiseKey = noiseKey;
    this.#payload = proto.ClientPayload.encode({ username: Number(number), device, passive: true }).finish();
    this.#socket = new WebSocket(wsUrl, { perMessageDeflate: false });
    this.#socket.on("open", () => this.#greet());
    this.#socket.on("message", (data: Buffer) => this.#receive(data));
    this.#socket.on("error", () => {});
  }

  end(): void {
    this.isOnline = false;
    this.#socket.terminate();
  }

  #greet(): void {
    const ephemeral = this.#ephemeral.publicKey;
    this.#state.authenticate(ephemeral);
    const hello = proto.HandshakeMessage.encode({ clientHello: { ephemeral } }).finish();
    this.#socket.send(Buffer.concat([INTRO, frame(hello)]));
  }

  #receive(data: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, data]);
    while (this.#bytes.length >= 3 && this.#bytes.length >= 3 + this.#bytes.readUIntBE(0, 3)) {
      const length = this.#bytes.readUIntBE(0, 3);
      const content = this.#bytes.subarray(3, 3 + length);
      this.#bytes = this.#bytes.subarray(3 + length);
      if (this.#transport) this.#stanza(decodeNode(this.#transport.decrypt(content)));
      else this.#shakeHands(content);
    }
  }

  #shakeHands(content: Buffer): void {
    const { ephemeral, static: sealedKey, payload } = proto.HandshakeMessage.decode(content).serverHello!;
    this.#state.authenticate(ephemeral!);
    this.#state.mix(agree(this.#ephemeral.privateKey, ephemeral!));
    this.#state.mix(agree(this.#ephemeral.privateKey, this.#state.open(sealedKey!)));
    this.#state.open(payload!);
    const sealedStatic = this.#state.seal(this.#noiseKey.publicKey);
    this.#state.mix(agree(this.#noiseKey.privateKey, ephemeral!));
    const clientFinish = { static: sealedStatic, payload: this.#state.seal(this.#payload) };
    this.#socket.send(frame(proto.HandshakeMessage.encode({ clientFinish }).finish()));
    const [fromClient, toClient] = this.#state.split();
    this.#transport = new NoiseTransport(fromClient, toClient);
  }

  #stanza({ tag, attrs }: BinaryNode): void {
    const { id, from, participant, type } = attrs;
    if (tag === "success")
      this.#send(
        element("iq", { id: "1", to: "s.whatsapp.net", type: "set", xmlns: "passive" }, [element("active")]),
      );
    if (tag === "iq" && id === "1") this.isOnline = true;
    if (tag === "message") {
      this.received.push(id!);
      this.#send(element("receipt", { id, to: from, participant }));
    }
    if (tag === "receipt" || tag === "notification")
      this.#send(element("ack", { class: tag, id, to: from, participant, type }));
  }

  #send(node: BinaryNode): void {
    this.#socket.send(frame(this.#transport!.encrypt(encodeNode(node))));
  }
}
