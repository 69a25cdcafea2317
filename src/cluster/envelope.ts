import { ERROR_STATUS, GatewayError, type ErrorCode } from "../model/errors/errors.ts";
import type { SecretBox } from "../store/store.ts";

/** Of what stands in a message. During an update nodes of two versions speak to each other. */
const VERSION = 1;
/** Larger ones are neither sent nor opened: whoever has more to tell stores it and tells where. */
export const MOST_BYTES = 2 * 1024 * 1024;
const KINDS = new Set<unknown>(["news", "question", "answer"] satisfies Message["kind"][]);
/** Shorter bytes are nobody's message. */
const LEAST_BYTES = 32;

/** What stands in every message between nodes, in every version. */
export interface Head {
  v: number;
  /** Of the process that sent it, new at each start. */
  from: string;
  /** Name of its node, where answers go. */
  node: string;
}

/** `to` of nobody: it is for everybody who listens. */
export interface News extends Head {
  kind: "news";
  topic: string;
  news: unknown;
}

/** To the owner of a number. */
export interface Asked extends Head {
  kind: "question";
  id: string;
  question: string;
  deviceId: number;
  asked: unknown;
}

/** Back to who asked. */
export interface Answered extends Head {
  kind: "answer";
  id: string;
  outcome: Outcome;
}

/** What came of a question. */
export type Outcome =
  | { answered: unknown }
  | { failed: Pick<GatewayError, "message" | "details"> & { code: string } }
  /** By a fault of that node's, whose log says what. */
  | "crashed"
  /** Nothing was done: the node has the number no longer, or its version knows no such question. */
  | { refused: "not_owner" | "unknown" };

/** A message between nodes. */
export type Message = News | Asked | Answered;
/** The same, and whether it comes from a newer version: of that, who sent it and its `id` are all that is certain. */
export type Heard = Message & { isNewer: boolean };
/** What is said, without who says it. */
export type Said = Omit<News, keyof Head> | Omit<Asked, keyof Head> | Omit<Answered, keyof Head>;

/** Seals what goes over Redis, which others may read, and opens what comes. */
export interface Envelopes {
  /** @param channel that it is sent over; nowhere else does it open @throws {GatewayError} when it is too large */
  seal(said: Said, channel: string): Buffer;
  /** Null: it is from somebody without this installation's key, meant for another channel, or of no known kind. */
  open(bytes: Buffer, channel: string): Heard | null;
}

/**
 * @param from id of this process
 * @param node name of its node
 */
export function createEnvelopes(
  box: Pick<SecretBox, "seal" | "open">,
  from: string,
  node: string,
): Envelopes {
  return {
    seal(said, channel) {
      const text = JSON.stringify({ v: VERSION, from, node, ...said });
      if (text.length > MOST_BYTES / 2 && Buffer.byteLength(text) > MOST_BYTES)
        throw new GatewayError("UNAVAILABLE", "The message between nodes is too large to send.", {
          retryAfter: 60,
        });
      return box.seal(text, context(channel));
    },
    open(bytes, channel) {
      if (bytes.length < LEAST_BYTES || bytes.length > 2 * MOST_BYTES) return null;
      try {
        const message = JSON.parse(box.open(bytes, context(channel)).toString()) as Message;
        return KINDS.has(message.kind) ? { ...message, isNewer: message.v > VERSION } : null;
      } catch {
        return null;
      }
    },
  };
}

/** The outcome of a question that failed. Only what is meant for callers leaves the process. */
export function failureOf(error: unknown): Outcome {
  if (!(error instanceof GatewayError)) return "crashed";
  const { code, message, details } = error;
  return { failed: { code, message, details } };
}

/**
 * The answer of a node that has the number, or what it has thrown. A code that only its version knows is a fault.
 *
 * @throws {GatewayError}
 */
export function unpack(outcome: Outcome, question: string): unknown {
  if (outcome !== "crashed" && "answered" in outcome) return outcome.answered;
  if (outcome !== "crashed" && "refused" in outcome) throw notUnderstood();
  if (outcome === "crashed" || !Object.hasOwn(ERROR_STATUS, outcome.failed.code))
    throw new Error(`the node that has the number failed to answer the question "${question}"`);
  const { code, message, details } = outcome.failed;
  throw new GatewayError(code as ErrorCode, message, details);
}

const notUnderstood = (): GatewayError =>
  new GatewayError(
    "UNAVAILABLE",
    "The node that has this number runs another version of Parley; try again after the update.",
    { retryAfter: 30 },
  );

const context = (channel: string): string => `bus:${channel}`;
