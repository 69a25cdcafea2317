import type { proto } from "@whiskeysockets/baileys";
import { baileys } from "../baileys.ts";

/** After how long messages of a chat disappear; both are 0 where they stay. */
export interface ChatTimer {
  seconds: number;
  /** When it was set, Unix seconds: of two settings the later one counts. */
  since: number;
}

/** Longer than WhatsApp offers: what is beyond is no setting of a chat. */
const LONGEST_SECONDS = 366 * 24 * 3600;
/** Some clients write milliseconds. */
const FIRST_MILLISECONDS = 10_000_000_000;

/**
 * The setting of its chat that a message tells of: it changes it, or was written under it. Null when it says nothing. Only what
 * changes it says that messages stay; a message without an expiry says nothing, kinds without a context have none.
 *
 * @param at when the message was written, Unix seconds: no setting is newer than what tells of it
 */
export function timerIn(message: proto.IMessage, at: number): ChatTimer | null {
  const content = baileys.normalizeMessageContent(message);
  if (!content) return null;
  const { EPHEMERAL_SETTING } = baileys.proto.Message.ProtocolMessage.Type;
  const { protocolMessage } = content;
  if (protocolMessage?.type === EPHEMERAL_SETTING)
    return timer(protocolMessage.ephemeralExpiration ?? 0, protocolMessage.ephemeralSettingTimestamp, at);
  const context = contextIn(baileys.extractMessageContent(content) ?? content);
  const { expiration, ephemeralSettingTimestamp } = context ?? {};
  return expiration ? timer(expiration, ephemeralSettingTimestamp, at) : null;
}

/** What a message says of its chat's setting; undefined in a chat whose messages stay. Source: zapo `WaMessageDispatchCoordinator`. */
export function timerContext({ seconds, since }: ChatTimer): proto.IContextInfo | undefined {
  if (seconds === 0) return undefined;
  const { Initiator, Trigger } = baileys.proto.DisappearingMode;
  return {
    expiration: seconds,
    // Groups say neither when it was set nor why.
    ...(since > 0 && { ephemeralSettingTimestamp: since }),
    disappearingMode: {
      initiator: Initiator.CHANGED_IN_CHAT,
      ...(since > 0 && { trigger: Trigger.CHAT_SETTING }),
    },
  };
}

function timer(
  seconds: number,
  timestamp: proto.IContextInfo["ephemeralSettingTimestamp"],
  at: number,
): ChatTimer | null {
  if (seconds < 0 || seconds > LONGEST_SECONDS) return null;
  const told = baileys.toNumber(timestamp ?? undefined);
  const since = told > FIRST_MILLISECONDS ? Math.floor(told / 1000) : told;
  return { seconds, since: Math.max(1, since > 0 ? Math.min(since, at) : at) };
}

/** A setting of the time before. @param since Unix seconds, or milliseconds; 0: it is not said. @returns null for what is none */
export const timerSetAt = (seconds: number, since: number): ChatTimer | null =>
  timer(seconds, since, since || 1);

function contextIn(content: proto.IMessage): proto.IContextInfo | null {
  const field = baileys.getContentType(content);
  const value = field === undefined ? null : content[field];
  if (typeof value !== "object" || value === null) return null;
  return (value as { contextInfo?: proto.IContextInfo | null }).contextInfo ?? null;
}
