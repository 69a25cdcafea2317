import { createHash } from "node:crypto";
import type { ServiceBehaviour } from "../../surface/behaviour.ts";
import type { Device } from "../../world/accounts.ts";
import { LID_SERVER, PN_SERVER, serverOf } from "../../world/jid.ts";

/** Hashes a device list, in any order, so that a client can compare it with the one it has written to. */
export function participantHash(
  devices: Iterable<Device>,
  addressing: "pn" | "lid",
  { wholePhash }: Pick<ServiceBehaviour, "wholePhash">,
): string {
  const names = [...devices].map((device) => (wholePhash ? fullName(device, addressing) : device.pn));
  const digest = createHash("sha256").update(names.sort().join("")).digest();
  return `2:${wholePhash ? digest.subarray(0, 6).toString("base64") : digest.toString("base64").slice(0, 6)}`;
}

/** `user.agent:device@server`; the agent is always 0. */
const fullName = ({ account, id }: Device, addressing: "pn" | "lid"): string =>
  addressing === "lid"
    ? `${account.lid}.0:${id}@${serverOf(LID_SERVER, id)}`
    : `${account.number}.0:${id}@${serverOf(PN_SERVER, id)}`;
