import type { BinaryNode } from "@whiskeysockets/baileys";

/** The child nodes; none for content that is no list. */
export const childrenOf = (node: BinaryNode | undefined): BinaryNode[] =>
  Array.isArray(node?.content) ? node.content : [];

/** The first child with this tag. */
export const childOf = (node: BinaryNode | undefined, tag: string): BinaryNode | undefined =>
  childrenOf(node).find((child) => child.tag === tag);
