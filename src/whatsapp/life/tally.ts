import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import type { ConnectionFacts } from "../port.ts";
import { countIn } from "../stanza-numbers.ts";

/** Counts what WhatsApp says was waiting and what then comes, on one connection. */
export interface Tally {
  opened(): void;
  closed(code: number): void;
}

/**
 * Call it after every other listener that changes stanzas is in place: this one then hears them first, as they came.
 *
 * @param tell called once the connection is open, and then as often as something changes
 */
export function watchTally(
  { ws }: Pick<WASocket, "ws">,
  now: () => number,
  tell: (facts: ConnectionFacts) => void,
): Tally {
  let facts: Omit<ConnectionFacts, "openedAt"> = { closedAt: null, code: null, announced: null, arrived: 0 };
  let openedAt: number | null = null;
  // Of what waits, a stanza that is sent twice is one message.
  const seen = new Set<string>();
  let allThere = false;

  function change(changed: Partial<typeof facts>): void {
    facts = { ...facts, ...changed };
    if (openedAt !== null) tell({ openedAt, ...facts });
  }

  ws.prependListener("CB:ib,,offline_preview", (node: BinaryNode) => {
    const [preview] = Array.isArray(node.content) ? node.content : [];
    change({ announced: countIn(preview?.attrs.message) });
  });
  ws.prependListener("CB:ib,,offline", () => {
    allThere = true;
    change({});
  });
  ws.prependListener("CB:message", ({ attrs }: BinaryNode) => {
    if (attrs.offline === undefined) return;
    const name = `${attrs.from} ${attrs.participant ?? ""} ${attrs.id}`;
    if (seen.has(name)) return;
    seen.add(name);
    facts = { ...facts, arrived: seen.size };
    // A long queue is told of at its end; what comes after that is rare.
    if (allThere) change({});
  });

  return {
    opened() {
      openedAt = now();
      change({});
    },
    closed(code) {
      change({ closedAt: now(), code });
      seen.clear();
    },
  };
}
