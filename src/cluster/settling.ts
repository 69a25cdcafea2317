import { randomUUID } from "node:crypto";
import { defineTopic, type Bus } from "../model/nodes/cluster.ts";
import { SECOND_MS, type Cancel, type Time } from "../model/time.ts";
import type { Said } from "./envelope.ts";

interface SettlingDeps {
  /** Name of this node. */
  node: string;
  time: Pick<Time, "within">;
  /** Whether Redis takes anything at all. */
  isReady(): boolean;
  /** @returns how many processes have got it, this one among them @throws when Redis does not take it */
  send(said: Said, to?: string): Promise<number>;
  bus: Pick<Bus, "tell" | "listen">;
}

/** @see Bus */
export interface Settling extends Pick<Bus, "settle" | "onSettle"> {
  /** What this process has said comes back to it, like everything that it tells. */
  came(topic: string, news: unknown): void;
}

/** Longer than a node takes that does its work; one that stands still holds nobody up for more. */
const SETTLED_MS = SECOND_MS;

/** Of a wish to know who has taken in everything, and of the answer. */
interface Word {
  id: string;
  /** Who says it. */
  node: string;
}

const WISHED = defineTopic<Word>("settle");
const SETTLED = defineTopic<Word>("settled");

/**
 * A question to everybody, behind everything that was told before: who hears it has heard that, because Redis keeps the order
 * of what one connection publishes. Redis says how many have got it, and so many have to answer.
 */
export function createSettling({ node, time, isReady, send, bus }: SettlingDeps): Settling {
  const waiting = new Map<string, (by: string) => void>();
  const tasks = new Set<() => Promise<void>>();

  bus.listen(WISHED, (wish) => {
    // Who cannot read what was told says nothing.
    Promise.all([...tasks].map((takeIn) => takeIn())).then(
      () => bus.tell(SETTLED, { id: wish.id, node }, wish.node),
      () => undefined,
    );
  });
  bus.listen(SETTLED, ({ id, node: by }) => waiting.get(id)?.(by));

  async function settle(): Promise<void> {
    if (!isReady()) return;
    const id = randomUUID();
    const answered = new Set<string>();
    let asked = Infinity;
    const all = new Promise<void>((resolve) => {
      const look = (): void => void (answered.size >= asked && resolve());
      waiting.set(id, (by) => {
        answered.add(by);
        look();
      });
      send({ kind: "news", topic: WISHED.name, news: { id, node } satisfies Word }).then(
        (receivers) => {
          asked = receivers;
          look();
        },
        // Redis is away: everybody looks by himself soon.
        () => resolve(),
      );
    });
    await time.within(SETTLED_MS, all);
    waiting.delete(id);
  }

  return {
    settle,
    onSettle(takeIn): Cancel {
      tasks.add(takeIn);
      return () => void tasks.delete(takeIn);
    },
    came(topic, news) {
      if (topic === WISHED.name) waiting.get((news as Word).id)?.(node);
    },
  };
}
