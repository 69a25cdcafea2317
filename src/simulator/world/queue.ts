import type { BinaryNode } from "../wire/nodes.ts";

/** A stanza on its way to one device. */
export interface QueuedStanza {
  readonly node: BinaryNode;
  /** The connection it was last written to, and when (milliseconds). */
  sentOn?: object;
  sentAt?: number;
  /** Something keeps it back, also from a new connection. */
  held?: boolean;
}

/** How an acknowledgement names a stanza; what is undefined was not said. */
interface StanzaName {
  tag: string;
  id: string;
  from?: string;
  participant?: string;
}

const REMEMBERED = 5000;

/** One device's stanzas, kept in order until the device acknowledges them. */
export class StanzaQueue {
  #waiting: QueuedStanza[] = [];
  /** Names of stanzas that were acknowledged or sent, so that a repeated acknowledgement is no surprise. */
  readonly #known = new Set<string>();

  push(node: BinaryNode): QueuedStanza {
    const stanza = { node };
    this.#waiting.push(stanza);
    return stanza;
  }

  /** Gives some stanzas that wait each other's places: they then stand in the order of this list. */
  rearrange(stanzas: readonly QueuedStanza[]): void {
    let next = 0;
    this.#waiting = this.#waiting.map((stanza) => (stanzas.includes(stanza) ? stanzas[next++]! : stanza));
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** All that wait, oldest first. */
  waiting(): readonly QueuedStanza[] {
    return this.#waiting;
  }

  markSent(stanza: QueuedStanza, connection: object, at: number): void {
    stanza.sentOn = connection;
    stanza.sentAt = at;
    this.#known.add(knownAs(stanza.node.tag, stanza.node.attrs.id));
    if (this.#known.size > REMEMBERED) this.#known.delete(this.#known.values().next().value!);
  }

  /** Was a stanza of this name ever sent to the device? */
  knows(tag: string, id: string): boolean {
    return this.#known.has(knownAs(tag, id));
  }

  /** Removes the oldest stanza that was sent and bears this name. */
  acknowledge(name: StanzaName): QueuedStanza | undefined {
    const index = this.#waiting.findIndex((stanza) => stanza.sentOn && bears(stanza.node, name));
    return index < 0 ? undefined : this.#waiting.splice(index, 1)[0];
  }
}

const knownAs = (tag: string, id: string | undefined): string => `${tag} ${id}`;

function bears(node: BinaryNode, name: StanzaName): boolean {
  return (
    node.tag === name.tag &&
    node.attrs.id === name.id &&
    (name.from === undefined || node.attrs.from === name.from) &&
    (name.participant === undefined || node.attrs.participant === name.participant)
  );
}
