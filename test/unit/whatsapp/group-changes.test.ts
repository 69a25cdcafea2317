import type { BinaryNode } from "@whiskeysockets/baileys";
import { describe, expect, it } from "vitest";
import { changed } from "../../../src/whatsapp/groups/changed-group.ts";
import { readGroupChanges } from "../../../src/whatsapp/groups/group-changes.ts";
import type { GroupInfo } from "../../../src/whatsapp/port.ts";

const OWN = { pn: "31600000001@s.whatsapp.net", lid: "100@lid" };
const GROUP = "1@g.us";

const member = (lid: string, number: string, admin = false): GroupInfo["participants"][number] => ({
  id: `${lid}@lid`,
  number,
  lid: `${lid}@lid`,
  admin,
});

const ana = member("200", "31600000002", true);
const group: GroupInfo = {
  id: GROUP,
  subject: "Team",
  participants: [member("100", "31600000001"), ana],
  size: 2,
  announce: false,
  community: false,
  announcements: false,
  addressing: "lid",
  ephemeral: 0,
  version: "1",
};

/** What the group is after a notification of one change. */
function after(
  author: Record<string, string>,
  participants: Record<string, string>[],
  versions: Record<string, string> = { v_id: "2", prev_v_id: "1" },
): GroupInfo | null {
  const content: BinaryNode[] = participants.map((attrs) => ({ tag: "participant", attrs }));
  const notification = {
    tag: "notification",
    attrs: { from: GROUP, ...author },
    content: [{ tag: "modify", attrs: versions, content }],
  };
  const [change] = readGroupChanges(notification, OWN);
  return changed(group, change!);
}

const ANA = { participant: "200@lid", participant_pn: "31600000002@s.whatsapp.net" };
const LATER = { jid: "300@lid", phone_number: "31600000003@s.whatsapp.net" };

describe("a member with another number", () => {
  it.each([
    ["another LID", LATER, "300@lid"],
    ["the LID of before", { ...LATER, jid: "200@lid" }, "200@lid"],
  ])("and %s takes the place and the role", (_, now, id) => {
    const { participants, ...rest } = after(ANA, [now])!;

    expect(participants[1]).toEqual({ id, number: "31600000003", lid: id, admin: true });
    expect(participants).toHaveLength(2);
    expect(rest).toMatchObject({ size: 2, version: "2" });
  });

  it.each([
    ["nobody is named who had it before", {}, [LATER], undefined],
    ["somebody is named who is not in the list", { participant: "999@lid" }, [LATER], undefined],
    ["several are named", ANA, [LATER, { jid: "400@lid" }], undefined],
    ["it is named by the other kind of address", ANA, [{ jid: "31600000003@s.whatsapp.net" }], undefined],
    ["something was missed before", ANA, [LATER], { v_id: "3", prev_v_id: "2" }],
    ["no version is named", ANA, [LATER], {}],
    ["it is oneself", { participant: "100@lid" }, [LATER], undefined],
    ["oneself is who is there now", ANA, [{ jid: "100@lid" }], undefined],
  ])("has the group asked for when %s", (_, author, participants, versions) => {
    expect(after(author, participants, versions)).toBeNull();
  });
});

it("a group suggested to a community by somebody with another number changes nothing", () => {
  const suggestion = { tag: "sub_group_suggestion", attrs: { jid: "2@g.us" } };
  const content = [{ tag: "change_number", attrs: { jid: "300@lid" }, content: [suggestion] }];
  const notification = { tag: "notification", attrs: { from: GROUP, ...ANA }, content };

  expect(readGroupChanges(notification, OWN)).toEqual([{ id: GROUP, kind: "nothing" }]);
});
