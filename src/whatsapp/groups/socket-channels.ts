import type { WASocket } from "@whiskeysockets/baileys";
import { CHANNEL_ROLES, type ChannelInfo } from "../port.ts";

/** Channels, which WhatsApp's protocol calls newsletters. */
export interface Channels {
  /** Null when there is no such channel. Rejects when WhatsApp does not answer. */
  find(by: { invite: string } | { id: string }): Promise<ChannelInfo | null>;
  follow(id: string): Promise<void>;
  unfollow(id: string): Promise<void>;
}

/** What WhatsApp answers; the library's own type shows another shape than the service sends. */
interface Metadata {
  id?: string;
  state?: { type?: string } | null;
  thread_metadata?: { name?: { text?: string } | string | null } | null;
  viewer_metadata?: { role?: string } | null;
}

const NOT_FOUND = new Set([404, 410]);
const ROLES: readonly string[] = CHANNEL_ROLES;

/** Channels as one connection can ask for them; nothing is remembered. */
export function createChannels(socket: WASocket): Channels {
  return {
    async find(by) {
      const [type, key] = "invite" in by ? (["invite", by.invite] as const) : (["jid", by.id] as const);
      try {
        return readChannel((await socket.newsletterMetadata(type, key)) as Metadata | null);
      } catch (error) {
        if (NOT_FOUND.has(codeOf(error))) return null;
        throw error;
      }
    },
    async follow(id) {
      await socket.newsletterFollow(id);
    },
    async unfollow(id) {
      await socket.newsletterUnfollow(id);
    },
  };
}

function readChannel(metadata: Metadata | null): ChannelInfo | null {
  if (!metadata?.id || metadata.state?.type?.toUpperCase() === "DELETED") return null;
  const { id, thread_metadata: thread, viewer_metadata: viewer } = metadata;
  const name = typeof thread?.name === "string" ? thread.name : (thread?.name?.text ?? "");
  const role = viewer?.role?.toLowerCase() ?? "";
  return { id, name, role: ROLES.includes(role) ? (role as ChannelInfo["role"]) : "guest" };
}

/** WhatsApp's code: of the query itself, or of the GraphQL error in its answer. */
function codeOf(error: unknown): number {
  const { data, output } = error as { data?: unknown; output?: { statusCode?: number } };
  if (typeof data === "number") return data;
  const extensions = (data as { extensions?: { error_code?: unknown } } | null)?.extensions;
  return Number(extensions?.error_code ?? output?.statusCode ?? 0);
}
