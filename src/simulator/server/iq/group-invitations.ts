/** Invitations of single people: what is sent to somebody whom nobody may add. */
import type { Time } from "../../time.ts";
import { element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import type { World } from "../../world/world.ts";
import type { Groups } from "../groups/index.ts";
import { IqError } from "../iq-error.ts";
import type { IqRequest } from "./handler.ts";

interface Needs {
  world: World;
  time: Time;
}

/** The group of an invite message, for the one who was invited. */
export function groupOfInvitation({ world, time }: Needs, { device, iq }: IqRequest, { attrs }: BinaryNode) {
  const group = world.groups.get(iq.attrs.to ?? "");
  const invitation = group?.addInvites.get(device.account.number);
  if (!group || invitation?.code !== attrs.code) throw new IqError(404, "item-not-found");
  if (world.find(attrs.admin)?.number !== invitation?.admin) throw new IqError(401, "not-authorized");
  if (invitation!.expiration < time.now() / 1000) throw new IqError(410, "gone");
  return group;
}

/** Somebody who could not be added, with what an invite message needs. */
export function addRequestNode(
  groups: Groups,
  group: Parameters<Groups["inviteByMessage"]>[0],
  number: string,
  admin: string,
  jid = `${number}@s.whatsapp.net`,
): BinaryNode {
  const { code, expiration } = groups.inviteByMessage(group, number, admin);
  const request = element("add_request", { code, expiration: String(expiration) });
  return element("participant", { jid, error: "403" }, [request]);
}
