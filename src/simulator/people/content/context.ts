import type { proto } from "@whiskeysockets/baileys";
import type { Advertisement, MessageBody } from "../../surface/content.ts";
import type { Random } from "../../random.ts";

/** After how long messages disappear, and since when that holds; Unix seconds. */
export interface Expiry {
  seconds: number;
  since: number;
}

/** What can be attached to a message of any kind. */
export interface Extras {
  /** Who is mentioned, as the chat names its members. */
  mentions?: string[];
  quoted?: { id: string; participant: string; text: string };
  /** Seconds after which it disappears. */
  expiration?: number;
  /** When that was set for the chat, Unix seconds. */
  expirationSince?: number;
  /** By which its writer has come. */
  advertisement?: Advertisement;
}

/** What writing a message needs from the phone that writes it. */
export interface Desk {
  random: Random;
  /** Unix milliseconds. */
  now(): number;
  /** Stores a file at the media host. */
  store(type: string, bytes: Uint8Array): { url: string; directPath: string };
}

/** The protobuf form of extras; undefined when there are none. */
export function contextOf(extras: Extras): proto.IContextInfo | undefined {
  const { mentions, quoted, expiration, expirationSince, advertisement } = extras;
  if (!mentions?.length && !quoted && !expiration && !advertisement) return undefined;
  const context: proto.IContextInfo = { mentionedJid: mentions ?? [], ...cameBy(advertisement) };
  if (expiration) context.expiration = expiration;
  if (expiration && expirationSince) context.ephemeralSettingTimestamp = expirationSince;
  if (quoted) {
    context.stanzaId = quoted.id;
    context.participant = quoted.participant;
    context.quotedMessage = { conversation: quoted.text };
  }
  return context;
}

/** As phones write it in the first message after a click on an advertisement. */
function cameBy(advertisement: Advertisement | undefined): proto.IContextInfo | undefined {
  if (!advertisement) return undefined;
  return {
    externalAdReply: { ...advertisement, sourceType: "ad", showAdAttribution: true, sourceApp: "facebook" },
    conversionSource: "FB_Ads",
    entryPointConversionSource: "ctwa_ad",
    entryPointConversionApp: "facebook",
  };
}

/** What a message's context says, for the transcript. */
export function readContext(
  context: proto.IContextInfo | null | undefined,
): Pick<MessageBody, "mentions" | "quoted" | "forwarded" | "expiration" | "expirationSince"> {
  const { mentionedJid, stanzaId, participant, quotedMessage, expiration } = context ?? {};
  const told: ReturnType<typeof readContext> = {};
  if (mentionedJid?.length) told.mentions = mentionedJid;
  if (context?.isForwarded) told.forwarded = context.forwardingScore ?? 1;
  if (stanzaId) {
    told.quoted = {
      id: stanzaId,
      participant: participant ?? undefined,
      text: quotedText(quotedMessage ?? {}),
    };
  }
  if (expiration) told.expiration = expiration;
  if (expiration && context?.ephemeralSettingTimestamp)
    told.expirationSince = Number(context.ephemeralSettingTimestamp);
  return told;
}

/** The words that a phone shows of a quoted message. */
function quotedText(quoted: proto.IMessage): string | undefined {
  const { imageMessage, videoMessage, documentMessage, pollCreationMessage, pollCreationMessageV3 } = quoted;
  return (
    quoted.conversation ??
    quoted.extendedTextMessage?.text ??
    (imageMessage ?? videoMessage ?? documentMessage)?.caption ??
    (pollCreationMessage ?? pollCreationMessageV3)?.name ??
    undefined
  );
}
