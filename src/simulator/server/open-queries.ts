import type { BinaryNode } from "../wire/nodes.ts";

/** The IQs that a server has asked a client and that are not answered yet. */
export class OpenQueries {
  readonly #open = new Map<string, { resolve: (node: BinaryNode) => void; reject: (error: Error) => void }>();

  /** Resolves with the answer to the IQ of this id; rejects when `abandon` comes first. */
  wait(id: string): Promise<BinaryNode> {
    return new Promise((resolve, reject) => this.#open.set(id, { resolve, reject }));
  }

  /** True when the node answers an open query. */
  answer(node: BinaryNode): boolean {
    if (node.tag !== "iq" || (node.attrs.type !== "result" && node.attrs.type !== "error")) return false;
    const query = this.#open.get(node.attrs.id ?? "");
    this.#open.delete(node.attrs.id ?? "");
    query?.resolve(node);
    return query !== undefined;
  }

  /** Nothing more will come: every open query rejects. */
  abandon(): void {
    for (const { reject } of this.#open.values()) reject(new Error("the connection was closed"));
    this.#open.clear();
  }
}
