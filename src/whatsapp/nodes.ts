import type { BinaryNode } from "@whiskeysockets/baileys";

/** The child nodes; none for content that is no list. */
export const childrenOf = (node: BinaryNode | undefined): BinaryNode[] =>
  Array.isArray(node?.content) ? node.content : [];

/** The first child with this tag. */
export const childOf = (node: BinaryNode | undefined, tag: string): BinaryNode | undefined =>
  childrenOf(node).find((child) => child.tag === tag);

/** What stands in a node as text; "" when nothing does. */
export function textOf(node: BinaryNode | undefined): string {
  const content = node?.content;
  return typeof content === "string"
    ? content
    : content instanceof Uint8Array
      ? Buffer.from(content).toString()
      : "";
}
