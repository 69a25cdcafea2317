import { baileys } from "../baileys.ts";
import { isHosted, isLid, userOf } from "../jids.ts";
import type { Device } from "../devices/device-lists.ts";

/** One device that a message is encrypted for. */
export interface Target {
  /** Its address in the stanza. */
  jid: string;
  /** The address that its session is kept under: the LID's where that is known. */
  session: string;
}

/** Which of a person's two addresses a message is written to. */
export type TargetForm = "lid" | "number";

/** Who gets a message to a person: its devices and the other ones of this number, without this companion itself. */
export interface Recipients {
  /** The address that is written to: the LID where it is known and nothing speaks against it, else the number in the form that counts. */
  jid: string;
  /** The LID of the person; null when it is not known. */
  lid: string | null;
  /** The address of its number; null when that is not known. */
  pn: string | null;
  theirs: Target[];
  own: Target[];
}

/** A person, and the devices it has. */
export interface Owned {
  jid: string;
  lid: string | null;
  devices: Device[];
}

/** @param me this companion itself, which gets nothing */
export function recipients(
  { jid, lid, pn, devices }: Owned & Pick<Recipients, "pn">,
  own: Owned,
  me: { id: string; lid?: string | undefined } | undefined,
): Recipients {
  const others = (targets: Target[]): Target[] =>
    targets.filter((target) => target.jid !== me?.id && target.jid !== me?.lid);
  const theirs = targetsOf({ devices, lid });
  // In the chat with oneself all devices are own ones.
  if (jid === own.jid) return { jid, lid, pn, theirs: [], own: others(theirs) };
  return { jid, lid, pn, theirs, own: others(targetsOf(own)) };
}

/** The same devices by their LID addresses: they have the same numbers under both. */
export function inLidForm(owned: Owned): Owned {
  const { jid, lid, devices } = owned;
  if (lid === null || isLid(jid)) return owned;
  const byLid = devices.map(({ server, device }): Device => {
    return { user: userOf(lid), server: isHosted(`@${server}`) ? "hosted.lid" : "lid", device };
  });
  return { jid: lid, lid, devices: byLid };
}

/** Sessions are kept under the LID once it is known, whatever address is written to. */
export function targetsOf({ devices, lid }: Pick<Owned, "devices" | "lid">): Target[] {
  return devices.map(({ user, server, device }) => {
    const jid = baileys.jidEncode(user, server, device);
    if (lid === null) return { jid, session: jid };
    return {
      jid,
      session: baileys.jidEncode(userOf(lid), isHosted(jid) ? "hosted.lid" : "lid", device),
    };
  });
}
