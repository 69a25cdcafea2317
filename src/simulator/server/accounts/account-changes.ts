import { createHash } from "node:crypto";
import type { MediaStore } from "../../media/store.ts";
import type { BusinessProfile, PrivacyName } from "../../surface/profiles.ts";
import { element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { listedDevices, userJid } from "../../world/accounts.ts";
import type { Account, Device } from "../../world/accounts.ts";
import type { Picture, Profiles } from "../../world/profiles.ts";
import type { World } from "../../world/world.ts";
import type { Deliveries, Stamps } from "../ports.ts";

interface Needs extends Deliveries, Stamps {
  world: World;
  profiles: Profiles;
  media: MediaStore;
}

/** Changes of what an account shows, and of what it allows: made, and told to those who are told. `by`: the device, which knows. */
export interface AccountChanges {
  picture(account: Account, bytes: Uint8Array | null, by?: Device): Picture | undefined;
  privacy(account: Account, name: PrivacyName, value: string, by?: Device): void;
  block(account: Account, other: Account, action: "block" | "unblock", by?: Device): void;
  business(account: Account, profile: BusinessProfile): void;
}

/** Tells own companions by `account_sync`, and whoever knows the account by a notification of its own. Source: whatsmeow `notification.go`. */
export function createAccountChanges(needs: Needs): AccountChanges {
  const { world, profiles, media, deliver, now, nextId } = needs;

  function tellOwn(account: Account, about: BinaryNode, by: Device | undefined): void {
    for (const device of account.devices.values()) {
      if (device === by || device.id === 0) continue;
      const attrs = { from: userJid(account, "pn"), type: "account_sync", id: nextId(), t: now() };
      deliver(device, element("notification", attrs, [about]));
    }
  }

  function tellOthers(account: Account, type: string, about: BinaryNode): void {
    const from = userJid(account, account.addressing);
    for (const number of account.watchers)
      for (const device of listedDevices(world.account(number)))
        if (device.account !== account && (device.account.kind === "owner" || device.seen))
          deliver(device, element("notification", { from, type, id: nextId(), t: now() }, [about]));
  }

  return {
    picture(account, bytes, by) {
      const profile = profiles.of(account.number);
      const jid = userJid(account, account.addressing);
      profile.picture = bytes === null ? undefined : storedPicture(media, bytes, nextId());
      const { picture } = profile;
      const about = picture
        ? element("set", { jid, id: picture.id, author: jid })
        : element("delete", { jid, author: jid });
      tellOwn(account, element("picture", { id: picture?.id }), by);
      tellOthers(account, "picture", about);
      return picture;
    },
    privacy(account, name, value, by) {
      profiles.of(account.number).privacy.set(name, value);
      tellOwn(account, element("privacy", {}, [element("category", { name, value })]), by);
    },
    block(account, other, action, by) {
      const { blocked } = profiles.of(account.number);
      const before = blockHash(blocked);
      if (action === "block") blocked.add(other.number);
      else blocked.delete(other.number);
      const item = element("item", { jid: userJid(other, "lid"), action });
      const attrs = { action: "modify", prev_dhash: before, dhash: blockHash(blocked) };
      tellOwn(account, element("blocklist", attrs, [item]), by);
    },
    business(account, profile) {
      profiles.of(account.number).business = profile;
    },
  };
}

/** What tells two lists of blocked people apart. */
export const blockHash = (blocked: ReadonlySet<string>): string =>
  createHash("sha256")
    .update([...blocked].toSorted().join(","))
    .digest("base64")
    .slice(0, 8);

/** Puts a picture where phones load it from. */
export function storedPicture(media: MediaStore, bytes: Uint8Array, id: string): Picture {
  const { directPath } = media.put("pps", bytes);
  return { id, directPath, hash: createHash("sha256").update(bytes).digest("base64") };
}
