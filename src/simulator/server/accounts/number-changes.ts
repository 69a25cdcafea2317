import { element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { listedDevices, userJid } from "../../world/accounts.ts";
import type { Account } from "../../world/accounts.ts";
import { SERVER_JID } from "../../world/jid.ts";
import type { World } from "../../world/world.ts";
import type { Groups } from "../groups/index.ts";
import type { Deliveries, Stamps } from "../ports.ts";

interface Needs extends Stamps, Deliveries {
  world: World;
  groups: Pick<Groups, "replaceMember" | "moveSuggestions">;
}

/** People who go on under another number. */
export interface NumberChanges {
  /**
   * Puts the new account in the place of the old one, which is nobody's from then on, and tells those whom it concerns.
   *
   * @param suggested groups that the old one has suggested to a community
   */
  move(before: Account, after: Account, suggested?: { community: string; groups: string[] }): void;
}

/** Moves people to other numbers. Sources: whatsapp-rust `learn_contact_modify_mappings`, `GroupNotificationAction`. */
export function createNumberChanges(needs: Needs): NumberChanges {
  const { world, groups } = needs;
  return {
    move(before, after, suggested) {
      if (suggested)
        groups.moveSuggestions(
          world.group(suggested.community),
          suggested.groups,
          before.number,
          after.number,
        );
      for (const group of world.groupsOf(before.number))
        groups.replaceMember(group, before.number, after.number);
      for (const number of before.watchers)
        for (const device of listedDevices(world.account(number)))
          if (device.account.kind === "owner" || device.seen)
            needs.deliver(device, bothPairs(needs, before, after));
      world.removeAccount(before);
    },
  };
}

function bothPairs({ now, nextId }: Stamps, before: Account, after: Account): BinaryNode {
  const change = {
    old: userJid(before, "pn"),
    new: userJid(after, "pn"),
    old_lid: userJid(before, "lid"),
    new_lid: userJid(after, "lid"),
  };
  return element("notification", { from: SERVER_JID, type: "contacts", id: nextId(), t: now() }, [
    element("modify", change),
  ]);
}
