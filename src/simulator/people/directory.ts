import { SignalError } from "../signal/error.ts";
import { type BinaryNode, child, children, element } from "../wire/nodes.ts";
import { LIDS, deviceJid, readUserJid, userJid } from "./jids.ts";
import { readBundle } from "./key-nodes.ts";
import { type PhoneState, label } from "./phone-state.ts";

const SERVER = "s.whatsapp.net";

/** Whom this phone can write to: device lists and key bundles, asked of the server as a client does. */
export class Directory {
  readonly #state: PhoneState;
  /** User address to device numbers, until a notification says that they changed. */
  readonly #devices = new Map<string, number[]>();
  #changes = 0;
  #queries = 0;

  constructor(state: PhoneState) {
    this.#state = state;
  }

  /** Rises whenever a device list was dropped: a message prepared before must be prepared anew. */
  get changes(): number {
    return this.#changes;
  }

  /** Drops what is known of a person's devices. */
  forget(...jids: (string | undefined)[]): void {
    for (const jid of jids) if (jid) this.#devices.delete(userJid(jid));
    this.#changes += 1;
  }

  /**
   * Addresses of all devices of some people, on the server that each was asked with.
   *
   * @throws when the server knows one of them not at all
   */
  async devicesOf(jids: string[]): Promise<string[]> {
    const users = [...new Set(jids.map(userJid))];
    const unknown = users.filter((jid) => !this.#devices.has(jid));
    if (unknown.length > 0) await this.#ask(unknown);
    return users.flatMap((jid) => {
      const devices = this.#devices.get(jid);
      if (!devices)
        throw new Error(`WhatsApp names no devices for ${jid}; add it as a contact or number first.`);
      return devices.map((device) => deviceJid({ ...readUserJid(jid), device }));
    });
  }

  /** The LID address of a person; asks when it is not known. Undefined when there is none. */
  async lidOf(jid: string): Promise<string | undefined> {
    if (this.#state.book.lidOf(jid) === undefined) await this.#ask([userJid(jid)]);
    const user = this.#state.book.lidOf(jid);
    return user && deviceJid({ ...readUserJid(jid), user, server: LIDS });
  }

  /** The name under which Signal state of a device is filed; asks for the LID when it is not known. */
  async peer(jid: string): Promise<string> {
    await this.lidOf(jid);
    return this.#state.book.peer(jid);
  }

  /**
   * Starts sessions with the devices that have none, or with all when `anew`.
   *
   * @returns the devices that can be written to
   */
  async startSessions(jids: string[], { anew = false } = {}): Promise<string[]> {
    const { signal, book } = this.#state;
    const missing = anew ? jids : jids.filter((jid) => !signal.hasSession(book.peer(jid)));
    if (missing.length > 0) {
      const users = missing.map((jid) => element("user", { jid }));
      const answer = await this.#state.query(iq("encrypt", [element("key", {}, users)]));
      for (const user of children(child(answer, "list"), "user")) this.#useBundle(user);
    }
    return jids.filter((jid) => signal.hasSession(book.peer(jid)));
  }

  #useBundle(user: BinaryNode): void {
    const { signal, book, world } = this.#state;
    const bundle = readBundle(user);
    const jid = user.attrs.jid ?? "";
    if (!bundle) return;
    try {
      signal.startSession(book.peer(jid), bundle);
    } catch (error) {
      if (!(error instanceof SignalError)) throw error;
      world.recorder.onViolation({
        rule: "signed_prekey_signature",
        who: label(this.#state),
        detail: `the key bundle of ${jid} is not signed by its identity`,
      });
    }
  }

  async #ask(jids: string[]): Promise<void> {
    const query = element("query", {}, [element("devices", { version: "2" }), element("lid")]);
    const users = jids.map((jid) => element("user", { jid }));
    const sid = `${label(this.#state)}-${++this.#queries}`;
    const attrs = { sid, mode: "query", last: "true", index: "0", context: "message" };
    const usync = element("usync", attrs, [query, element("list", {}, users)]);
    const answer = await this.#state.query(iq("usync", [usync]));
    for (const user of children(child(child(answer, "usync"), "list"), "user")) this.#remember(user);
  }

  #remember(user: BinaryNode): void {
    const jid = user.attrs.jid ?? "";
    const lid = child(user, "lid")?.attrs.val;
    if (lid) this.#state.book.learn(jid, lid);
    const list = child(child(user, "devices"), "device-list");
    if (list)
      this.#devices.set(
        userJid(jid),
        children(list, "device").map(({ attrs }) => Number(attrs.id)),
      );
  }
}

/** A question to the server. */
export function iq(xmlns: string, content: BinaryNode[], type: "get" | "set" = "get"): BinaryNode {
  return element("iq", { to: SERVER, type, xmlns }, content);
}
