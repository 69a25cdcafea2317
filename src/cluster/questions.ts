import { randomUUID } from "node:crypto";
import type { Logger } from "../log.ts";
import type { Bus, Ownership, Question } from "../model/nodes/cluster.ts";
import { GatewayError } from "../model/errors/errors.ts";
import { createLru } from "../model/lru.ts";
import { SECOND_MS, type Cancel, type Time } from "../model/time.ts";
import { failureOf, unpack, type Asked, type Heard, type Outcome, type Said } from "./envelope.ts";

interface QuestionsDeps {
  node: string;
  ownership: Ownership;
  redis: { commands: { status: string } };
  time: Pick<Time, "after" | "pause" | "monotonic">;
  log: Logger;
  /** @returns how many processes have got it @throws when Redis does not take it */
  send(said: Said, to: string): Promise<number>;
}

/** Questions that this process asks, and those that it is asked. */
interface Questions extends Pick<Bus, "ask" | "answer"> {
  asked(message: Heard & { kind: "question" }): void;
  answered(message: Heard & { kind: "answer" }): void;
  /** Whoever waits is told that no answer comes. */
  stop(): void;
}

type AnyQuestion = Question<unknown, unknown>;
type Reply = (deviceId: number, asked: unknown) => Promise<unknown>;

/** How long nobody having a number is taken for its being handed over, and how often that is looked at. */
const HANDOVER_MS = 2 * SECOND_MS;
const LOOK_MS = 100;
/** How long an answer is still hoped for when Redis has not confirmed that it took the question. */
const UNCONFIRMED_MS = 3 * SECOND_MS;
/** Ids of questions that were taken: one that comes once more, by whoever repeats it, is not answered again. */
const REMEMBERED = 10_000;

const noCancel: Cancel = () => undefined;
const unavailable = (message: string, retryAfter: number): GatewayError =>
  new GatewayError("UNAVAILABLE", message, { retryAfter });
const nobodyHasIt = () =>
  unavailable("No node has this number at the moment; try again in a few seconds.", 2);
const noAnswer = () =>
  unavailable("The node that has this number did not answer in time; try again in a few seconds.", 5);
const stopping = () => unavailable("The gateway is restarting; try again in a moment.", 5);

/**
 * A question goes to the node that has its number, by name, and the answer comes back to the node that asked. A node that has
 * the number itself asks nobody, and needs no Redis.
 */
export function createQuestions(deps: QuestionsDeps): Questions {
  const { node, ownership, redis, time, send } = deps;
  const replies = new Map<string, Reply>();
  const waiting = new Map<string, (outcome: Outcome | GatewayError) => void>();
  const taken = createLru<string, true>(REMEMBERED);

  /** @returns null when nobody has done anything: there is no such node now, or it does not have the number */
  async function askOwner(
    question: AnyQuestion,
    deviceId: number,
    asked: unknown,
    leftMs: number,
  ): Promise<Outcome | null> {
    const owner = ownership.ownerOf(deviceId);
    if (owner === null || owner === node || redis.commands.status !== "ready") return null;
    const id = randomUUID();
    const answer = new Promise<Outcome | GatewayError>((resolve) => waiting.set(id, resolve));
    const give = (outcome: Outcome | GatewayError): void => waiting.get(id)?.(outcome);
    const cancel = time.after(leftMs, () => give(noAnswer()));
    let cancelSoon: Cancel = noCancel;
    try {
      const nobody: Outcome = { refused: "not_owner" };
      send({ kind: "question", id, question: question.name, deviceId, asked }, owner).then(
        (receivers) => receivers === 0 && give(nobody),
        (error: unknown) => {
          if (error instanceof GatewayError) give(error);
          else cancelSoon = time.after(UNCONFIRMED_MS, () => give(noAnswer()));
        },
      );
      const outcome = await answer;
      if (outcome instanceof GatewayError) throw outcome;
      return isNotOwner(outcome) ? null : outcome;
    } finally {
      waiting.delete(id);
      cancel();
      cancelSoon();
    }
  }

  async function ask(question: AnyQuestion, deviceId: number, asked: unknown): Promise<unknown> {
    const begun = time.monotonic();
    for (;;) {
      if (ownership.owns(deviceId)) return await replyTo(question.name, replies)(deviceId, asked);
      const passed = time.monotonic() - begun;
      const outcome = await askOwner(question, deviceId, asked, question.deadlineMs - passed);
      if (outcome !== null) return unpack(outcome, question.name);
      if (time.monotonic() - begun + LOOK_MS > Math.min(HANDOVER_MS, question.deadlineMs))
        throw nobodyHasIt();
      await time.pause(LOOK_MS);
    }
  }

  async function reply(message: Asked & { isNewer: boolean }): Promise<void> {
    const { id, node: asker } = message;
    const outcome = await outcomeOf(deps, replies.get(message.question), message);
    await send({ kind: "answer", id, outcome }, asker).catch((error: unknown) => {
      if (!(error instanceof GatewayError)) throw error;
      return send({ kind: "answer", id, outcome: failureOf(error) }, asker);
    });
  }

  return {
    ask: ask as Bus["ask"],
    answer: ({ name }, given) => void replies.set(name, given as Reply),
    asked(message) {
      if (taken.has(message.id)) return;
      taken.set(message.id, true);
      // An answer that Redis does not take is none: who asked is told so after a while.
      reply(message).catch(() => undefined);
    },
    answered({ id, outcome, isNewer }) {
      waiting.get(id)?.(isNewer ? { refused: "unknown" } : outcome);
    },
    stop() {
      for (const give of waiting.values()) give(stopping());
    },
  };
}

function replyTo(question: string, replies: ReadonlyMap<string, Reply>): Reply {
  const reply = replies.get(question);
  if (reply === undefined) throw new Error(`nothing answers ${question}`);
  return reply;
}

/** What becomes of a question of another node. */
async function outcomeOf(
  { ownership, log }: Pick<QuestionsDeps, "ownership" | "log">,
  reply: Reply | undefined,
  { question, deviceId, asked, isNewer }: Asked & { isNewer: boolean },
): Promise<Outcome> {
  if (isNewer || reply === undefined) return { refused: "unknown" };
  if (!ownership.owns(deviceId)) return { refused: "not_owner" };
  try {
    return { answered: await reply(deviceId, asked) };
  } catch (error) {
    const outcome = failureOf(error);
    if (outcome === "crashed")
      log.error({ err: error, device: deviceId, question }, "could not answer a question from another node");
    return outcome;
  }
}

const isNotOwner = (outcome: Outcome): boolean =>
  outcome !== "crashed" && "refused" in outcome && outcome.refused === "not_owner";
