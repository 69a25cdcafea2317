import { element } from "../wire/nodes.ts";
import type { Account } from "../world.ts";
import type { Device } from "./device.ts";
import { LID_SERVER, PN_SERVER, jidOf } from "./jid.ts";
import type { SimulatorServer } from "./server.ts";

/** The devices of an account that others may encrypt for, the phone first. */
export function listedDevices(account: Account): Device[] {
  return [...account.devices.values()].filter((device) => device.listed).sort((a, b) => a.id - b.id);
}

/** Tells the account's other devices, and everybody who asked for its devices before, of one that came or went. */
export function announceDevices(server: SimulatorServer, device: Device, change: "add" | "remove"): void {
  const { account } = device;
  const own = listedDevices(account).filter((other) => other !== device);
  const others = [...account.watchers].flatMap((number) => {
    const watcher = server.world.find(number);
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
    server.deliver(
      receiver,
      element(
        "notification",
        {
          from: jidOf(account.number, PN_SERVER),
          lid: jidOf(account.lid, LID_SERVER),
          type: "devices",
          id: server.nextId(),
          t: server.now(),
        },
        [element(change, {}, [entry])],
      ),
    );
  }
}

/** Takes a companion off its account: it is told, logged out and forgotten. */
export function removeDevice(server: SimulatorServer, device: Device): void {
  device.account.devices.delete(device.id);
  const { connection } = device;
  connection?.send(
    element("stream:error", { code: "401" }, [element("conflict", { type: "device_removed" })]),
  );
  connection?.close();
  if (device.listed) announceDevices(server, device, "remove");
}
