import { deflateSync, inflateSync } from "node:zlib";
import * as constants from "@whiskeysockets/baileys/lib/WABinary/constants.js";
import { decodeDecompressedBinaryNode } from "@whiskeysockets/baileys/lib/WABinary/decode.js";
import { encodeBinaryNode } from "@whiskeysockets/baileys/lib/WABinary/encode.js";
import type { BinaryNode } from "@whiskeysockets/baileys/lib/WABinary/types.js";

export type { BinaryNode };
/** Attributes of a stanza; those that are undefined are left out. */
export type Attributes = Record<string, string | undefined>;

const COMPRESSED = 2;
/** The real service compresses large stanzas; clients must cope with both. */
const COMPRESS_FROM_BYTES = 8192;

/** Binary form of a node, with the flag byte in front; large nodes are compressed. */
export function encodeNode(node: BinaryNode): Buffer {
  const plain = encodeBinaryNode(node);
  if (plain.length < COMPRESS_FROM_BYTES) return plain;
  return Buffer.concat([Buffer.from([COMPRESSED]), deflateSync(plain.subarray(1))]);
}

/** @throws when the bytes are not a well-formed node */
export function decodeNode(data: Buffer): BinaryNode {
  const body = data[0]! & COMPRESSED ? inflateSync(data.subarray(1)) : data.subarray(1);
  return decodeDecompressedBinaryNode(body, constants);
}

/** Builds a node; attributes that are undefined are left out. */
export function element(tag: string, attrs: Attributes = {}, content?: BinaryNode["content"]): BinaryNode {
  const given: Record<string, string> = {};
  for (const [key, value] of Object.entries(attrs)) if (value !== undefined) given[key] = value;
  return content === undefined ? { tag, attrs: given } : { tag, attrs: given, content };
}

/** The child nodes, or those with one tag. */
export function children(node: BinaryNode | undefined, tag?: string): BinaryNode[] {
  if (!node || !Array.isArray(node.content)) return [];
  return tag === undefined ? node.content : node.content.filter((child) => child.tag === tag);
}

/** The first child with this tag. */
export function child(node: BinaryNode | undefined, tag: string): BinaryNode | undefined {
  return children(node, tag)[0];
}

/** Content as bytes; text becomes UTF-8; undefined when the node has children or nothing. */
export function bytes(node: BinaryNode | undefined): Buffer | undefined {
  if (typeof node?.content === "string") return Buffer.from(node.content);
  return node?.content instanceof Uint8Array ? Buffer.from(node.content) : undefined;
}

/** Content as text. */
export function text(node: BinaryNode | undefined): string | undefined {
  return bytes(node)?.toString("utf8");
}

/** Content as a big-endian whole number; undefined when there is none or it is longer than six bytes. */
export function uint(node: BinaryNode | undefined): number | undefined {
  const content = bytes(node);
  return content && content.length > 0 && content.length <= 6
    ? content.readUIntBE(0, content.length)
    : undefined;
}

/** A whole number as big-endian bytes. */
export function uintBytes(value: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  buffer.writeUIntBE(value, 0, length);
  return buffer;
}
