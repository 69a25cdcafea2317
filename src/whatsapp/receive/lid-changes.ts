import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import { SECOND_MS, type Time } from "../../model/time.ts";
import { outsideTransactions } from "../signal/outside-transactions.ts";
import { isLid, isPn, toPn, userOf, withoutDevice } from "../jids.ts";
import { childOf } from "../nodes.ts";
import type { DeviceMemory } from "../connection/device-memory.ts";
import { forgetDevices } from "../devices/participants.ts";
import { Unanswered } from "../devices/unanswered.ts";
import { askForLids } from "../devices/usync.ts";

/** Messages to that person wait for the answer. */
const PATIENCE_MS = 5 * SECOND_MS;

/** What learning of changed LIDs takes. */
interface LidChangesDeps {
  socket(): WASocket;
  memory: Pick<DeviceMemory, "userDevices" | "dropped" | "acceptedForms" | "refreshedLids">;
  time: Pick<Time, "deadline">;
  /** The LID's user of a number's, and the other way round, if that is in memory. */
  peekLid(pnUser: string): string | null;
  peekNumber(lidUser: string): string | null;
  onFailed(error: unknown): void;
}

/** People whose LID becomes another one. */
export interface LidChanges {
  /** WhatsApp says that the LID by which we know somebody is not current (`refresh_lid` on an ack). @param jid either address */
  isStale(jid: string): void;
  /** WhatsApp names both addresses of somebody. */
  told(pn: string | undefined, lid: string | undefined): void;
  /** The same; nothing is done when memory does not hold another LID. */
  changed(pn: string | undefined, lid: string | undefined): void;
  /** Somebody has another number: nobody has these addresses any more, as far as it is known. */
  left(pn: string | undefined, lid: string | undefined): void;
  /** What is being learned about somebody; null when that is nothing. Never rejects. */
  underWay(jid: string): Promise<void> | null;
}

/**
 * Learns the new pair before the next message to that person is prepared: its chat stays the one of its number, devices are
 * asked for anew, and the privacy token that the person has given goes along.
 *
 * Sources: whatsapp-rust `refresh_lid_mapping_for`, `learn_contact_modify_mappings`; whatsmeow `handleDeviceNotification`.
 */
export function createLidChanges(deps: LidChangesDeps): LidChanges {
  const { socket, memory, time, peekLid } = deps;
  /** By user of either address. */
  const learning = new Map<string, Promise<void>>();

  async function currentLid(pnUser: string): Promise<string | null> {
    const { keys } = socket().authState;
    return (await keys.get("lid-mapping", [pnUser]))[pnUser] ?? null;
  }

  async function learn(pn: string, lid: string, known: string | null): Promise<void> {
    const before = known ?? (await currentLid(userOf(pn)));
    if (before === userOf(lid)) return;
    const { signalRepository } = socket();
    await signalRepository.lidMapping.storeLIDPNMappings([{ pn, lid }]);
    if (before === null) return;
    const old = `${before}@lid`;
    for (const jid of [pn, lid, old]) memory.acceptedForms.delete(jid);
    forgetDevices(memory, [pn, lid, old]);
    await moveToken(socket(), old, lid);
  }

  async function refresh(jid: string): Promise<void> {
    const { keys } = socket().authState;
    const key = `${userOf(jid)}_reverse`;
    const pnUser = isPn(jid) ? userOf(jid) : (await keys.get("lid-mapping", [key]))[key];
    // Whoever is known by the LID alone cannot be found under another one.
    if (pnUser === undefined) return;
    const asked = askForLids(socket(), [toPn(pnUser)]);
    const pairs = await time.deadline(PATIENCE_MS, asked, () => new Unanswered("the query for LIDs"));
    for (const { pn, lid } of pairs ?? []) await learn(toPn(userOf(pn)), withoutDevice(lid), null);
  }

  function start(users: (string | null)[], work: () => Promise<void>): void {
    const before = Promise.all(users.map((user) => user && learning.get(user)));
    const done = before
      .then(() => outsideTransactions(work))
      .catch(deps.onFailed)
      .finally(() => {
        for (const user of users) if (user && learning.get(user) === done) learning.delete(user);
      });
    for (const user of users) if (user) learning.set(user, done);
  }

  function told(pn: string | undefined, lid: string | undefined): void {
    const [number, other] = [withoutDevice(pn), withoutDevice(lid)];
    if (!isPn(number) || !isLid(other)) return;
    // What tells of it is handled by Baileys next, which then knows the new one.
    const known = peekLid(userOf(number));
    if (known === userOf(other)) return;
    start([userOf(number), userOf(other), known], () => learn(number, other, known));
  }

  return {
    isStale(jid) {
      const address = withoutDevice(jid);
      // Every ack of a row of messages says so again.
      if ((!isPn(address) && !isLid(address)) || memory.refreshedLids.has(address)) return;
      memory.refreshedLids.set(address, true);
      const user = userOf(address);
      start([user, isLid(address) ? deps.peekNumber(user) : peekLid(user)], () => refresh(address));
    },
    told,
    changed(pn, lid) {
      if (peekLid(userOf(pn)) !== null) told(pn, lid);
    },
    left(pn, lid) {
      for (const jid of [pn, lid]) if (jid) memory.acceptedForms.delete(withoutDevice(jid));
      forgetDevices(memory, [pn, lid]);
    },
    underWay: (jid) => learning.get(userOf(jid)) ?? null,
  };
}

/** Tokens are kept under the LID. One that was given to the new LID is the newer one. */
async function moveToken({ authState: { keys } }: WASocket, from: string, to: string): Promise<void> {
  const { [from]: token, [to]: known } = await keys.get("tctoken", [from, to]);
  if (token !== undefined) await keys.set({ tctoken: { [to]: known ?? token, [from]: null } });
}

/** Listens for everything that tells of changed LIDs. */
export function listenForLids(
  { ws }: Pick<WASocket, "ws">,
  { isStale, told, changed, left }: LidChanges,
): void {
  ws.prependListener("CB:ack,class:message", ({ attrs }: BinaryNode) => {
    if (attrs.refresh_lid === "true" && attrs.from) isStale(attrs.from);
  });
  ws.prependListener("CB:notification,type:contacts", (node: BinaryNode) => {
    const { old, new: now, old_lid: oldLid, new_lid: newLid } = childOf(node, "modify")?.attrs ?? {};
    if (old !== now) {
      told(old, oldLid);
      left(old, oldLid);
    }
    told(now, newLid);
  });
  ws.prependListener("CB:message", ({ attrs }: BinaryNode) => {
    // What has waited may be from before the last change.
    if (attrs.offline !== undefined) return;
    if (attrs.sender_pn && isLid(withoutDevice(attrs.from))) changed(attrs.sender_pn, attrs.from);
    else if (attrs.sender_lid) changed(attrs.from, attrs.sender_lid);
  });
  for (const type of ["devices", "encrypt"])
    ws.prependListener(`CB:notification,type:${type}`, ({ attrs }: BinaryNode) =>
      told(attrs.from, attrs.lid),
    );
}
