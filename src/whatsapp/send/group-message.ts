import type { WASocket } from "@whiskeysockets/baileys";
import type { Draft } from "../../model/content/drafts.ts";
import type { Composed } from "../content/compose.ts";
import { editOf } from "../content/stanza-type.ts";
import { POLL_META } from "../content/to-whatsapp-poll.ts";
import { isHosted, userOf, withoutDevice } from "../jids.ts";
import { holdersOfOurs } from "../signal/own-sender-keys.ts";
import { outsideTransactions } from "../signal/outside-transactions.ts";
import type { Directory } from "../devices/recipients.ts";
import type { Sessions } from "./sessions.ts";
import type { Groups } from "../groups/socket-groups.ts";
import type { Target } from "./targets.ts";
import { Unanswered } from "../devices/unanswered.ts";

interface GroupMessageDeps {
  socket: WASocket;
  directory: Directory;
  sessions: Sessions;
  groups: Pick<Groups, "cached">;
}

/**
 * Learns all that a message to a group needs, so that Baileys has nothing to ask while it holds the transaction that all
 * sends to groups share. Devices without keys are noted as if they had our sender key: Baileys would ask for theirs again
 * with every message, and one of them would fail it for everybody. Once they can read, they ask for it themselves.
 *
 * Hosted devices take no part in groups. Sources: whatsmeow `prepareMessageNode`, whatsapp-rust `JidExt::is_hosted`.
 *
 * When somebody has our key who is not in the group any more, however that came about, there is a new one for those who are.
 *
 * @throws {Unanswered}
 */
export async function prepareGroup(deps: GroupMessageDeps, group: string): Promise<void> {
  const { socket, directory, sessions, groups } = deps;
  const { participants } = await groups.cached(group);
  const members = [...new Set(participants.map(({ id }) => withoutDevice(id)))];
  const targets = (await directory.devicesOf(members)).filter(({ jid }) => !isHosted(jid));
  const { keys, creds } = socket.authState;
  let haveKey = await holdersOfOurs(keys, group, creds);
  if (haveKey === null || isHeldByOthers(haveKey, { members, targets })) {
    await renewOurKey(socket, group);
    haveKey = {};
  }
  const holders = haveKey;
  const notOpened = await sessions.open(targets.filter(({ jid }) => !holders[jid]));
  if (notOpened.size === 0) return;
  if ([...notOpened.values()].includes("failed")) throw new Unanswered("with keys for some members");
  const without = Object.fromEntries([...notOpened.keys()].map((device) => [device, true]));
  await keys.set({ "sender-key-memory": { [group]: { ...holders, ...without } } });
}

/** Whether a device has our key that is none of a member's. Members whose devices are not known have those that they had. */
function isHeldByOthers(
  holders: Record<string, boolean>,
  { members, targets }: { members: string[]; targets: Target[] },
): boolean {
  const users = new Set(members.map(userOf));
  const withDevices = new Set(targets.map(({ jid }) => userOf(jid)));
  const devices = new Set(targets.map(({ jid }) => jid));
  return Object.keys(holders).some((device) => {
    const user = userOf(device);
    return !users.has(user) || (withDevices.has(user) && !devices.has(device));
  });
}

/** Encrypts and writes a message to a group. Resolves when it is written. */
export async function writeToGroup(
  socket: WASocket,
  group: string,
  { waId, draft, composed }: { waId: string; draft: Draft; composed: Composed },
): Promise<void> {
  const edit = editOf(draft);
  await socket.relayMessage(group, composed.message, {
    messageId: waId,
    ...(edit !== null && { additionalAttributes: { edit } }),
    ...(draft.kind === "poll" && { additionalNodes: [POLL_META] }),
  });
}

/**
 * The next message to a group begins a new sender key, which everybody gets with it. So it must be after a refused message as well:
 * nobody has got our key that came with it, and Baileys has noted that they have.
 */
export async function renewOurKey({ authState }: WASocket, group: string): Promise<void> {
  // What cannot be stored closes the connection by itself.
  await outsideTransactions(async () => authState.keys.set({ "sender-key-memory": { [group]: null } })).catch(
    () => undefined,
  );
}
