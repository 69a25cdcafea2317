import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import { SECOND_MS } from "../../model/time.ts";
import { withoutDevice } from "../jids.ts";
import { childrenOf } from "../nodes.ts";
import type { ConnectionListener } from "../port.ts";
import type { MovedPerson, Presence, PresenceState } from "../port/happenings.ts";
import { secondsIn } from "../stanza-numbers.ts";

/** Tells how people are, as far as WhatsApp says: it says nothing to who is not online itself. */
export function listenForPresence(
  { ws }: Pick<WASocket, "ws">,
  { tell }: Pick<ConnectionListener, "tell">,
): void {
  const hear = (node: BinaryNode): void => {
    const presence = presenceIn(node);
    if (presence !== null) tell({ type: "seen", presence });
  };
  ws.on("CB:presence", hear);
  ws.on("CB:chatstate", hear);
}

function presenceIn(node: BinaryNode): Presence | null {
  const { from, participant, type, last } = node.attrs;
  const chat = withoutDevice(from);
  if (chat === "") return null;
  const person = withoutDevice(participant) || chat;
  const seen = last === undefined || last === "deny" ? 0 : secondsIn(last);
  const lastSeen = seen > 0 ? seen * SECOND_MS : null;
  if (node.tag === "presence")
    return { chat, person, state: type === "unavailable" ? "offline" : "online", lastSeen };
  const state = typingIn(childrenOf(node)[0]);
  return state && { chat, person, state, lastSeen: null };
}

function typingIn(node: BinaryNode | undefined): PresenceState | null {
  if (node?.tag === "paused") return "paused";
  if (node?.tag !== "composing") return null;
  return node.attrs["media"] === "audio" ? "recording" : "typing";
}

/** Tells who goes on under another number, or another LID. Source: whatsapp-rust `learn_contact_modify_mappings`. */
export function listenForMoves(
  { ws }: Pick<WASocket, "ws">,
  { tell }: Pick<ConnectionListener, "tell">,
): void {
  ws.prependListener("CB:notification,type:contacts", (node: BinaryNode) => {
    const modify = childrenOf(node).find(({ tag }) => tag === "modify");
    if (modify === undefined) return;
    const { old, new: now, old_lid: oldLid, new_lid: newLid } = modify.attrs;
    const moved: MovedPerson = { before: namesOf(old, oldLid), after: namesOf(now, newLid) };
    tell({ type: "moved", moved });
  });
}

const namesOf = (pn: string | undefined, lid: string | undefined): MovedPerson["before"] => ({
  pn: withoutDevice(pn) || null,
  lid: withoutDevice(lid) || null,
});

/** Watches how people are: for that the number is online itself, which its owner's phone takes for a reason to stay silent. */
export async function watchPresence(socket: WASocket, chat: string): Promise<void> {
  await socket.sendPresenceUpdate("available");
  await socket.presenceSubscribe(chat);
}
