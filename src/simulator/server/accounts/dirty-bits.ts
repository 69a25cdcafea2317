import { element } from "../../wire/nodes.ts";
import type { Account, Device } from "../../world/accounts.ts";
import { SERVER_JID } from "../../world/jid.ts";
import type { Stamps } from "../ports.ts";

/** What devices are told to look at again. */
export interface DirtyBits {
  /** Companions of an account are told now, or when they log in. */
  mark(account: Account, type: string): void;
  /** Tells a device that has logged in. */
  tell(device: Device): void;
  /** A device says that it has looked. */
  clean(device: Device, type: string): void;
  of(account: Account): string[];
}

/** Kept until a device says that it is up to date. Source: whatsapp-rust `iq/dirty.rs`. */
export function createDirtyBits({ now }: Pick<Stamps, "now">): DirtyBits {
  const dirty = new Map<Device, Map<string, string>>();
  return {
    mark(account, type) {
      for (const device of account.devices.values()) {
        if (device.id === 0) continue;
        const bits = dirty.get(device) ?? new Map<string, string>();
        dirty.set(device, bits.set(type, now()));
        if (device.active) say(device, type, now());
      }
    },
    tell(device) {
      for (const [type, timestamp] of dirty.get(device) ?? []) say(device, type, timestamp);
    },
    clean: (device, type) => void dirty.get(device)?.delete(type),
    of: ({ devices }) => [...devices.values()].flatMap((device) => [...(dirty.get(device)?.keys() ?? [])]),
  };
}

function say(device: Device, type: string, timestamp: string): void {
  device.connection?.send(element("ib", { from: SERVER_JID }, [element("dirty", { type, timestamp })]));
}
