import { element } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import { listedDevices, userJid } from "../world/accounts.ts";
import type { Account, Device } from "../world/accounts.ts";
import type { World } from "../world/world.ts";
import type { ServiceBehaviour } from "../surface/behaviour.ts";
import { participantHash } from "./phash.ts";
import type { Deliveries, Stamps } from "./ports.ts";

interface Needs extends Stamps, Deliveries {
  world: World;
  behaviour: ServiceBehaviour;
}

/** Who hears of the devices of an account. */
export interface DeviceLists {
  /** Tells the account's other devices, and everybody who asked for its devices before, of one that came or went. */
  announce(device: Device, change: "add" | "remove"): void;
  /** Takes a companion off its account: it is told, logged out and forgotten. */
  remove(device: Device): void;
}

/** Tells of changes by `notification type=devices`. */
export function createDeviceLists(needs: Needs): DeviceLists {
  return {
    announce: (device, change) => announceDevices(needs, device, change),
    remove: (device) => removeDevice(needs, device),
  };
}

function announceDevices(needs: Needs, device: Device, change: "add" | "remove"): void {
  const { account } = device;
  const own = listedDevices(account).filter((other) => other !== device);
  const others = [...account.watchers].flatMap((number) => {
    const watcher = needs.world.find(number);
    return watcher ? listedDevices(watcher) : [];
  });
  for (const receiver of [...own, ...others]) {
    // People who never came online will ask anew before they write.
    if (receiver.account.kind === "contact" && !receiver.seen) continue;
    const isOwnCompanion = receiver.account === account && receiver.id !== 0;
    const asAccountSync = needs.behaviour.accountSync && isOwnCompanion;
    needs.deliver(
      receiver,
      asAccountSync ? accountSync(needs, account) : devicesChanged(needs, device, change),
    );
  }
}

/** What everybody else hears: who came or went. */
function devicesChanged(needs: Needs, device: Device, change: "add" | "remove"): BinaryNode {
  const entry = element("device", {
    jid: device.pn,
    lid: device.lid,
    "key-index": change === "add" ? String(device.keyIndex) : undefined,
  });
  const { account } = device;
  const attrs = { from: userJid(account, "pn"), lid: userJid(account, "lid"), type: "devices" };
  return element("notification", { ...attrs, id: needs.nextId(), t: needs.now() }, [
    element(change, {}, [entry]),
  ]);
}

/** What the account's own companions hear: the whole list, and its hash. */
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
