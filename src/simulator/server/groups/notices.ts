import { element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { LID_SERVER, jidOf } from "../../world/jid.ts";
import { listedDevices, userJid } from "../../world/accounts.ts";
import type { Group, World } from "../../world/world.ts";
import type { Deliveries, Stamps } from "../ports.ts";
import { numberBeside } from "./node.ts";

interface Needs extends Stamps, Deliveries {
  world: World;
}

/** Who is told of a change, and of whom as the one who has made it. */
interface Audience {
  /** Number; absent: nobody is named, as for those who follow an invite link. */
  actor?: string;
  /** Numbers. */
  told: Iterable<string>;
  type?: NoticeType;
}

/** Pictures are told of by a type of their own. */
export type NoticeType = "w:gp2" | "picture";

/** Tags of all changes of a group that anybody is told of. */
const GROUP_CHANGES: Record<string, true> = {
  create: true,
  add: true,
  remove: true,
  leave: true,
  promote: true,
  demote: true,
  modify: true,
  change_number: true,
  subject: true,
  description: true,
  announcement: true,
  not_announcement: true,
  locked: true,
  unlocked: true,
  ephemeral: true,
  not_ephemeral: true,
  membership_approval_mode: true,
  member_add_mode: true,
  invite: true,
  created_membership_requests: true,
  revoked_membership_requests: true,
  link: true,
  unlink: true,
  delete: true,
};

/** The same of its picture. */
const PICTURE_CHANGES: Record<string, true> = { set: true, delete: true };

/**
 * Tells every device of some members of one change: `notification type=w:gp2`, or of a picture `type=picture`.
 *
 * @throws for a change that is not in the lists above
 */
export function tellOf(needs: Needs, group: Group, content: BinaryNode, audience: Audience): void {
  const { addressing } = group;
  const actor = audience.actor === undefined ? undefined : needs.world.account(audience.actor);
  const isPicture = audience.type === "picture";
  const known = isPicture ? PICTURE_CHANGES : GROUP_CHANGES;
  if (!known[content.tag]) throw new Error(`no change of a group is told of by <${content.tag}>`);
  const id = needs.nextId();
  for (const number of audience.told) {
    for (const device of listedDevices(needs.world.account(number))) {
      // People who were never online ask for the group before they write.
      if (device.account.kind === "contact" && !device.seen) continue;
      const attrs = {
        from: group.id,
        type: isPicture ? "picture" : "w:gp2",
        id,
        participant: actor && userJid(actor, addressing),
        participant_pn: actor && numberBeside(actor, addressing),
        participant_lid: actor && addressing === "pn" ? jidOf(actor.lid, LID_SERVER) : undefined,
        addressing_mode: addressing,
        notify: actor ? actor.name : "invite",
        t: needs.now(),
      };
      needs.deliver(device, element("notification", attrs, [content]));
    }
  }
}
