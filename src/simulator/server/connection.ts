import type { BinaryNode } from "../wire/nodes.ts";
import type { Device } from "./device.ts";

/** One client's connection, by WebSocket or in memory. */
export interface Connection {
  readonly kind: "socket" | "link";
  /** Set after login. */
  device: Device | undefined;
  readonly closed: boolean;
  send(node: BinaryNode): void;
  /** Sends an IQ of the server and resolves with the client's answer; rejects when the connection ends first. */
  query(iq: BinaryNode): Promise<BinaryNode>;
  /** Ends the connection in an orderly way after what was sent. */
  close(): void;
  /** Breaks the connection off as a lost network does. */
  cut(): void;
}

/** The IQs that a server has asked a client and that are not answered yet. */
export class OpenQueries {
  readonly #open = new Map<string, { resolve: (node: BinaryNode) => void; reject: (error: Error) => void }>();

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

  abandon(): void {
    for (const { reject } of this.#open.values()) reject(new Error("the connection was closed"));
    this.#open.clear();
  }
}
