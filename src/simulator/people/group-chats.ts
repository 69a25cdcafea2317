import { type BinaryNode, child, children, element } from "../wire/nodes.ts";
import type { Directory } from "./directory.ts";
import { userJid } from "./jids.ts";
import { type PhoneState, isThisDevice } from "./phone-state.ts";

/** What a phone must know of a group to write to it. */
export interface GroupChat {
  addressing: "pn" | "lid";
  /** Member addresses, as the group names them. */
  members: string[];
}

/** Changes after which somebody who had our sender key must not be able to read on. */
const REMOVALS = new Set(["remove", "leave", "modify"]);

/** The groups this phone writes to, and which devices have its sender key. */
export class GroupChats {
  readonly #state: PhoneState;
  readonly #directory: Directory;
  readonly #chats = new Map<string, GroupChat>();
  readonly #keyHolders = new Map<string, Set<string>>();

  constructor(state: PhoneState, directory: Directory) {
    this.#state = state;
    this.#directory = directory;
  }

  /** @throws when the server does not let this phone see the group */
  async chat(group: string): Promise<GroupChat> {
    const known = this.#chats.get(group);
    if (known) return known;
    const answer = await this.#state.query(
      element("iq", { to: group, type: "get", xmlns: "w:g2" }, [
        element("query", { request: "interactive" }),
      ]),
    );
    const node = child(answer, "group");
    if (!node) throw new Error(`${this.#state.address.user} cannot see the group ${group}.`);
    const chat: GroupChat = {
      addressing: node.attrs.addressing_mode === "lid" ? "lid" : "pn",
      members: children(node, "participant").map(({ attrs }) => this.#member(attrs)),
    };
    this.#chats.set(group, chat);
    return chat;
  }

  /** Every device of the group's members but this one. */
  async devices(chat: GroupChat): Promise<string[]> {
    const devices = await this.#directory.devicesOf(chat.members);
    return devices.filter((jid) => !isThisDevice(this.#state, jid));
  }

  /** The devices among `jids` that have not been given our current sender key. */
  withoutKey(group: string, jids: string[]): string[] {
    const holders = this.#keyHolders.get(group);
    return jids.filter((jid) => !holders?.has(this.#state.book.peer(jid)));
  }

  /** Notes who was given our current sender key. */
  gaveKey(group: string, jids: string[]): void {
    const holders = this.#keyHolders.get(group) ?? new Set();
    for (const jid of jids) holders.add(this.#state.book.peer(jid));
    this.#keyHolders.set(group, holders);
  }

  /** A group has changed: it is asked for anew, and our key is made anew when somebody left. */
  changed(notification: BinaryNode): void {
    const group = notification.attrs.from ?? "";
    this.#chats.delete(group);
    if (children(notification).some(({ tag }) => REMOVALS.has(tag))) this.#renewKey(group);
  }

  /** Nobody has got a message to the group, nor the key that came with it; the group is asked for anew. */
  refused(group: string): void {
    this.#chats.delete(group);
    this.#renewKey(group);
  }

  /** A device of a member is gone: it had our keys. */
  lostDevice(jid: string): void {
    const peer = this.#state.book.peer(jid);
    for (const [group, holders] of this.#keyHolders) if (holders.has(peer)) this.#renewKey(group);
  }

  #renewKey(group: string): void {
    this.#state.signal.forgetSenderKey(group);
    this.#keyHolders.delete(group);
  }

  #member({ jid, lid, phone_number: number }: Record<string, string>): string {
    const member = userJid(jid ?? "");
    this.#state.book.learn(member, lid);
    this.#state.book.learn(member, number);
    return member;
  }
}
