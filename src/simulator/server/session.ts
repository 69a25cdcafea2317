import type { WebSocket } from "ws";
import { FrameWriter } from "../wire/frame-writer.ts";
import { FrameReader, frame } from "../wire/frames.ts";
import { decodeNode, element, encodeNode } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import { NoiseHandshake } from "../wire/noise.ts";
import type { NoiseTransport } from "../wire/noise-state.ts";
import type { Connection } from "./connection.ts";
import { OpenQueries } from "./connection.ts";
import type { Device } from "./device.ts";
import { admitClient } from "./login.ts";
import { disconnected, route } from "./router.ts";
import type { SimulatorServer } from "./server.ts";

/** A stanza older than this (milliseconds) must be acknowledged before a client leaves in an orderly way. */
const ACK_WITHIN_MS = 5000;
/** The WebSocket code of a connection that broke without a close frame. */
const ABNORMAL_CLOSURE = 1006;

/** The life of one WebSocket: handshake, login or registration, stanzas, end. */
export class SocketConnection implements Connection {
  readonly kind = "socket";
  device: Device | undefined;
  closed = false;
  readonly #server: SimulatorServer;
  readonly #socket: WebSocket;
  readonly #reader = new FrameReader();
  readonly #writer: FrameWriter;
  readonly #queries = new OpenQueries();
  #handshake: NoiseHandshake | undefined;
  #handshakeStep: "hello" | "finish" = "hello";
  #transport: NoiseTransport | undefined;
  #endedByServer = false;
  #isFrozen = false;
  #wasFrozen = false;

  constructor(server: SimulatorServer, socket: WebSocket) {
    this.#server = server;
    this.#socket = socket;
    this.#handshake = new NoiseHandshake(
      server.identity,
      server.random.fork(`ephemeral:${server.nextId()}`).bytes(32),
    );
    this.#writer = new FrameWriter(socket, (how) => (how === "close" ? this.close() : this.cut()));
    socket.on("message", (data: Buffer) => this.#receive(data));
    socket.on("close", (code) => this.#ended(code));
    socket.on("error", () => socket.terminate());
  }

  send(node: BinaryNode): void {
    if (this.closed || !this.#transport || this.#socket.readyState !== this.#socket.OPEN) return;
    if (!this.device) return this.#writer.write(frame(this.#transport.encrypt(encodeNode(node))));
    const { device } = this;
    const { hooks, stanzas } = this.#server;
    const sent = hooks.outgoing.reduce((form, hook) => hook(device, form) ?? form, node);
    stanzas.record("out", device, sent);
    const trouble = Object.assign({}, ...hooks.frame.slice().map((hook) => hook(device, sent)));
    this.#writer.write(frame(this.#transport.encrypt(encodeNode(sent))), trouble);
  }

  query(iq: BinaryNode): Promise<BinaryNode> {
    const id = iq.attrs.id ?? this.#server.nextId();
    const answer = this.#queries.wait(id);
    this.send(element(iq.tag, { ...iq.attrs, id }, iq.content));
    return answer;
  }

  close(): void {
    this.#endedByServer = true;
    this.#release();
    this.#writer.finish(() => this.#socket.close());
  }

  cut(): void {
    this.#endedByServer = true;
    this.#release();
    this.#writer.discard();
    // Of a half-open connection the client learns nothing, not even its end.
    if (!this.#isFrozen) this.#socket.terminate();
  }

  /** Neither reads nor writes any more and leaves the TCP connection as it is. */
  freeze(): void {
    this.#isFrozen = this.#wasFrozen = true;
    this.#writer.pause();
    this.#socket.pause();
  }

  /** Ends {@link SocketConnection.freeze}: what was written on both sides arrives, unless the connection was ended meanwhile. */
  thaw(): void {
    this.#isFrozen = false;
    this.#socket.resume();
    if (this.closed) this.#socket.terminate();
    else this.#writer.resume();
  }

  #receive(data: Buffer): void {
    if (this.closed) return;
    try {
      for (const content of this.#reader.push(data)) {
        if (this.#transport) this.#stanza(this.#transport.decrypt(content));
        else this.#shakeHands(content);
      }
    } catch (error) {
      this.#server.violations.report("broken_stream", this.device?.label ?? "unknown", String(error));
      this.cut();
    }
  }

  #shakeHands(content: Buffer): void {
    const handshake = this.#handshake!;
    if (this.#handshakeStep === "hello") {
      this.#handshakeStep = "finish";
      this.#writer.write(frame(handshake.hello(content)));
      return;
    }
    const { transport, clientStatic, payload } = handshake.finish(content);
    this.#transport = transport;
    this.#handshake = undefined;
    admitClient(this.#server, this, payload, clientStatic);
  }

  #stanza(data: Buffer): void {
    const node = decodeNode(data);
    if (this.device) this.#server.stanzas.record("in", this.device, node);
    if (this.#queries.answer(node)) return;
    route(this.#server, this, node);
  }

  #ended(code: number): void {
    // What has not reached the client, it cannot have acknowledged.
    const hasReached = !this.#wasFrozen && this.#writer.isIdle;
    if (!this.#endedByServer && code !== ABNORMAL_CLOSURE && hasReached) this.#checkAcks();
    this.#writer.discard();
    this.#release();
  }

  /** Messages are redelivered, so a client may leave them open; notifications and receipts it must confirm. */
  #checkAcks(): void {
    const now = this.#server.clock();
    for (const { node, sentOn, sentAt } of this.device?.queue.waiting() ?? []) {
      if (node.tag === "message" || sentOn !== this || now - sentAt! < ACK_WITHIN_MS) continue;
      const { id, from } = node.attrs;
      this.#server.violations.report("missing_ack", this.device!.label, `${node.tag} ${id} from ${from}`);
    }
  }

  #release(): void {
    if (this.closed) return;
    this.closed = true;
    this.#queries.abandon();
    disconnected(this.#server, this);
  }
}
