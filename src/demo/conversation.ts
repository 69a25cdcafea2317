import type { GatewayClient } from "../cli/gateway-client.ts";
import type { ArrivedMessage, Simulator } from "../simulator/types.ts";

/** Who wrote a line: the contact, or what in the gateway made the message. */
export type Speaker =
  | { kind: "contact"; name: string }
  | { kind: "bot"; name: string }
  | { kind: "webhook"; name: string }
  | { kind: "api"; name: string }
  /** Of the number, but nobody says what made it. */
  | { kind: "unknown"; name: string };

/** One line of the conversation as the contact's phone shows it. */
export interface Line {
  /** Milliseconds since 1970. */
  at: number;
  speaker: Speaker;
  text: string;
}

/** A chat as its contact sees it, written from a phone of the simulator and read from both ends. */
export interface Conversation {
  /** The contact writes. */
  say(text: string): Promise<void>;
  /**
   * Waits for a line that has not been waited for before.
   *
   * @returns it, or null when none came in time
   */
  hear(wanted: (line: Line) => boolean, timeoutMs: number): Promise<Line | null>;
  /** Rejects when the conversation cannot be followed any longer; never resolves. */
  readonly lost: Promise<never>;
  end(): void;
}

interface ConversationOptions {
  simulator: Pick<Simulator, "messages" | "waitForMessage" | "sendText">;
  gateway: Pick<GatewayClient, "get">;
  /** The linked number, digits. */
  number: string;
  /** The contact's number, digits. */
  contact: string;
  contactName: string;
  /** Called for every line of both sides, in order. */
  onLine(line: Line): void;
}

const POLL_MS = 20_000;

/** Follows one chat at the contact's phone: what arrived there and could be decrypted, never what was meant to be sent. */
export function startConversation(options: ConversationOptions): Conversation {
  const unheard: Line[] = [];
  const waiting = new Set<() => void>();
  const ended = new AbortController();

  const add = (line: Line) => {
    options.onLine(line);
    if (line.speaker.kind === "contact") return;
    unheard.push(line);
    for (const check of waiting) check();
  };
  const follow = async () => {
    let since = 0;
    while (!ended.signal.aborted) {
      const message = await nextMessage(options, since);
      if (message === null || ended.signal.aborted) continue;
      since = message.seq;
      const speaker = await speakerOf(options.gateway, message.id);
      add({ at: message.at, speaker, text: message.text ?? `(${message.kind})` });
    }
  };

  return {
    lost: follow().then(forever, (error: unknown) => {
      if (ended.signal.aborted) return forever();
      throw error;
    }),
    async say(text) {
      add({ at: Date.now(), speaker: { kind: "contact", name: options.contactName }, text });
      await options.simulator.sendText(options.contact, options.number, text);
    },
    hear(wanted, timeoutMs) {
      return new Promise((resolve) => {
        const finish = (line: Line | null) => {
          clearTimeout(timer);
          waiting.delete(check);
          resolve(line);
        };
        const check = () => {
          const index = unheard.findIndex(wanted);
          if (index >= 0) finish(unheard.splice(index, 1)[0] ?? null);
        };
        const timer = setTimeout(() => finish(null), timeoutMs);
        waiting.add(check);
        check();
      });
    },
    end() {
      ended.abort();
    },
  };
}

const forever = () => new Promise<never>(() => {});

/** The contact's next message after `since`, or null when none came for a while. */
async function nextMessage(options: ConversationOptions, since: number): Promise<ArrivedMessage | null> {
  const known = async () =>
    (await options.simulator.messages(options.contact)).find((message) => message.seq > since) ?? null;
  const already = await known();
  if (already) return already;
  return options.simulator.waitForMessage(options.contact, { since }, POLL_MS).then(known, known);
}

/**
 * Asks the gateway what made a message: it says so in the record of the message. Where it does not, the line is shown all the
 * same: it may be starting again, and what the owner writes on the phone has no record yet.
 */
async function speakerOf(gateway: Pick<GatewayClient, "get">, id: string): Promise<Speaker> {
  const record = await gateway.get<{ data: { origin?: string } }>(`/messages/${id}`).catch(() => null);
  if (record === null) return { kind: "unknown", name: "number" };
  const origin = record.data.origin ?? "api";
  if (origin.startsWith("bot:")) return { kind: "bot", name: `bot ${origin.slice("bot:".length)}` };
  if (origin === "webhook") return { kind: "webhook", name: "webhook" };
  // What callers are told belongs to the gateway.
  return { kind: "api", name: origin === "calls" ? "calls" : "REST" };
}
