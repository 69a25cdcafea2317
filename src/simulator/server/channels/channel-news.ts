import type { ServiceBehaviour } from "../../surface/behaviour.ts";
import { element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { userJid } from "../../world/accounts.ts";
import type { Account } from "../../world/accounts.ts";
import { channelMetadata, roleIn, threadMetadata } from "./channel.ts";
import type { Channel } from "./channel.ts";

/** What has changed about a channel for somebody. */
export type ChannelNews =
  | { kind: "joined" | "left" | "muted" | "unmuted" | "metadata" | "state" }
  /** Of one of its admins, who may be the one that is told. */
  | { kind: "promoted" | "demoted"; user: Account; actor: Account };

/** The same under the names of both forms. */
interface Told {
  operation: string;
  field: string;
  data: Record<string, unknown>;
  /** What the form of the year before says beside the channel. */
  legacy: Record<string, unknown>;
}

/** The child of `notification type=mex`: `update@op_name`, or in the form of the year before `mex`. */
export function newsNode(
  { channelUpdates }: Pick<ServiceBehaviour, "channelUpdates">,
  channel: Channel,
  account: Account,
  news: ChannelNews,
): BinaryNode {
  const { operation, field, data, legacy } = describe(channel, account, news);
  if (!channelUpdates) {
    const updates = [{ jid: channel.id, ...legacy }];
    const name = operation.replace("AdminMetadata", "");
    return element("mex", {}, Buffer.from(JSON.stringify({ operation: name, updates })));
  }
  const answer = { data: { [field]: { id: channel.id, ...data } } };
  return element("update", { op_name: operation }, Buffer.from(JSON.stringify(answer)));
}

function describe(channel: Channel, account: Account, news: ChannelNews): Told {
  const told = (name: string, field: string, data: Told["data"], legacy: Told["legacy"] = {}): Told => ({
    operation: `NotificationNewsletter${name}`,
    field: `xwa2_notify_newsletter_${field}`,
    data,
    legacy,
  });
  switch (news.kind) {
    case "joined":
      return told("Join", "on_join", channelMetadata(channel, account));
    case "left":
      return told("Leave", "on_leave", { role: roleIn(channel, account) });
    case "muted":
    case "unmuted":
      return told("MuteChange", "on_mute_change", { mute: news.kind === "muted" ? "ON" : "OFF" });
    case "metadata": {
      const isAdmin = channel.admins.has(account.number);
      const [name, field] = isAdmin
        ? ["AdminMetadataUpdate", "on_admin_metadata_update"]
        : ["Update", "on_metadata_update"];
      const settings = { name: channel.name };
      return told(name!, field!, { thread_metadata: threadMetadata(channel) }, { settings });
    }
    case "state":
      return told("StateChange", "on_state_change", { is_requestor: false, state: { type: channel.state } });
    case "promoted":
    case "demoted": {
      const user = userJid(news.user, "lid");
      const [name, role] = news.kind === "promoted" ? ["Promote", "ADMIN"] : ["Demote", "SUBSCRIBER"];
      const actor = { id: userJid(news.actor, "lid") };
      const data = { user: { id: user }, actor, admin: actor, user_new_role: role };
      return told(`Admin${name}`, `admin_${name!.toLowerCase()}`, data, { user });
    }
  }
}
