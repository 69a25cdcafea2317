import type { BinaryNode } from "@whiskeysockets/baileys";
import { expect, it } from "vitest";
import { child, children, text } from "../../src/simulator/inside.ts";
import { link, simulate, until, type Client } from "./_setup.ts";

const NUMBER = "31600000001";
const ANN = "31611111111";

/** What a client is told of channels: the name of the operation, and what it says. */
function newsOf(client: Client): { operation: string; data: any }[] {
  const news: { operation: string; data: any }[] = [];
  client.socket.ws.on("CB:notification,type:mex", (notification: BinaryNode) => {
    for (const node of children(notification)) {
      const said = JSON.parse(text(node)!) as { data?: Record<string, unknown>; operation?: string };
      const operation = node.attrs.op_name ?? said.operation ?? "";
      news.push({ operation, data: said.data ?? said });
    }
  });
  return news;
}

it("tells companions of channels as answers of queries, under the names of operations", async () => {
  const sim = await simulate();
  const { lid } = await sim.addNumber(NUMBER);
  await sim.addContact(ANN);
  const client = await link(sim, NUMBER);
  const news = newsOf(client);
  const { id } = await sim.addChannel({ name: "City news", admins: [ANN] });

  await sim.changeChannel(id, { follow: [NUMBER] });
  await sim.changeChannel(id, { name: "Town news" });
  await sim.changeChannel(id, { mute: [NUMBER] });
  await sim.changeChannel(id, { addAdmins: [NUMBER] });
  await sim.changeChannel(id, { picture: true });
  await sim.changeChannel(id, { state: "suspended" });
  await sim.changeChannel(id, { removeAdmins: [NUMBER] });
  await sim.changeChannel(id, { unfollow: [NUMBER] });
  await until("all news", () => news.length === 8);

  expect(news.map(({ operation }) => operation.replace("NotificationNewsletter", ""))).toEqual([
    "Join",
    "Update",
    "MuteChange",
    "AdminPromote",
    "AdminMetadataUpdate",
    "StateChange",
    "AdminDemote",
    "Leave",
  ]);
  const said = Object.assign({}, ...news.map(({ data }) => data)) as Record<string, unknown>;
  expect(said).toMatchObject({
    xwa2_notify_newsletter_on_join: { id, viewer_metadata: { role: "SUBSCRIBER" } },
    xwa2_notify_newsletter_on_metadata_update: { id, thread_metadata: { name: { text: "Town news" } } },
    xwa2_notify_newsletter_on_mute_change: { id, mute: "ON" },
    xwa2_notify_newsletter_admin_promote: { id, user: { id: lid }, user_new_role: "ADMIN" },
    xwa2_notify_newsletter_on_admin_metadata_update: { id, thread_metadata: { picture: { type: "IMAGE" } } },
    xwa2_notify_newsletter_on_state_change: { id, state: { type: "SUSPENDED" } },
    xwa2_notify_newsletter_admin_demote: { id, user: { id: lid }, user_new_role: "SUBSCRIBER" },
    xwa2_notify_newsletter_on_leave: { id, role: "GUEST" },
  });
});

it("told of them as lists of updates the year before, which the library reads", async () => {
  const sim = await simulate({ behaviour: { channelUpdates: false } });
  const { lid } = await sim.addNumber(NUMBER);
  const client = await link(sim, NUMBER);
  const names: unknown[] = [];
  const roles: unknown[] = [];
  client.socket.ev.on("newsletter-settings.update", ({ update }) => names.push(update.name));
  client.socket.ev.on("newsletter-participants.update", ({ user, action }) => roles.push({ user, action }));
  const { id } = await sim.addChannel({ name: "City news", followers: [NUMBER] });

  await sim.changeChannel(id, { name: "Town news", addAdmins: [NUMBER] });

  await until("both", () => names.length > 0 && roles.length > 0);
  expect(names).toEqual(["Town news"]);
  expect(roles).toEqual([{ user: lid, action: "promote" }]);
});

it("tells those who look at a channel what its posts gather", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  await sim.addContact(ANN);
  const client = await link(sim, NUMBER);
  const updates: BinaryNode[] = [];
  client.socket.ws.on("CB:notification,type:newsletter", (node: BinaryNode) => updates.push(node));
  const { id } = await sim.addChannel({ name: "City news", followers: [NUMBER, ANN] });
  const { serverId } = await sim.postInChannel(id, "Rain tomorrow.");

  await sim.reactInChannel(id, serverId, ANN, "☔");
  await client.socket.subscribeNewsletterUpdates(id);
  await client.socket.newsletterReactMessage(id, String(serverId), "☔");
  await until("an update", () => updates.length > 0);

  expect(updates).toHaveLength(1);
  const message = child(child(child(updates[0], "live_updates"), "messages"), "message")!;
  expect(message.attrs.server_id).toBe(String(serverId));
  expect(children(child(message, "reactions")).map(({ attrs }) => attrs)).toEqual([
    { code: "☔", count: "2" },
  ]);
});

it("a deleted channel cannot be found", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const client = await link(sim, NUMBER);
  const { id } = await sim.addChannel({ name: "City news", followers: [NUMBER] });

  await sim.changeChannel(id, { state: "deleted" });

  await expect(client.socket.newsletterMetadata("jid", id)).rejects.toThrow("Not Found");
});
