import { IqError } from "../iq-error.ts";
import type { Group, World } from "../../world/world.ts";
import type { IqRequest } from "./handler.ts";

interface Needs {
  world: World;
}

/** The group that is asked about, for its members. Of pictures it is the `target`. @throws IqError 404, 403 */
export function memberGroup({ world }: Needs, { device, iq }: IqRequest): Group {
  const group = world.groups.get(iq.attrs.target ?? iq.attrs.to ?? "");
  if (!group) throw new IqError(404, "item-not-found");
  if (!group.members.has(device.account.number)) throw new IqError(403, "forbidden");
  return group;
}

/** The group that is asked about, for its admins. @throws IqError 404, 403 */
export function adminGroup(needs: Needs, request: IqRequest): Group {
  const group = memberGroup(needs, request);
  if (group.members.get(request.device.account.number) === "member") throw new IqError(403, "forbidden");
  return group;
}

/** The group that is asked about, for those who may change what is said of it. @throws IqError 404, 403 */
export const editableGroup = (needs: Needs, request: IqRequest): Group => {
  const group = memberGroup(needs, request);
  return group.locked ? adminGroup(needs, request) : group;
};
