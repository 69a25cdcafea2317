import { element } from "../wire/nodes.ts";
import { LID_SERVER, PN_SERVER, jidOf } from "../world/jid.ts";
import { listedDevices } from "../world/accounts.ts";
import type { Device } from "../world/accounts.ts";
import type { World } from "../world/world.ts";
import type { Deliveries, Stamps } from "./ports.ts";

interface Needs extends Stamps, Deliveries {
  world: World;
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
    const entry = element("device", {
      jid: device.pn,
      lid: device.lid,
      "key-index": change === "add" ? String(device.keyIndex) : undefined,
    });
    needs.deliver(
      receiver,
      element(
        "notification",
        {
          from: jidOf(account.number, PN_SERVER),
          lid: jidOf(account.lid, LID_SERVER),
          type: "devices",
          id: needs.nextId(),
          t: needs.now(),
        },
        [element(change, {}, [entry])],
      ),
    );
  }
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
