import type { WASocket } from "@whiskeysockets/baileys";
import type { Draft } from "../../model/messages.ts";
import type { Composed } from "../content/compose.ts";
import { POLL_META } from "../content/to-whatsapp-poll.ts";
import { withoutDevice } from "../jids.ts";
import { outsideTransactions } from "../signal/outside-transactions.ts";
import type { Directory } from "./recipients.ts";
import type { Sessions } from "./sessions.ts";
import type { Groups } from "./socket-groups.ts";
import { Unanswered } from "./unanswered.ts";

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
 * @throws {Unanswered}
 */
export async function prepareGroup(deps: GroupMessageDeps, group: string): Promise<void> {
  const { socket, directory, sessions, groups } = deps;
  const metadata = await groups.cached(group);
  const members = [...new Set(metadata.participants.map(({ id }) => withoutDevice(id)))];
  const targets = await directory.devicesOf(members);
  const { keys } = socket.authState;
  const { [group]: haveKey = {} } = await keys.get("sender-key-memory", [group]);
  const notOpened = await sessions.open(targets.filter(({ jid }) => !haveKey[jid]));
  if (notOpened.size === 0) return;
  if ([...notOpened.values()].includes("failed")) throw new Unanswered("for the keys of some members");
  const without = Object.fromEntries([...notOpened.keys()].map((device) => [device, true]));
  await keys.set({ "sender-key-memory": { [group]: { ...haveKey, ...without } } });
}

/** Encrypts and writes a message to a group. Resolves when it is written. */
export async function writeToGroup(
  socket: WASocket,
  group: string,
  { waId, draft, composed }: { waId: string; draft: Draft; composed: Composed },
): Promise<void> {
  await socket.relayMessage(group, composed.message, {
    messageId: waId,
    ...(draft.kind === "poll" && { additionalNodes: [POLL_META] }),
  });
}

/**
 * Nobody got a refused message, nor our sender key that came with it; Baileys has noted that they have the key, and none of
 * them could read the next message.
 */
export async function forgetWhoHasOurKey({ authState }: WASocket, group: string): Promise<void> {
  // What cannot be stored closes the connection by itself.
  await outsideTransactions(async () => authState.keys.set({ "sender-key-memory": { [group]: null } })).catch(
    () => undefined,
  );
}
