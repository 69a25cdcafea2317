import type { ServiceBehaviour } from "../../surface/behaviour.ts";
import { element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { userJid } from "../../world/accounts.ts";
import type { Account, Device } from "../../world/accounts.ts";
import { isLidJid } from "../../world/jid.ts";
import type { Profile, Profiles } from "../../world/profiles.ts";
import type { World } from "../../world/world.ts";
import type { Stamps, StanzaHandler } from "../ports.ts";

interface Needs extends Pick<Stamps, "now"> {
  world: World;
  profiles: Profiles;
  behaviour: ServiceBehaviour;
}

/** Who is there. */
export interface Presences {
  /** Handles `<presence>`: a device says that it is used or not, or asks to be told of somebody. */
  handle: StanzaHandler;
  /** A device's connection has ended. */
  gone(device: Device): void;
}

/**
 * Presence as the service passes it on: to devices that asked, while they are available themselves, and no more than the person allows.
 * Source: whatsmeow `handlePresence`, `SubscribePresence`.
 */
export function createPresences(needs: Needs): Presences {
  const { world, profiles, behaviour } = needs;
  /** Whom a device asked to be told of. */
  const watched = new WeakMap<Device, Set<Account>>();

  function moved(device: Device, isAvailable: boolean): void {
    const profile = profiles.of(device.account.number);
    const before = profile.available.size > 0;
    const isNew = isAvailable && !profile.available.has(device);
    if (isAvailable) profile.available.add(device);
    else profile.available.delete(device);
    const after = profile.available.size > 0;
    if (before && !after) profile.seenAt = Number(needs.now());
    if (before !== after)
      for (const observer of profile.observers.keys()) tell(needs, observer, device.account);
    // Whoever opens the app sees at once who is there.
    if (isNew) for (const account of watched.get(device) ?? []) tell(needs, device, account);
  }

  return {
    handle(connection, { attrs: { type, name, to } }) {
      const { device } = connection;
      const about = to === undefined ? undefined : world.find(to);
      if (type === "subscribe" && about && !behaviour.presence) connection.send(hidden(to!));
      if (!device) return;
      if (type === "subscribe") {
        if (!about || !behaviour.presence) return;
        profiles.of(about.number).observers.set(device, isLidJid(to!) ? "lid" : "pn");
        watched.set(device, (watched.get(device) ?? new Set()).add(about));
        tell(needs, device, about);
      } else if (type === "unsubscribe") {
        if (!about) return;
        profiles.of(about.number).observers.delete(device);
        watched.get(device)?.delete(about);
      } else {
        if (name) device.account.name = name;
        // Without a type it tells the name, and no more.
        if (type === "available" || type === "unavailable") moved(device, type === "available");
      }
    },
    gone(device) {
      if (profiles.known(device.account.number)?.available.has(device)) moved(device, false);
    },
  };
}

/** Tells a device that asked how somebody is. It hears nothing while it is not available itself. */
function tell({ profiles }: Needs, observer: Device, account: Account): void {
  if (!profiles.of(observer.account.number).available.has(observer)) return;
  const profile = profiles.of(account.number);
  const isBlocked = profiles.blocks(account, observer.account);
  const addressing = account.hidesNumber ? "lid" : profile.observers.get(observer);
  const from = userJid(account, addressing ?? account.addressing);
  observer.connection?.send(isBlocked ? hidden(from) : presenceOf(profile, from));
}

const hidden = (from: string): BinaryNode => element("presence", { from, type: "unavailable", last: "deny" });

function presenceOf({ available, seenAt, privacy }: Profile, from: string): BinaryNode {
  const showsSeen = privacy.get("last") !== "none";
  const showsOnline = privacy.get("online") === "all" || showsSeen;
  if (available.size > 0 && showsOnline) return element("presence", { from });
  const last = showsSeen && seenAt !== undefined ? String(seenAt) : "deny";
  return element("presence", { from, type: "unavailable", last });
}
