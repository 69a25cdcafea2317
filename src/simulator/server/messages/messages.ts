import { child, children, element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { isChannelJid } from "../channels/channel.ts";
import type { Channels } from "../channels/channels.ts";
import type { DirectMessages } from "./direct-messages.ts";
import { anyHook, firstAnswer } from "../hooks.ts";
import type { Hooks } from "../hooks.ts";
import { isGroupJid, isLidJid } from "../../world/jid.ts";
import type { NewChats } from "./new-chats.ts";
import type { PrivacyTokens } from "./privacy-tokens.ts";
import { REACHOUT_LOCKED } from "./reachout.ts";
import type { Reachout } from "./reachout.ts";
import { STATUS_JID } from "./status.ts";
import type { Connection, Device } from "../../world/accounts.ts";
import type { Time } from "../../time.ts";
import type { World } from "../../world/world.ts";
import type { AcceptedMessages } from "./accepted-messages.ts";
import type { MessageBook } from "./message-book.ts";
import type { MessageOutcome, Reports, Stamps, StanzaHandler } from "../ports.ts";

type Take = (sender: Device, message: BinaryNode) => MessageOutcome;

interface Needs extends Pick<Stamps, "now">, Reports {
  world: World;
  time: Time;
  hooks: Pick<Hooks, "verdict" | "ack">;
  book: MessageBook;
  accepted: AcceptedMessages;
  reachout: Reachout;
  newChats: Pick<NewChats, "allows" | "began">;
  privacyTokens: Pick<PrivacyTokens, "allows">;
  /** Checks what can be read of a message without decrypting it. */
  inspect(sender: Device, message: BinaryNode): void;
  /** Looks at what every message was encrypted with, also of one that is refused. */
  noteKeys(sender: Device, message: BinaryNode): void;
  direct: DirectMessages;
  toGroup: Take;
  toStatus: Take;
  channels: Channels;
}

/** Handles `<message>` from a client: relays it to every device it is for, and acknowledges it. */
export function createMessages(needs: Needs): StanzaHandler {
  return (connection, node) => handleMessage(needs, connection, node);
}

function handleMessage(needs: Needs, connection: Connection, node: BinaryNode): void {
  const sender = connection.device!;
  const { id, to, participant } = node.attrs;
  if (!id || !to || !Array.isArray(node.content)) {
    needs.violations.report("malformed_stanza", sender.label, "a message needs id, to and content");
    if (id) acknowledge(needs, connection, node, { error: 400 });
    return;
  }
  needs.noteKeys(sender, node);
  const error = firstAnswer(needs.hooks.verdict, sender, node);
  if (error !== undefined) {
    acknowledge(needs, connection, node, { error });
    return;
  }
  const earlier = needs.book.find(sender.account.number, id);
  if (earlier && !sameChat(needs, earlier.to, to) && !participant && node.attrs.device_fanout !== "false") {
    needs.violations.report(
      "id_reused",
      sender.label,
      `message ${id} went to ${earlier.to} before, now to ${to}`,
    );
  }
  needs.inspect(sender, node);
  const verdict = passOn(needs, sender, node);
  if (verdict.error === undefined)
    needs.accepted.add(sender, node, needs.world.find(to)?.number ?? to, needs.time.now());
  acknowledge(needs, connection, node, verdict);
}

/** A direct chat can be named by number or by LID. */
function sameChat(needs: Needs, one: string, other: string): boolean {
  return one === other || (!isGroupJid(one) && needs.world.find(one) === needs.world.find(other));
}

function passOn(needs: Needs, sender: Device, node: BinaryNode): MessageOutcome {
  const to = node.attrs.to!;
  if (isGroupJid(to)) return needs.toGroup(sender, node);
  if (isChannelJid(to)) return needs.channels.take(sender, node);
  if (to === STATUS_JID) return needs.toStatus(sender, node);
  const partner = needs.world.find(to);
  if (!partner) return { error: 404 };
  if (node.attrs.category === "peer") return needs.direct.sendToPeer(sender, node);
  // A client may also list that one device under participants; the ciphertext beside the list is what counts.
  const isForOne = node.attrs.device_fanout === "false" || !child(node, "participants");
  const isResend = isForOne && children(node, "enc").length > 0;
  if (isResend) return needs.direct.sendToOne(sender, node);
  const isRefusedForm = partner.reachableBy === (isLidJid(to) ? "number" : "lid");
  const isTrusted = needs.privacyTokens.allows(sender.account, partner, node);
  const isNew = !needs.reachout.areMet(sender.account, partner);
  const mayBegin =
    needs.reachout.allows(sender.account, partner) && (!isNew || needs.newChats.allows(sender.account));
  if (isRefusedForm || !isTrusted || !mayBegin) return { error: REACHOUT_LOCKED };
  if (isNew) needs.newChats.began(sender.account);
  needs.reachout.met(sender.account, partner);
  return { ...needs.direct.send(sender, node), refreshLid: needs.world.isFormerLid(to) };
}

function acknowledge(needs: Needs, connection: Connection, node: BinaryNode, verdict: MessageOutcome): void {
  const ack = element("ack", {
    class: "message",
    id: node.attrs.id,
    from: node.attrs.to,
    participant: node.attrs.participant,
    t: needs.now(),
    phash: verdict.phash,
    addressing_mode: verdict.addressingMode,
    refresh_lid: verdict.refreshLid ? "true" : undefined,
    server_id: verdict.serverId === undefined ? undefined : String(verdict.serverId),
    error: verdict.error === undefined ? undefined : String(verdict.error),
  });
  const { device } = connection;
  // A fault may take over the ack and send it later, or never.
  if (device && anyHook(needs.hooks.ack, device, ack, connection)) return;
  connection.send(ack);
}
