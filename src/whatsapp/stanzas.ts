import type { BinaryNode } from "@whiskeysockets/baileys";
import type { StanzaAttributes } from "./addresses.ts";

/** What a ciphertext belongs to. */
export interface Origin {
  attributes: StanzaAttributes;
  /** The content came unencrypted: a channel's post. */
  plain: boolean;
}

/** Knows the stanza of each ciphertext, which Baileys does not hand to the Signal repository. */
export interface Stanzas {
  /** Called with every message stanza before Baileys handles it. */
  note(node: BinaryNode): void;
  originOf(ciphertext: Uint8Array): Origin | undefined;
}

/**
 * Ciphertexts are known by the object itself, from the socket to the repository, so nothing has to be hashed or forgotten.
 *
 * A channel's post comes as `<plaintext>`, for which Baileys asks the repository nothing. It is renamed to `<enc>`, so
 * that it passes the journal like everything else before it is acknowledged.
 */
export function createStanzas(): Stanzas {
  const origins = new WeakMap<Uint8Array, Origin>();
  return {
    note(node) {
      if (!Array.isArray(node.content)) return;
      for (const child of node.content) {
        if (!(child.content instanceof Uint8Array)) continue;
        const plain = child.tag === "plaintext";
        if (child.tag !== "enc" && !plain) continue;
        origins.set(child.content, { attributes: node.attrs, plain });
        if (plain) Object.assign(child, { tag: "enc", attrs: { ...child.attrs, type: "msg" } });
      }
    },
    originOf: (ciphertext) => origins.get(ciphertext),
  };
}
