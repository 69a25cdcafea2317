import type { MediaStore } from "../../media/store.ts";
import type { BusinessProfile } from "../../surface/profiles.ts";
import { bytes, child, element, text } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import type { Picture, Profiles } from "../../world/profiles.ts";
import type { World } from "../../world/world.ts";
import { storedPicture, type AccountChanges } from "../accounts/account-changes.ts";
import type { Groups } from "../groups/index.ts";
import { IqError } from "../iq-error.ts";
import type { Stamps } from "../ports.ts";
import { editableGroup } from "./group-rights.ts";
import type { IqHandler, IqRequest } from "./handler.ts";

interface Needs extends Pick<Stamps, "nextId"> {
  world: World;
  profiles: Profiles;
  accountChanges: AccountChanges;
  groups: Pick<Groups, "setPicture">;
  media: MediaStore;
}

/** Pictures, texts under names, and what businesses say of themselves. Source: whatsmeow `user.go`. */
export const createProfileHandlers = (needs: Needs): IqHandler[] => [
  {
    xmlns: "w:profile:picture",
    type: "get",
    answer: ({ iq, body }) => pictureOf(needs, iq.attrs.target ?? "", body),
  },
  {
    xmlns: "w:profile:picture",
    type: "set",
    answer(request) {
      const picture = setPicture(needs, request);
      return picture ? [element("picture", { id: picture.id })] : [];
    },
  },
  {
    xmlns: "status",
    type: "set",
    answer({ device, body }) {
      needs.profiles.of(device.account.number).status = text(body) ?? "";
      return [];
    },
  },
  {
    xmlns: "w:biz",
    type: "get",
    child: "business_profile",
    answer: ({ body }) => [businessOf(needs, child(body, "profile")?.attrs.jid ?? "")],
  },
  { xmlns: "disappearing_mode", type: "set", answer: () => [] },
];

const JPEG = Buffer.from([0xff, 0xd8, 0xff]);

/** One's own, or that of a group, by those who may change what is said of it. Without a picture it is taken away. */
function setPicture(needs: Needs, request: IqRequest): Picture | undefined {
  const { device, iq, body } = request;
  const file = bytes(body);
  if (file && !JPEG.equals(file.subarray(0, JPEG.length))) throw new IqError(406, "not-acceptable");
  if (!iq.attrs.target) return needs.accountChanges.picture(device.account, file ?? null, device);
  const group = editableGroup(needs, request);
  const picture = file && storedPicture(needs.media, file, needs.nextId());
  needs.groups.setPicture(group, picture, device.account.number);
  return picture;
}

function pictureOf({ world, profiles, media }: Needs, target: string, asked: BinaryNode): BinaryNode[] {
  const account = world.find(target);
  const profile = account && profiles.known(account.number);
  if (profile?.privacy.get("profile") === "none") throw new IqError(401, "not-authorized");
  const picture = profile?.picture ?? world.groups.get(target)?.picture;
  if (!picture?.directPath) throw new IqError(404, "item-not-found");
  // Whoever has it already is given nothing.
  if (asked.attrs.id === picture.id) return [];
  const { id, directPath, hash } = picture;
  const { type = "image" } = asked.attrs;
  return [
    element("picture", { id, type, url: `${media.origin}${directPath}`, direct_path: directPath, hash }),
  ];
}

function businessOf({ world, profiles }: Needs, jid: string): BinaryNode {
  const account = world.find(jid);
  const business = account && profiles.known(account.number)?.business;
  return element("business_profile", { v: "244" }, business ? [profileNode(jid, business)] : []);
}

function profileNode(jid: string, business: BusinessProfile): BinaryNode {
  const { description, address, email, website, category, hours } = business;
  const lines = Object.entries({ address, description, website, email });
  const days = hours?.days.map(({ day, open, close }) => {
    const attrs = {
      day_of_week: day,
      mode: "specific_hours",
      open_time: String(open),
      close_time: String(close),
    };
    return element("business_hours_config", attrs);
  });
  return element("profile", { jid, tag: "1" }, [
    ...lines.flatMap(([tag, value]) => (value === undefined ? [] : [element(tag, {}, value)])),
    ...(category ? [element("categories", {}, [element("category", { id: "1" }, category)])] : []),
    ...(hours ? [element("business_hours", { timezone: hours.timezone }, days)] : []),
  ]);
}
