import type { Random } from "../../random.ts";
import type { ServiceBehaviour } from "../../surface/behaviour.ts";
import type { GroupChange } from "../../surface/groups.ts";
import type { Time } from "../../time.ts";
import { element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { userJid } from "../../world/accounts.ts";
import type { Group, World } from "../../world/world.ts";
import { approvalNode, numberBeside } from "./node.ts";
import type { NoticeType } from "./notices.ts";
import { nextVersion } from "./versions.ts";

interface Needs {
  world: World;
  random: Random;
  time: Time;
  behaviour: ServiceBehaviour;
}

/** A change that was made, as members hear of it. */
interface Made {
  node: BinaryNode;
  type?: NoticeType;
}

type Setting = keyof GroupChange;

/** One kind of change each: makes it, and says what members are told. */
const settings: Partial<
  Record<Setting, (needs: Needs, group: Group, change: GroupChange, actor: string) => Made>
> = {
  announce(needs, group, { announce = false }) {
    group.announce = announce;
    group.versions.announcement = nextVersion(needs, group.versions.announcement);
    const version = needs.behaviour.groupVersions ? String(group.versions.announcement) : undefined;
    return { node: element(announce ? "announcement" : "not_announcement", { v_id: version }) };
  },
  locked(_needs, group, { locked = false }) {
    group.locked = locked;
    return { node: element(locked ? "locked" : "unlocked") };
  },
  subject({ world, time }, group, { subject = "" }, actor) {
    Object.assign(group, { subject, subjectAt: secondsOf(time), subjectBy: actor });
    const namer = world.account(actor);
    const attrs = {
      subject,
      s_t: String(group.subjectAt),
      s_o: userJid(namer, group.addressing),
      s_o_pn: numberBeside(namer, group.addressing),
    };
    return { node: element("subject", attrs) };
  },
  description({ random, time }, group, { description: text = "" }, actor) {
    const id = random
      .fork(`description:${group.id}:${text}:${time.now()}`)
      .bytes(4)
      .toString("hex")
      .toUpperCase();
    return describe(group, { id, text, at: secondsOf(time), by: actor });
  },
  ephemeral(_needs, group, { ephemeral = 0 }) {
    group.ephemeral = ephemeral || undefined;
    const node = ephemeral
      ? element("ephemeral", { expiration: String(ephemeral), trigger: "1" })
      : element("not_ephemeral");
    return { node };
  },
  approval(_needs, group, { approval = false }) {
    group.approval = approval;
    return { node: approvalNode(approval) };
  },
  memberAddMode(_needs, group, { memberAddMode = "admin_add" }) {
    group.memberAddMode = memberAddMode;
    return { node: element("member_add_mode", {}, Buffer.from(memberAddMode)) };
  },
  picture({ world, time }, group, { picture = false }, actor) {
    return setPicture(world, group, picture ? { id: String(secondsOf(time)) } : undefined, actor);
  },
  revokeInvite({ random, time }, group) {
    group.revokedInvites.add(group.invite);
    group.invite = newInvite(random, `${group.id}:${group.revokedInvites.size}:${time.now()}`);
    return { node: element("invite", { code: group.invite }) };
  },
};

const secondsOf = (time: Time): number => Math.floor(time.now() / 1000);

/** Gives a group another picture, or none any more. */
export function setPicture(world: World, group: Group, picture: Group["picture"], actor: string): Made {
  group.picture = picture;
  const author = userJid(world.account(actor), group.addressing);
  const attrs = { jid: group.id, id: picture?.id, author };
  return { node: element(picture ? "set" : "delete", attrs), type: "picture" };
}

/** Changes what is said of a group; an empty text removes it. */
export function describe(group: Group, description: NonNullable<Group["description"]>): Made {
  const { id, text } = description;
  group.description = text === "" ? undefined : description;
  const body = text === "" ? element("delete") : element("body", {}, Buffer.from(text));
  return { node: element("description", { id }, [body]) };
}

/** A code of an invite link: 22 letters and digits. */
export function newInvite(random: Random, label: string): string {
  return random.fork(`invite:${label}`).bytes(24).toString("base64").replaceAll(/[+/=]/g, "").slice(0, 22);
}

/** Makes all changes of settings that are named, and gives what members are told, in the order of the table. */
export function changeSettings(needs: Needs, group: Group, change: GroupChange, actor: string): Made[] {
  return Object.entries(settings)
    .filter(([name]) => change[name as Setting] !== undefined)
    .map(([, make]) => make(needs, group, change, actor));
}
