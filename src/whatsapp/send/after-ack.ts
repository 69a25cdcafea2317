import type { WASocket } from "@whiskeysockets/baileys";
import { failpoint } from "../../model/failpoint.ts";
import { isHosted, isLid, withoutDevice } from "../jids.ts";
import type { OutgoingMessage } from "../port.ts";
import type { Composed } from "../content/compose.ts";
import type { EncryptionDeps } from "../signal/encrypt.ts";
import { outsideTransactions } from "../signal/outside-transactions.ts";
import type { Ack } from "./acks.ts";
import type { DeviceMemory } from "../connection/device-memory.ts";
import { forSingleDevices } from "./direct-message.ts";
import { differs, forgetDevices, participantHash } from "../devices/participants.ts";
import { NOT_ON_WHATSAPP, type Directory } from "../devices/recipients.ts";
import type { Sessions } from "./sessions.ts";
import type { Groups } from "../groups/socket-groups.ts";
import type { Recipients, Target } from "./targets.ts";

interface AfterAckDeps {
  socket: WASocket;
  encryption: EncryptionDeps;
  memory: DeviceMemory;
  directory: Directory;
  sessions: Sessions;
  groups: Pick<Groups, "cached" | "forget">;
}

/** A message to a person that the server has taken. */
export interface Written {
  /** The address as it was asked for. */
  wanted: string;
  recipients: Recipients;
  message: OutgoingMessage;
  composed: Composed;
}

/**
 * Compares the server's hash of the devices with those that were written to. When they differ, both sides' lists are dropped
 * before this returns, and the devices that the message has missed are given it as if they had asked for it.
 */
export function checkPerson(deps: AfterAckDeps, written: Written, hash: string | null): void {
  if (hash === null) return;
  const { me } = deps.socket.authState.creds;
  const { jid, lid, pn, theirs, own } = written.recipients;
  const sender = isLid(jid) && me?.lid ? me.lid : (me?.id ?? "");
  const ours = participantHash([sender, ...own.map((one) => one.jid), ...theirs.map((one) => one.jid)]);
  if (!differs(deps.memory, jid, { theirs: hash, ours })) return;
  forgetDevices(deps.memory, [jid, lid, pn, me?.id, me?.lid]);
  failpoint("before-missed-devices");
  // Whoever has not got it by now asks for the next one that it cannot read.
  void outsideTransactions(() => giveToMissed(deps, written)).catch(() => undefined);
}

async function giveToMissed(deps: AfterAckDeps, written: Written): Promise<void> {
  const { wanted, recipients, message, composed } = written;
  const form = isLid(recipients.jid) ? "lid" : "number";
  const now = await deps.directory.recipientsOf(wanted, form);
  if (now === NOT_ON_WHATSAPP || now.jid !== recipients.jid) return;
  const had = new Set([...recipients.own, ...recipients.theirs].map(({ jid }) => jid));
  const isNew = ({ jid }: Target): boolean => !had.has(jid);
  const missed = { ...now, own: now.own.filter(isNew), theirs: now.theirs.filter(isNew) };
  const notOpened = await deps.sessions.open([...missed.own, ...missed.theirs]);
  const isOpen = ({ jid }: Target): boolean => !notOpened.has(jid);
  const reachable = { ...missed, own: missed.own.filter(isOpen), theirs: missed.theirs.filter(isOpen) };
  for (const node of await forSingleDevices(deps, reachable, { ...message, composed }))
    await deps.socket.sendNode(node);
}

/**
 * The same for a group: its members and their devices are asked for anew with the next message, which brings our key to those
 * that lack it. They ask for this one themselves. A group that goes by the other kind of address by now is asked for as well.
 */
export async function checkGroup(
  deps: AfterAckDeps,
  group: string,
  { participantHash: hash, addressing }: Extract<Ack, { kind: "accepted" }>,
): Promise<void> {
  if (hash === null && addressing === undefined) return;
  const { me } = deps.socket.authState.creds;
  const known = await deps.groups.cached(group);
  if (addressing !== undefined && addressing !== known.addressing) return deps.groups.forget(group);
  if (hash === null) return;
  const { participants } = known;
  const members = [...new Set(participants.map(({ id }) => withoutDevice(id)))];
  const devices = (await deps.directory.devicesOf(members)).flatMap(({ jid }) =>
    isHosted(jid) ? [] : [jid],
  );
  const sender = members.some(isLid) && me?.lid ? me.lid : (me?.id ?? "");
  if (!differs(deps.memory, group, { theirs: hash, ours: participantHash([sender, ...devices]) })) return;
  deps.groups.forget(group);
  forgetDevices(deps.memory, [...members, me?.id, me?.lid]);
}
