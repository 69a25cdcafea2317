import type { Time } from "../time.ts";
import type { StanzaEntry, StanzaFilter } from "../surface/stanzas.ts";
import { children } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import type { Device } from "../world/accounts.ts";

const KEPT = 20_000;

type Total = Omit<StanzaEntry, "seq" | "at" | "attrs" | "childAttrs"> & {
  type: string;
  xmlns: string;
  count: number;
};

/** Every stanza that crossed a connection: the newest in full, and counts of all of them. */
export class StanzaLog {
  #seq = 0;
  #entries: StanzaEntry[] = [];
  readonly #totals = new Map<string, Total>();
  readonly #time: Time;

  constructor(time: Time) {
    this.#time = time;
  }

  /** The sequence number of the newest stanza. */
  get seq(): number {
    return this.#seq;
  }

  record(direction: "in" | "out", device: Device, node: BinaryNode): void {
    const inner = children(node);
    const shape = {
      direction,
      number: device.account.number,
      device: device.id,
      tag: node.tag,
      children: inner.map((child) => child.tag),
      enc: encTypes(node),
    };
    const attrs = { ...node.attrs };
    const childAttrs = inner.map((child) => child.attrs);
    this.#entries.push({ seq: ++this.#seq, at: this.#time.now(), ...shape, attrs, childAttrs });
    if (this.#entries.length > KEPT * 1.5) this.#entries = this.#entries.slice(-KEPT);
    this.#count({ ...shape, type: node.attrs.type ?? "", xmlns: node.attrs.xmlns ?? "", count: 1 });
  }

  /** The newest stanzas that match, oldest first. */
  find(filter: StanzaFilter = {}): StanzaEntry[] {
    return this.#entries.filter((entry) => {
      const { type = "", xmlns = "", id } = entry.attrs;
      return (
        matches({ ...entry, type, xmlns }, filter) &&
        (filter.id === undefined || filter.id === id) &&
        (filter.since === undefined || entry.seq > filter.since)
      );
    });
  }

  /** How many stanzas matched since the start; with `id` or `since`, of the newest only. */
  count(filter: StanzaFilter = {}): number {
    if (filter.id !== undefined || filter.since !== undefined) return this.find(filter).length;
    let sum = 0;
    for (const total of this.#totals.values()) if (matches(total, filter)) sum += total.count;
    return sum;
  }

  #count(total: Total): void {
    // A group's stanza repeats the same child hundreds of times; counting by distinct tags is enough.
    const kinds = { ...total, children: [...new Set(total.children)], enc: [...new Set(total.enc)] };
    const key = [total.direction, total.number, total.device, total.tag, total.type, total.xmlns]
      .concat(kinds.children.join(), kinds.enc.join())
      .join("|");
    const known = this.#totals.get(key);
    if (known) known.count += 1;
    else this.#totals.set(key, kinds);
  }
}

function matches(entry: Omit<Total, "count">, filter: StanzaFilter): boolean {
  const number = filter.number ?? filter.contact;
  return (
    (number === undefined || entry.number === number) &&
    (filter.device === undefined || entry.device === filter.device) &&
    (filter.tag === undefined || entry.tag === filter.tag) &&
    (filter.direction === undefined || entry.direction === filter.direction) &&
    (filter.type === undefined || entry.type === filter.type) &&
    (filter.xmlns === undefined || entry.xmlns === filter.xmlns) &&
    (filter.child === undefined || entry.children.includes(filter.child)) &&
    (filter.enc === undefined || entry.enc.includes(filter.enc))
  );
}

function encTypes(node: BinaryNode): string[] {
  return children(node).flatMap((child) =>
    child.tag === "enc" ? [child.attrs.type ?? ""] : encTypes(child),
  );
}
