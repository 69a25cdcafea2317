import type { BinaryNode } from "@whiskeysockets/baileys";
import type { Time } from "../../model/time.ts";
import { VERIFIED_NAME, type StanzaAttributes } from "../addresses.ts";
import { createLru } from "../../model/lru.ts";
import { verifiedNameIn } from "../content/verified-name.ts";

/** What a ciphertext belongs to. */
export interface Origin {
  attributes: StanzaAttributes;
  /** The content came unencrypted: a channel's post. */
  plain: boolean;
  /** The message came without content: `type` of its `<unavailable>`, "" when it has none. Absent: it has content. */
  unavailable?: string;
}

/** Knows the stanza of each ciphertext, which Baileys does not hand to the Signal repository. */
export interface Stanzas {
  /** Called with every message stanza before Baileys handles it. */
  note(node: BinaryNode): void;
  originOf(ciphertext: Uint8Array): Origin | undefined;
  /** The stanza as it came, without saying that anybody has looked at its content; null when it holds no ciphertext. */
  peek(node: BinaryNode): Origin | null;
  /** Whether the content of a message that came has never been asked for. */
  isUnread(attributes: StanzaAttributes): boolean;
  /** Messages whose content nobody has asked for yet, and when one last was (or came first), in monotonic milliseconds. */
  waiting(): { messages: number; lastLookedAt: number };
}

/**
 * Ciphertexts are known by the object itself, from the socket to the repository, so nothing has to be hashed or forgotten.
 *
 * A channel's post comes as `<plaintext>`, and a message that only the owner's phone has comes with no content at all: for
 * neither would Baileys ask the repository. They are given an `<enc>`, so that everything passes the repository, and with
 * it the database, before it is acknowledged.
 */
export function createStanzas({ monotonic }: Pick<Time, "monotonic">): Stanzas {
  const origins = new WeakMap<Uint8Array, Origin>();
  // By name, because a stanza has several ciphertexts, and because of one that is refused before its content is looked at.
  const waiting = createLru<string, true>(10_000);
  let lastLookedAt = 0;

  function noteContent(node: BinaryNode, children: BinaryNode[]): boolean {
    let found = false;
    for (const child of children) {
      if (!(child.content instanceof Uint8Array)) continue;
      const plain = child.tag === "plaintext";
      if (child.tag !== "enc" && !plain) continue;
      found = true;
      origins.set(child.content, { attributes: node.attrs, plain });
      if (plain) Object.assign(child, { tag: "enc", attrs: { ...child.attrs, type: "msg" } });
    }
    return found;
  }

  return {
    note(node) {
      if (waiting.size === 0) lastLookedAt = monotonic();
      if (isHandled(node)) waiting.set(nameOf(node.attrs), true);
      const children = Array.isArray(node.content) ? node.content : [];
      nameBusiness(node, children);
      if (noteContent(node, children)) return;
      const unavailable = children.find(({ tag }) => tag === "unavailable")?.attrs.type ?? "";
      const content = new Uint8Array(0);
      origins.set(content, { attributes: node.attrs, plain: false, unavailable });
      node.content = [...children, { tag: "enc", attrs: { v: "2", type: "msg" }, content }];
    },
    originOf(ciphertext) {
      const origin = origins.get(ciphertext);
      if (origin === undefined) return undefined;
      waiting.delete(nameOf(origin.attributes));
      lastLookedAt = monotonic();
      return origin;
    },
    peek({ content }) {
      const encrypted = Array.isArray(content)
        ? content.find(({ tag }) => tag === "enc")?.content
        : undefined;
      const origin = encrypted instanceof Uint8Array ? origins.get(encrypted) : undefined;
      return origin === undefined || origin.plain || origin.unavailable !== undefined ? null : origin;
    },
    isUnread: (attributes) => waiting.has(nameOf(attributes)),
    waiting: () => ({ messages: waiting.size, lastLookedAt }),
  };
}

/** A business that does not say what it calls itself is called by its verified name. */
function nameBusiness({ attrs }: BinaryNode, children: readonly BinaryNode[]): void {
  const name = verifiedNameIn(children);
  if (name === null) return;
  attrs[VERIFIED_NAME] = name;
  attrs.notify ||= name;
}

const nameOf = ({ from, participant, id }: StanzaAttributes): string => `${from} ${participant ?? ""} ${id}`;

/** Status broadcasts and the answers of WhatsApp's own bots are acknowledged without a look at their content. */
function isHandled({ attrs, content }: BinaryNode): boolean {
  if (attrs.from === "status@broadcast") return false;
  return !(Array.isArray(content) && content.some((child) => child.attrs.type === "msmsg"));
}
