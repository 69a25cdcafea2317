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
export interface Audience {
  /** Number; absent: nobody is named, as for those who follow an invite link. */
  actor?: string;
  /** Numbers. */
  told: Iterable<string>;
  type?: "w:gp2" | "picture";
}

/** Tells every device of some members of one change: `notification type=w:gp2`. */
export function tellOf(needs: Needs, group: Group, content: BinaryNode, audience: Audience): void {
  const { addressing } = group;
  const actor = audience.actor === undefined ? undefined : needs.world.account(audience.actor);
  const id = needs.nextId();
  for (const number of audience.told) {
    for (const device of listedDevices(needs.world.account(number))) {
      // People who were never online ask for the group before they write.
      if (device.account.kind === "contact" && !device.seen) continue;
      const attrs = {
        from: group.id,
        type: audience.type ?? "w:gp2",
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
