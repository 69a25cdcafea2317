import type { BinaryNode } from "@whiskeysockets/baileys";
import type { OwnIds } from "../addresses.ts";
import { isChannel, withoutDevice } from "../jids.ts";
import { childrenOf } from "../nodes.ts";
import { CHANNEL_ROLES, type ChannelChange, type ChannelInfo } from "../port.ts";

type Data = Record<string, unknown>;

const ROLES: readonly string[] = CHANNEL_ROLES;
const FIELD = "xwa2_notify_newsletter_";

/**
 * What `notification type=mex` says of channels, each change by itself: `update` with the answer of a query, or in the form of 2025
 * `mex` with an operation and a list. Nothing for what is about something else.
 *
 * Sources: whatsmeow `handleMexNotification`; WhatsApp Web's handlers by operation.
 */
export function readChannelChanges(notification: BinaryNode, own: OwnIds): ChannelChange[] {
  return childrenOf(notification).flatMap(({ tag, content }) => {
    if (typeof content !== "string" && !(content instanceof Uint8Array)) return [];
    const said = parse(content);
    if (tag === "mex") return readList(said, own);
    const fields = Object.entries(asData(said.data)).filter(([name]) => name.startsWith(FIELD));
    return fields.flatMap(([name, value]) => readUpdate(name.slice(FIELD.length), asData(value), own));
  });
}

function parse(content: string | Uint8Array): Data {
  try {
    return asData(JSON.parse(Buffer.from(content as string).toString("utf8")));
  } catch {
    return {};
  }
}

const asData = (value: unknown): Data =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Data) : {};
const asText = (value: unknown): string => (typeof value === "string" ? value : "");

function readUpdate(field: string, update: Data, own: OwnIds): ChannelChange[] {
  const id = asText(update.id);
  if (!isChannel(id)) return [];
  const name = nameIn(update);
  const role = roleOf(asData(update.viewer_metadata).role);
  switch (field) {
    case "on_join":
      return [{ id, ...name, ...(role ? { role } : { unknown: true }) }];
    case "on_leave":
      return [{ id, role: "guest" }];
    case "on_state_change":
      return [
        asText(asData(update.state).type).toUpperCase() === "DELETED"
          ? { id, deleted: true }
          : { id, unknown: true },
      ];
    case "admin_promote":
    case "admin_demote":
      return [{ id, ...ownRole(asText(asData(update.user).id), roleOf(update.user_new_role), own) }];
    case "on_mute_change":
    case "on_user_setting_change":
      return [];
    default:
      return [name ? { id, ...name } : { id, unknown: true }];
  }
}

/** What somebody else is in a channel is not kept. */
function ownRole(
  user: string,
  role: ChannelInfo["role"] | null,
  own: OwnIds,
): Pick<ChannelChange, "role" | "unknown"> {
  const who = withoutDevice(user);
  if (who !== "" && who !== own.pn && who !== own.lid) return {};
  return who === "" || role === null ? { unknown: true } : { role };
}

function roleOf(value: unknown): ChannelInfo["role"] | null {
  const role = asText(value).toLowerCase();
  return ROLES.includes(role) ? (role as ChannelInfo["role"]) : null;
}

function nameIn(update: Data): { name: string } | null {
  const { name } = asData(update.thread_metadata);
  const text = asText(name) || asText(asData(name).text);
  return text === "" ? null : { name: text };
}

/** `{operation, updates: [{jid, user | settings}]}` */
function readList({ operation, updates }: Data, own: OwnIds): ChannelChange[] {
  if (!Array.isArray(updates)) return [];
  return updates.map(asData).flatMap((update): ChannelChange[] => {
    const id = asText(update.jid);
    if (!isChannel(id)) return [];
    if (operation === "NotificationNewsletterAdminPromote")
      return [{ id, ...ownRole(asText(update.user), "admin", own) }];
    if (operation === "NotificationNewsletterAdminDemote")
      return [{ id, ...ownRole(asText(update.user), "subscriber", own) }];
    const name = asText(asData(update.settings).name);
    return [name === "" ? { id, unknown: true } : { id, name }];
  });
}
