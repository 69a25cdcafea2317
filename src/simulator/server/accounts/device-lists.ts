import { element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { listedDevices, userJid } from "../../world/accounts.ts";
import type { Account, Device } from "../../world/accounts.ts";
import type { World } from "../../world/world.ts";
import type { ServiceBehaviour } from "../../surface/behaviour.ts";
import { participantHash } from "../messages/phash.ts";
import type { Deliveries, Stamps } from "../ports.ts";

interface Needs extends Stamps, Deliveries {
  world: World;
  behaviour: ServiceBehaviour;
}

/** Keeps everybody who needs it informed of an account's devices. */
export interface DeviceLists {
  /** Announces a device that was added or removed to the account's other devices and to everyone who has asked for its devices. */
  announce(device: Device, change: "add" | "remove"): void;
  /** Somebody's phone has new keys: `notification type=encrypt > identity` for everyone who has asked for the devices. */
  tellIdentity(account: Account): void;
  /** Removes a companion from its account: it is sent stream error 401 `device_removed`, disconnected and forgotten. */
  remove(device: Device): void;
}

/** Announces changes by `notification type=devices`; own companions may hear by `account_sync` instead. */
export function createDeviceLists(needs: Needs): DeviceLists {
  return {
    announce: (device, change) => announceDevices(needs, device, change),
    tellIdentity: (account) => tellIdentity(needs, account),
    remove: (device) => removeDevice(needs, device),
  };
}

function tellIdentity(needs: Needs, account: Account): void {
  const attrs = { from: userJid(account, "pn"), lid: userJid(account, "lid"), type: "encrypt" };
  for (const number of account.watchers)
    for (const receiver of listedDevices(needs.world.account(number))) {
      const head = { ...attrs, id: needs.nextId(), t: needs.now() };
      if (receiver.account.kind === "owner" || receiver.seen)
        needs.deliver(receiver, element("notification", head, [element("identity")]));
    }
}

function announceDevices(needs: Needs, device: Device, change: "add" | "remove"): void {
  const { account } = device;
  const own = listedDevices(account).filter((other) => other !== device);
  const others = [...account.watchers].flatMap((number) => {
    const watcher = needs.world.find(number);
    return watcher ? listedDevices(watcher) : [];
  });
  for (const receiver of [...own, ...others]) {
    // People who were never online will ask afresh before they write.
    if (receiver.account.kind === "contact" && !receiver.seen) continue;
    const isOwnCompanion = receiver.account === account && receiver.id !== 0;
    const asAccountSync = needs.behaviour.accountSync && isOwnCompanion;
    needs.deliver(
      receiver,
      asAccountSync ? accountSync(needs, account) : devicesChanged(needs, device, change),
    );
  }
}

/** What everybody else is sent: which device was added or removed, and hashes of the whole list by both addresses. */
function devicesChanged(needs: Needs, device: Device, change: "add" | "remove"): BinaryNode {
  const entry = element("device", {
    jid: device.pn,
    lid: device.lid,
    "key-index": change === "add" ? String(device.keyIndex) : undefined,
  });
  const { account } = device;
  const attrs = { from: userJid(account, "pn"), lid: userJid(account, "lid"), type: "devices" };
  const hash = (addressing: "pn" | "lid"): string =>
    participantHash(listedDevices(account), addressing, { wholePhash: true });
  const hashes = needs.behaviour.deviceHashes
    ? { device_hash: hash("pn"), device_lid_hash: hash("lid") }
    : {};
  const keyIndexes = needs.behaviour.deviceHashes ? [keyIndexList(account, needs.now())] : [];
  return element("notification", { ...attrs, id: needs.nextId(), t: needs.now() }, [
    element(change, hashes, [entry, ...keyIndexes]),
  ]);
}

/** Which companions an account has, as its phone has signed it when it linked the last; empty while it has linked none. */
export const keyIndexList = ({ keyIndexes }: Account, ts: string): BinaryNode =>
  element("key-index-list", { ts }, keyIndexes);

/** What the account's own companions are sent: the whole list and its hash. */
function accountSync(needs: Needs, account: Account): BinaryNode {
  const devices = listedDevices(account);
  const list = devices.map(({ id, pn, keyIndex }) =>
    element("device", { jid: pn, "key-index": id === 0 ? undefined : String(keyIndex || id) }),
  );
  const attrs = { from: userJid(account, "pn"), type: "account_sync", id: needs.nextId(), t: needs.now() };
  const dhash = participantHash(devices, "pn", { wholePhash: true });
  return element("notification", attrs, [element("devices", { dhash }, list)]);
}

function removeDevice(needs: Needs, device: Device): void {
  device.account.devices.delete(device.id);
  const { connection } = device;
  connection?.send(
    element("stream:error", { code: "401" }, [element("conflict", { type: "device_removed" })]),
  );
  connection?.close();
  if (device.listed) announceDevices(needs, device, "remove");
}
