import { element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import type { LidChangeNews } from "../../surface/accounts.ts";
import { listedDevices, userJid } from "../../world/accounts.ts";
import type { Account } from "../../world/accounts.ts";
import { LID_SERVER, SERVER_JID, jidOf } from "../../world/jid.ts";
import type { World } from "../../world/world.ts";
import { participantHash } from "../messages/phash.ts";
import type { Deliveries, Stamps } from "../ports.ts";

interface Needs extends Stamps, Deliveries {
  world: World;
}

/** People whose LID is another one from now on. What is written to the old one still arrives, with `refresh_lid` on its ack. */
export interface LidChanges {
  /** @param news how everybody hears of it who has asked for the account's devices, besides by acks */
  move(account: Account, lid: string, news: LidChangeNews): void;
}

/** Moves LIDs and tells of it. */
export function createLidChanges(needs: Needs): LidChanges {
  return {
    move(account, lid, news) {
      const before = account.lid;
      needs.world.moveLid(account, lid);
      if (news === "ack") return;
      const told = news === "contacts" ? numberKept(needs, account, before) : devicesUpdated(needs, account);
      for (const number of account.watchers)
        for (const device of listedDevices(needs.world.account(number)))
          needs.deliver(device, { ...told, attrs: { ...told.attrs, id: needs.nextId() } });
    },
  };
}

/** As when somebody moves to another number, and both are the same. */
function numberKept({ now }: Needs, account: Account, before: string): BinaryNode {
  const pn = userJid(account, "pn");
  const change = { old: pn, new: pn, old_lid: jidOf(before, LID_SERVER), new_lid: userJid(account, "lid") };
  return element("notification", { from: SERVER_JID, type: "contacts", t: now() }, [
    element("modify", change),
  ]);
}

/** The stanza names both addresses; the devices are to be asked for. */
function devicesUpdated({ now }: Needs, account: Account): BinaryNode {
  const attrs = { from: userJid(account, "pn"), lid: userJid(account, "lid"), type: "devices", t: now() };
  const hash = participantHash(listedDevices(account), "pn", { wholePhash: true });
  return element("notification", attrs, [element("update", { hash })]);
}
