import type {
  MessageReceipt,
  OutgoingMessage,
  SendOutcome,
  WhatsAppConnection,
} from "../../src/whatsapp/port.ts";
import { scriptedLine, textOf } from "../unit/outbox/harness.ts";

/** What becomes of one attempt. */
export type Fate =
  | "acknowledged"
  /** Taken; the ack comes when it is let go, or never. */
  | "held"
  /** Not taken; the connection is lost before anybody says so. */
  | "swallowed"
  /** Not taken, and the time for an ack passes. */
  | "timed_out"
  | { refused: number }
  | "limited";

/** One connection with the service. */
interface Line {
  connection: WhatsAppConnection;
  open: boolean;
  /** What waited for the number has been handed over. */
  heard: boolean;
  hear(): void;
  /** Attempts without an outcome. */
  pending: { jid: string; taken: boolean; settle(outcome: SendOutcome): void }[];
}

/**
 * WhatsApp as the outbox meets it: takes messages, or not, keeps receipts for a number that is away, and remembers
 * everything over connections and crashes of the gateway. It writes down what the outbox must never do.
 */
export class Service {
  readonly problems: string[] = [];
  /** Texts in the order in which they were first taken, by chat. */
  readonly taken = new Map<string, string[]>();
  readonly fates: Fate[] = [];
  line: Line | null = null;
  readonly #now: () => number;
  readonly #isEnded: (waId: string) => boolean;
  readonly #texts = new Map<string, string>();
  readonly #ids = new Map<string, string>();
  readonly #takenIds = new Set<string>();
  /** Receipts that wait for the number. */
  #kept: MessageReceipt[] = [];
  /** Messages whose receipt this run of the gateway was told. */
  readonly #told = new Set<string>();
  #limitedAt = Number.NEGATIVE_INFINITY;
  #deliver: (receipts: MessageReceipt[]) => void = () => undefined;

  /** @param isEnded whether the gateway has said that this message failed or expired */
  constructor(now: () => number, isEnded: (waId: string) => boolean) {
    this.#now = now;
    this.#isEnded = isEnded;
  }

  get takenIds(): string[] {
    return [...this.#takenIds];
  }

  has(waId: string): boolean {
    return this.#takenIds.has(waId);
  }

  /** A new run of the gateway, which knows nothing of what the last one had in memory. */
  restarted(deliver: (receipts: MessageReceipt[]) => void, pauseIsKnown: boolean): void {
    this.#deliver = deliver;
    this.#told.clear();
    if (!pauseIsKnown) this.#limitedAt = Number.NEGATIVE_INFINITY;
  }

  connect(): WhatsAppConnection {
    let hear!: () => void;
    const heard = new Promise<void>((resolve) => (hear = resolve));
    const line: Line = {
      open: true,
      heard: false,
      pending: [],
      hear,
      connection: {
        ...scriptedLine().connection,
        caughtUp: () => heard,
        send: (message) => this.#send(line, message),
      },
    };
    this.line = line;
    return line.connection;
  }

  /** What waited for the number is handed over, receipts in any order. */
  handOver(): void {
    const { line } = this;
    if (line === null || line.heard) return;
    line.heard = true;
    const kept = this.#kept;
    this.#kept = [];
    for (const receipt of kept) this.#tell(receipt);
    line.hear();
  }

  disconnect(): void {
    const { line } = this;
    this.line = null;
    if (line === null) return;
    line.open = false;
    line.hear();
    for (const { settle } of line.pending.splice(0)) settle({ kind: "unknown", reason: "closed" });
  }

  /** The gateway is gone: nobody hears an outcome any more. */
  crash(): void {
    if (this.line) this.line.open = false;
    this.line = null;
  }

  releaseAcks(): void {
    const { line } = this;
    if (line === null) return;
    const held = line.pending.filter(({ taken }) => taken);
    line.pending = line.pending.filter(({ taken }) => !taken);
    for (const { settle } of held) settle({ kind: "sent" });
  }

  /** The recipient's phone has got, read or played it. */
  receipt(waId: string, state: MessageReceipt["state"], jid: string): void {
    const receipt = { waId, jid, state, at: this.#now() };
    if (this.line?.heard) this.#tell(receipt);
    else this.#kept.push(receipt);
  }

  #tell(receipt: MessageReceipt): void {
    this.#told.add(receipt.waId);
    this.#deliver([receipt]);
  }

  async #send(line: Line, message: OutgoingMessage): Promise<SendOutcome> {
    if (!line.open) return { kind: "unknown", reason: "not connected" };
    this.#inspect(line, message);
    const fate = this.fates.shift() ?? "acknowledged";
    const taken = fate === "acknowledged" || fate === "held";
    if (taken) this.#take(message);
    if (fate === "limited") this.#limitedAt = this.#now();
    return new Promise((resolve) => {
      const { jid } = message;
      const settle = (outcome: SendOutcome): void => {
        line.pending = line.pending.filter((other) => other.settle !== settle);
        resolve(outcome);
      };
      line.pending.push({ jid, taken, settle });
      const outcome = outcomeOf(fate);
      if (outcome !== null) setImmediate(settle, outcome);
    });
  }

  #take(message: OutgoingMessage): void {
    if (this.#takenIds.has(message.waId)) return;
    this.#takenIds.add(message.waId);
    this.taken.set(message.jid, [...(this.taken.get(message.jid) ?? []), textOf(message)]);
  }

  #inspect(line: Line, message: OutgoingMessage): void {
    const { waId, jid } = message;
    const text = textOf(message);
    const wrong = (what: string): void => void this.problems.push(`${text}: ${what}`);
    if (line !== this.line) wrong("sent on a line that is not the newest");
    if ((this.#texts.get(waId) ?? text) !== text) wrong("an id was used for another message");
    const place = `${jid} ${text}`;
    if ((this.#ids.get(place) ?? waId) !== waId) wrong("sent under a second id");
    this.#texts.set(waId, text);
    this.#ids.set(place, waId);
    if (line.pending.some((other) => other.jid === jid))
      wrong("sent while another of its chat has no outcome");
    if (this.#isEnded(waId)) wrong("sent although it had failed or expired");
    if (this.#told.has(waId)) wrong("sent again although its receipt had come");
    if (this.#kept.some((receipt) => receipt.waId === waId))
      wrong("sent again before WhatsApp could tell that it had arrived");
    const since = this.#now() - this.#limitedAt;
    if (since > 0 && since < 5_000) wrong("sent during the pause that 429 asks for");
  }
}

/** Null: there is none until the ack is let go or the line is lost. */
function outcomeOf(fate: Fate): SendOutcome | null {
  if (fate === "acknowledged") return { kind: "sent" };
  if (fate === "timed_out") return { kind: "unknown", reason: "no ack in time" };
  if (fate === "limited") return { kind: "limited", reason: "429" };
  if (typeof fate === "object") return { kind: "refused", code: fate.refused, reason: "refused" };
  return null;
}
