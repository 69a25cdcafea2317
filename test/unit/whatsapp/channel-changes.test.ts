import { describe, expect, it } from "vitest";
import { readChannelChanges } from "../../../src/whatsapp/receive/channel-changes.ts";

const OWN = { pn: "3160@s.whatsapp.net", lid: "900@lid" };
const ID = "120363000000000001@newsletter";

const update = (field: string, data: object) => ({
  tag: "update",
  attrs: { op_name: "NotificationNewsletterWhatever" },
  content: Buffer.from(
    JSON.stringify({ data: { [`xwa2_notify_newsletter_${field}`]: { id: ID, ...data } } }),
  ),
});
const list = (operation: string, more: object) => ({
  tag: "mex",
  attrs: {},
  content: Buffer.from(JSON.stringify({ operation, updates: [{ jid: ID, ...more }] })),
});
const read = (child: { tag: string; attrs: Record<string, string>; content: string | Uint8Array }) =>
  readChannelChanges({ tag: "notification", attrs: {}, content: [child] }, OWN);

describe("news of channels", () => {
  it.each([
    ["on_join", { viewer_metadata: { role: "SUBSCRIBER" } }, [{ id: ID, role: "subscriber" }]],
    ["on_join", {}, [{ id: ID, unknown: true }]],
    ["on_leave", { role: "GUEST" }, [{ id: ID, role: "guest" }]],
    ["on_mute_change", { mute: "ON" }, []],
    ["on_metadata_update", { thread_metadata: { name: { text: "Olds" } } }, [{ id: ID, name: "Olds" }]],
    ["on_admin_metadata_update", { thread_metadata: { name: "Olds" } }, [{ id: ID, name: "Olds" }]],
    ["on_metadata_update", { thread_metadata: { picture: null } }, [{ id: ID, unknown: true }]],
    ["on_state_change", { state: { type: "DELETED" } }, [{ id: ID, deleted: true }]],
    ["on_state_change", { state: { type: "SUSPENDED" } }, [{ id: ID, unknown: true }]],
    ["admin_promote", { user: { id: "900@lid" }, user_new_role: "ADMIN" }, [{ id: ID, role: "admin" }]],
    [
      "admin_demote",
      { user: { id: "3160@s.whatsapp.net" }, user_new_role: "SUBSCRIBER" },
      [{ id: ID, role: "subscriber" }],
    ],
    ["admin_promote", { user: { id: "901@lid" }, user_new_role: "ADMIN" }, [{ id: ID }]],
    ["admin_promote", {}, [{ id: ID, unknown: true }]],
    ["on_something_new", {}, [{ id: ID, unknown: true }]],
  ])("of today: %s %j", (field, data, changes) => {
    expect(read(update(field, data))).toEqual(changes);
  });

  it.each([
    ["NotificationNewsletterUpdate", { settings: { name: "Olds" } }, [{ id: ID, name: "Olds" }]],
    ["NotificationNewsletterAdminPromote", { user: "900@lid" }, [{ id: ID, role: "admin" }]],
    ["NotificationNewsletterAdminDemote", { user: "900@lid" }, [{ id: ID, role: "subscriber" }]],
    ["NotificationNewsletterAdminDemote", { user: "901@lid" }, [{ id: ID }]],
    ["NotificationNewsletterStateChange", {}, [{ id: ID, unknown: true }]],
  ])("of the year before: %s %j", (operation, more, changes) => {
    expect(read(list(operation, more))).toEqual(changes);
  });

  it.each(["", "{", "null", "[]", '"x"', '{"data":null}', '{"data":{"xwa2_notify_newsletter_on_join":7}}'])(
    "that make no sense are none: %s",
    (content) => {
      expect(read({ tag: "update", attrs: {}, content: Buffer.from(content) })).toEqual([]);
      expect(read({ tag: "mex", attrs: {}, content: Buffer.from(content) })).toEqual([]);
    },
  );

  it("are not what is said of a lock, or of something that is no channel", () => {
    const lock = { data: { xwa2_notify_account_reachout_timelock: { is_active: true } } };
    expect(read({ tag: "update", attrs: {}, content: Buffer.from(JSON.stringify(lock)) })).toEqual([]);
    expect(read(update("on_leave", { id: "12@g.us" }))).toEqual([]);
  });
});
