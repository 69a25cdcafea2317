/** What a phone does with every kind of stanza except messages. */
import { SignalError } from "../signal/error.ts";
import { type BinaryNode, child, children, element } from "../wire/nodes.ts";
import type { Desk } from "./content/context.ts";
import { type Directory, iq } from "./directory.ts";
import type { GroupChats } from "./group-chats.ts";
import { readBundle, uploadNodes } from "./key-nodes.ts";
import { storeAgain } from "./messages/media-retry.ts";
import type { Outbox } from "./messages/outbox.ts";
import { isShared } from "./jids.ts";
import { type PhoneState, ownJid, reportViolation } from "./phone-state.ts";
import type { Tokens } from "./tokens.ts";

/** How many one-time pre-keys a phone uploads, at first and whenever the server says that few are left. */
const PRE_KEYS = 10;

/** The parts of a phone that its stanza handlers use. */
export interface PhoneParts {
  state: PhoneState;
  directory: Directory;
  groups: GroupChats;
  outbox: Outbox;
  tokens: Tokens;
  desk: Desk;
  /** Called in turn, before a notification is acknowledged. */
  onNotification?: (notification: BinaryNode) => Promise<void>;
}

type Handler = (phone: PhoneParts, node: BinaryNode) => Promise<void>;

/** By tag; other stanzas need no answer. */
export const stanzaHandlers: Record<string, Handler> = {
  receipt: takeReceipt,
  notification: takeNotification,
  call: async ({ state }, node) => acknowledge(state, node),
  ack: noteAck,
  iq: async ({ state }, { attrs }) => {
    if (attrs.type === "get" || attrs.type === "set") {
      state.send(element("iq", { type: "result", id: attrs.id, to: attrs.from }));
    }
  },
};

/** Gives the server new one-time pre-keys. */
export async function uploadKeys(state: PhoneState): Promise<void> {
  const answer = await state.query(iq("encrypt", uploadNodes(state.signal, PRE_KEYS), "set"));
  if (answer.attrs.type === "error")
    reportViolation(state, "key_upload_refused", JSON.stringify(answer.content));
}

/** Acknowledges a receipt, notification or call. */
function acknowledge(state: PhoneState, node: BinaryNode): void {
  const { id, from, participant, recipient, type } = node.attrs;
  state.send(element("ack", { class: node.tag, id, to: from, participant, recipient, type }));
}

async function takeReceipt(phone: PhoneParts, node: BinaryNode): Promise<void> {
  const { state, desk } = phone;
  const { world, address } = state;
  const items = children(child(node, "list"), "item").map((item) => item.attrs.id ?? "");
  const ids = [node.attrs.id ?? "", ...items];
  world.recorder.onReceipt({ at: world.time.now(), device: address, attrs: node.attrs, ids });
  if (node.attrs.type === "retry") await sendAgain(phone, node);
  if (node.attrs.type === "server-error") await storeAgain(state, node, desk.random);
  acknowledge(state, node);
}

async function takeNotification(phone: PhoneParts, node: BinaryNode): Promise<void> {
  const { state, groups, onNotification } = phone;
  const { type } = node.attrs;
  if (type === "encrypt" && child(node, "count")) await uploadKeys(state);
  if (type === "w:gp2") groups.changed(node);
  if (type === "privacy_token") phone.tokens.take(node);
  if (type === "contacts") {
    const { old, new: number, old_lid: oldLid, new_lid: lid } = child(node, "modify")?.attrs ?? {};
    state.book.learn(number, lid);
    if (old !== number) phone.directory.forget(old, oldLid);
  }
  if (type === "devices") {
    state.book.learn(node.attrs.from, node.attrs.lid);
    for (const { attrs } of children(child(node, "remove"), "device")) {
      if (attrs.jid) groups.lostDevice(attrs.jid);
    }
  }
  await onNotification?.(node);
  acknowledge(state, node);
}

/** The members of a group were named by the other kind of address than it goes by. */
const STALE_ADDRESSING = "421";

async function noteAck({ state, directory, outbox }: PhoneParts, node: BinaryNode): Promise<void> {
  const { world, address, book } = state;
  const { id, from, error, phash, refresh_lid: refreshLid } = node.attrs;
  if (node.attrs.class !== "message" || !id) return;
  if (error === STALE_ADDRESSING && from && (await outbox.sendByOtherAddresses(id, from))) return;
  // The server knows other devices than the message was written to.
  if (phash && from && !isShared(from)) directory.forget(from, ownJid(state, from));
  const number = refreshLid === "true" && from ? book.numberOf(from) : undefined;
  if (number !== undefined) {
    book.forgetLid(number);
    directory.forget(from);
  }
  world.recorder.onAck({ at: world.time.now(), device: address, to: from ?? "", id, error });
}

/** A device asks for a message again: it is sent on a new session, made from the keys in the request or from a bundle. */
async function sendAgain({ state, directory, outbox }: PhoneParts, receipt: BinaryNode): Promise<void> {
  const { id = "", from = "", participant } = receipt.attrs;
  const device = participant ?? from;
  const peer = await directory.peer(device);
  const keys = child(receipt, "keys");
  const bundle = readBundle(keys, receipt);
  const where = `in the retry receipt of ${device} for ${id}`;
  if (keys && !bundle) reportViolation(state, "malformed_retry_keys", where);
  try {
    if (bundle) state.signal.startSession(peer, bundle);
    else await directory.startSessions([device], { anew: true });
  } catch (error) {
    if (!(error instanceof SignalError)) throw error;
    reportViolation(state, "retry_keys_signature", where);
    return;
  }
  await outbox.sendAgain(id, device, Number(child(receipt, "retry")?.attrs.count ?? 1));
}
