import type { Answer } from "../_setup/client.ts";
import type { ClusterNode } from "./cluster.ts";

/** Asks the nodes in turn, as a load balancer in front of them does. */
export interface Balancer {
  /**
   * At the next node that is ready. One that takes no connection is left out, and the next is asked: nothing was begun there.
   *
   * @throws when a connection ends in the middle, or nobody answers in time
   */
  ask(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<Answer>;
  /** What callers saw fail since the last look, one line each. */
  failures: string[];
  end(): void;
}

const LOOK_EVERY_MS = 500;
const LOOK_MS = 2_000;
/** As long as the gateway's own patience with a send, and more. */
const ANSWER_MS = 30_000;
const NOT_BEGUN = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/** @param nodes may grow and shrink */
export function createBalancer(nodes: ClusterNode[], key: () => string): Balancer {
  const unready = new Set<ClusterNode>();
  const looks = setInterval(() => {
    for (const node of nodes)
      void isReady(node).then((ready) => (ready ? unready.delete(node) : unready.add(node)));
  }, LOOK_EVERY_MS);
  let turn = 0;
  const failures: string[] = [];

  async function ask(method: string, path: string, body?: object, headers = {}): Promise<Answer> {
    const waiting = inTurn(nodes, turn++);
    const candidates = waiting.filter((node) => !unready.has(node));
    let refusal: unknown = new Error("No node is ready.");
    for (const node of candidates.length > 0 ? candidates : waiting) {
      try {
        const answer = await node.client.request(method, path, {
          headers: { authorization: `Bearer ${key()}`, "content-type": "application/json", ...headers },
          ...(body && { body: JSON.stringify(body) }),
          signal: AbortSignal.timeout(ANSWER_MS),
        });
        if (answer.status >= 500)
          failures.push(`${method} ${path} at ${node.name}: ${answer.status} ${answer.text.slice(0, 200)}`);
        return answer;
      } catch (error) {
        refusal = error;
        const cause = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
        if (!NOT_BEGUN.has(cause.code ?? "")) {
          failures.push(`${method} ${path} at ${node.name}: ${cause.code ?? cause.message}`);
          throw error;
        }
        unready.add(node);
      }
    }
    failures.push(`${method} ${path}: nobody takes a connection`);
    throw refusal;
  }
  return { ask, failures, end: () => clearInterval(looks) };
}

const inTurn = <Item>(items: Item[], turn: number): Item[] =>
  items.map((_, index) => items[(turn + index) % items.length]!);

async function isReady({ client }: ClusterNode): Promise<boolean> {
  try {
    const answer = await fetch(`${client.url}/health/ready`, { signal: AbortSignal.timeout(LOOK_MS) });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}
