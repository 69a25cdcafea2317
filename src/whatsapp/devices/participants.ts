import { createHash } from "node:crypto";
import { userOf, withoutDevice } from "../jids.ts";
import type { DeviceMemory } from "../connection/device-memory.ts";

/**
 * The server's hash of the devices that a message is for, the sending one included: SHA-256 over the sorted
 * `<user>.<agent>:<device>@<server>`, its first six bytes in base64 behind `2:`. The agent of people is 0.
 *
 * Source: whatsmeow `participantListHashV2`, `JID.ADString`.
 *
 * @param jids devices' addresses; one without a device is the phone
 */
export function participantHash(jids: string[]): string {
  const names = [...new Set(jids.map(fullName))].toSorted();
  return `2:${createHash("sha256").update(names.join("")).digest().subarray(0, 6).toString("base64")}`;
}

function fullName(jid: string): string {
  const [name = "", server = ""] = jid.split("@");
  return `${userOf(jid)}.0:${name.split(":")[1] ?? "0"}@${server}`;
}

/**
 * Drops what is known of people's devices. Who asks for them at the moment gets an answer that may be from before, and does
 * not keep it.
 *
 * @param jids both addresses of each, with or without a device
 */
export function forgetDevices(
  { userDevices, dropped }: Pick<DeviceMemory, "userDevices" | "dropped">,
  jids: (string | null | undefined)[],
): void {
  dropped.times++;
  for (const jid of jids) if (jid) void userDevices.del(userOf(withoutDevice(jid)));
}

/**
 * Whether the server knows other devices than a message was written to, and asking anew may help. It is not asked again
 * about the same difference within a minute.
 *
 * @param chat address that was written to
 * @param theirs the hash of the ack; null when it has none
 */
export function differs(
  { participantHashes }: Pick<DeviceMemory, "participantHashes">,
  chat: string,
  { theirs, ours }: { theirs: string | null; ours: string },
): boolean {
  if (theirs === null || theirs === ours) return false;
  const difference = `${ours} ${theirs}`;
  if (participantHashes.get(chat) === difference) return false;
  participantHashes.set(chat, difference);
  return true;
}
