import { type BinaryNode, bytes, child, element } from "../wire/nodes.ts";
import { iq } from "./directory.ts";
import { isShared, userJid } from "./jids.ts";
import type { PhoneState } from "./phone-state.ts";

/** Seconds for which nobody is given another token. */
const BUCKET = 604_800;

/** The privacy tokens of one phone: those that it was given, and to whom it has given its own. */
export class Tokens {
  readonly #state: PhoneState;
  /** By the name under which Signal state is filed. */
  readonly #received = new Map<string, Uint8Array>();
  readonly #given = new Map<string, number>();

  constructor(state: PhoneState) {
    this.#state = state;
  }

  /** Somebody has given one (`notification type=privacy_token`). */
  take({ attrs, content }: BinaryNode): void {
    const token = bytes(child(child({ tag: "", attrs, content }, "tokens"), "token"));
    const giver = attrs.sender_lid ?? attrs.from;
    if (token && giver) this.#received.set(this.#state.book.peer(giver), token);
  }

  /** What goes with a message to somebody. */
  nodesFor(chat: string): BinaryNode[] {
    const token = isShared(chat) ? undefined : this.#received.get(this.#state.book.peer(chat));
    return token ? [element("tctoken", {}, token)] : [];
  }

  /** Gives one's own to whoever was written to, once in a while. */
  give(chat: string): void {
    const { world, book, query } = this.#state;
    if (isShared(chat) || !world.behaviour.privacyTokens) return;
    const now = Math.floor(world.time.now() / 1000);
    const peer = book.peer(chat);
    const bucket = Math.floor(now / BUCKET);
    if (this.#given.get(peer) === bucket) return;
    this.#given.set(peer, bucket);
    const token = element("token", { jid: userJid(chat), t: String(now), type: "trusted_contact" });
    // A phone that goes offline meanwhile gives it with a later message.
    query(iq("privacy", [element("tokens", {}, [token])], "set")).catch(() => this.#given.delete(peer));
  }
}
