import { randomUUID } from "node:crypto";
import type { Logger } from "../log.ts";
import type { Bus, Ownership } from "../model/nodes/cluster.ts";
import { SECOND_MS, type Time } from "../model/time.ts";
import type { SecretBox } from "../store/store.ts";
import { createEnvelopes, type Heard, type Said } from "./envelope.ts";
import { createQuestions } from "./questions.ts";
import type { SharedRedis } from "./redis.ts";
import { createSettling } from "./settling.ts";
import { createSubscription } from "./subscription.ts";

/** What the bus of a node stands on. */
export interface BusDeps {
  redis: Pick<SharedRedis, "prefix" | "commands" | "connect">;
  /** Name of this node. */
  node: string;
  box: Pick<SecretBox, "seal" | "open">;
  ownership: Ownership;
  time: Pick<Time, "after" | "every" | "pause" | "within" | "monotonic">;
  log: Logger;
}

/** A bus that is to be started and stopped. */
export interface NodeBus extends Bus {
  /**
   * Resolves when it hears the others, or after two seconds: then it hears them later, and says that news were missed. Call
   * it before anything is read that others may change.
   */
  start(): Promise<void>;
  /** Hears nobody any more. Whoever still waits for an answer is told that none comes. */
  stop(): void;
}

const START_MS = 2 * SECOND_MS;
/** News that wait to leave. Redis does not take them, and they are old before it does. */
const MOST_LEAVING = 10_000;

/**
 * News and questions by Redis' publish and subscribe: one channel for everybody, and one for each node. Everything is sealed
 * with the master key, so others on the same Redis neither read nor forge it.
 */
export function createBus(deps: BusDeps): NodeBus {
  const { redis, node, log, time } = deps;
  const id = randomUUID();
  const envelopes = createEnvelopes(deps.box, id, node);
  const everybody = `${redis.prefix}:bus`;
  const channelOf = (name: string): string => `${redis.prefix}:node:${name}`;
  const heard = new Map<string, Set<(news: unknown) => void>>();
  const gaps = new Set<() => void>();
  let leaving = 0;
  let started = false;
  const each = eachOnItsOwn(log);

  const questions = createQuestions({ ...deps, send });
  const subscription = createSubscription({
    connect: redis.connect,
    channels: [everybody, channelOf(node)],
    time,
    heard(bytes, channel) {
      const message = envelopes.open(bytes, channel);
      if (message === null) return;
      if (message.from !== id) receive(message);
      else if (message.kind === "news") settling.came(message.topic, message.news);
    },
    log,
    // What is said before the start has ended nobody has read yet.
    began: () => started && each(gaps, (reread) => reread()),
  });

  /** @returns how many processes have got it @throws when Redis does not take it */
  async function send(said: Said, to?: string): Promise<number> {
    const channel = to === undefined ? everybody : channelOf(to);
    return await redis.commands.publish(channel, envelopes.seal(said, channel));
  }

  function receive(message: Heard): void {
    if (message.kind === "question") return questions.asked(message);
    if (message.kind === "answer") return questions.answered(message);
    // Those of a newer version are not understood, and looked for in the rows, as if they had been missed.
    if (!message.isNewer) each(heard.get(message.topic) ?? [], (hear) => hear(message.news));
  }

  const isReady = (): boolean => redis.commands.status === "ready";
  const tell: Bus["tell"] = ({ name: topic }, news, to) => {
    if (leaving >= MOST_LEAVING || !isReady()) return;
    leaving++;
    send({ kind: "news", topic, news }, to)
      // A hint: whoever is not told looks for itself.
      .catch(() => undefined)
      .finally(() => leaving--);
  };
  const listen: Bus["listen"] = ({ name }, hear) => {
    const listeners = heard.get(name) ?? new Set();
    heard.set(name, listeners.add(hear as (news: unknown) => void));
    return () => void listeners.delete(hear as (news: unknown) => void);
  };
  const settling = createSettling({ node, time, isReady, send, bus: { tell, listen } });

  return {
    tell,
    listen,
    settle: settling.settle,
    onSettle: settling.onSettle,
    onGap(reread) {
      gaps.add(reread);
      return () => void gaps.delete(reread);
    },
    ask: questions.ask,
    answer: questions.answer,
    async start() {
      await time.within(START_MS, subscription.start());
      started = true;
    },
    stop() {
      subscription.stop();
      questions.stop();
    },
  };
}

/** One that fails keeps nothing from the others. */
const eachOnItsOwn =
  (log: Logger) =>
  <T>(listeners: Iterable<T>, call: (listener: T) => void): void => {
    for (const listener of listeners)
      try {
        call(listener);
      } catch (error) {
        log.error({ err: error }, "could not read news from another node");
      }
  };
