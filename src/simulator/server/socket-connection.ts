import type { WebSocket } from "ws";
import { FrameWriter } from "../wire/frame-writer.ts";
import { FrameReader, frame } from "../wire/frames.ts";
import { decodeNode, element, encodeNode } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import { NoiseHandshake } from "../wire/noise.ts";
import type { ClientFinish } from "../wire/noise.ts";
import type { NoiseTransport } from "../wire/noise-state.ts";
import { OpenQueries } from "./open-queries.ts";
import type { Random } from "../random.ts";
import type { Time } from "../time.ts";
import type { ServerIdentity } from "../wire/noise.ts";
import type { Edges } from "./edges.ts";
import type { Hooks } from "./hooks.ts";
import type { Login } from "./login.ts";
import type { Reports, Stamps, StanzaHandler } from "./ports.ts";
import type { StanzaLog } from "./stanza-log.ts";
import type { Connection, Device } from "../world/accounts.ts";

/** A stanza older than this (milliseconds) must be acknowledged before a client leaves in an orderly way. */
const ACK_WITHIN_MS = 5000;
/** The WebSocket code of a connection that broke without a close frame. */
const ABNORMAL_CLOSURE = 1006;

interface Needs extends Pick<Stamps, "nextId">, Reports, Pick<Login, "admit"> {
  identity: ServerIdentity;
  edges: Pick<Edges, "leadOn">;
  random: Random;
  time: Time;
  hooks: Pick<Hooks, "outgoing" | "frame">;
  stanzas: StanzaLog;
  route: StanzaHandler;
  /** Told once, when the connection has ended. */
  disconnected(connection: Connection): void;
}

/** The life of one WebSocket: handshake, login or registration, stanzas, end. */
export class SocketConnection implements Connection {
  device: Device | undefined;
  closed = false;
  readonly #needs: Needs;
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

  constructor(needs: Needs, socket: WebSocket) {
    this.#needs = needs;
    this.#socket = socket;
    this.#handshake = new NoiseHandshake(
      needs.identity,
      needs.random.fork(`ephemeral:${needs.nextId()}`).bytes(32),
    );
    this.#writer = new FrameWriter(socket, needs.time, (how) =>
      how === "close" ? this.close() : this.cut(),
    );
    socket.on("message", (data: Buffer) => this.#receive(data));
    socket.on("close", (code) => this.#ended(code));
    socket.on("error", () => socket.terminate());
  }

  send(node: BinaryNode): void {
    if (this.closed || !this.#transport || this.#socket.readyState !== this.#socket.OPEN) return;
    if (!this.device) return this.#writer.write(frame(this.#transport.encrypt(encodeNode(node))));
    const { device } = this;
    const { hooks, stanzas } = this.#needs;
    const sent = hooks.outgoing.reduce((form, hook) => hook(device, form) ?? form, node);
    stanzas.record("out", device, sent);
    const trouble = Object.assign({}, ...hooks.frame.slice().map((hook) => hook(device, sent)));
    this.#writer.write(frame(this.#transport.encrypt(encodeNode(sent))), trouble);
  }

  query(iq: BinaryNode): Promise<BinaryNode> {
    const id = iq.attrs.id ?? this.#needs.nextId();
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
    // The client of a half-open connection learns nothing, not even that it has ended.
    if (!this.#isFrozen) this.#socket.terminate();
  }

  freeze(): void {
    this.#isFrozen = this.#wasFrozen = true;
    this.#writer.pause();
    this.#socket.pause();
  }

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
      this.#needs.violations.report("broken_stream", this.device?.label ?? "unknown", String(error));
      this.cut();
    }
  }

  #shakeHands(content: Buffer): void {
    const handshake = this.#handshake!;
    if (this.#handshakeStep === "hello") {
      if (!this.#needs.edges.leadOn(this.#reader.routingInfo)) return this.cut();
      this.#handshakeStep = "finish";
      const { answer, done } = handshake.hello(content);
      this.#writer.write(frame(answer));
      if (done) this.#admit(done);
      return;
    }
    this.#admit(handshake.finish(content));
  }

  #admit({ transport, clientStatic, payload }: ClientFinish): void {
    this.#transport = transport;
    this.#handshake = undefined;
    this.#needs.admit(this, payload, clientStatic);
  }

  #stanza(data: Buffer): void {
    const node = decodeNode(data);
    if (this.device) this.#needs.stanzas.record("in", this.device, node);
    if (this.#queries.answer(node)) return;
    this.#needs.route(this, node);
  }

  #ended(code: number): void {
    // A client cannot have acknowledged what never reached it.
    const hasReached = !this.#wasFrozen && this.#writer.isIdle;
    if (!this.#endedByServer && code !== ABNORMAL_CLOSURE && hasReached) this.#checkAcks();
    this.#writer.discard();
    this.#release();
  }

  /** A client may leave messages unacknowledged, since they are redelivered, but must confirm notifications and receipts. */
  #checkAcks(): void {
    const now = this.#needs.time.now();
    for (const { node, sentOn, sentAt } of this.device?.queue.waiting() ?? []) {
      if (node.tag === "message" || sentOn !== this || now - sentAt! < ACK_WITHIN_MS) continue;
      const { id, from } = node.attrs;
      this.#needs.violations.report("missing_ack", this.device!.label, `${node.tag} ${id} from ${from}`);
    }
  }

  #release(): void {
    if (this.closed) return;
    this.closed = true;
    this.#queries.abandon();
    this.#needs.disconnected(this);
  }
}
