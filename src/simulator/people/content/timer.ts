import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import type { Expiry } from "./context.ts";
import type { ContentKind } from "./kind.ts";

const { EPHEMERAL_SETTING } = proto.Message.ProtocolMessage.Type;

/**
 * Says after how long messages of a chat with a person disappear from now on; 0: they stay.
 *
 * Source: whatsmeow `SetDisappearingTimer`; zapo `client/persistence/ephemeral-setting.ts`.
 */
export const composeTimer = ({ seconds, since }: Expiry): proto.IMessage => ({
  protocolMessage: {
    type: EPHEMERAL_SETTING,
    ephemeralExpiration: seconds,
    ephemeralSettingTimestamp: since,
    disappearingMode: { initiator: proto.DisappearingMode.Initiator.CHANGED_IN_CHAT },
  },
});

/** The setting that a message changes; undefined when it changes none. */
export function readTimer({ protocolMessage }: proto.IMessage): Expiry | undefined {
  if (protocolMessage?.type !== EPHEMERAL_SETTING) return undefined;
  const { ephemeralExpiration, ephemeralSettingTimestamp } = protocolMessage;
  return { seconds: ephemeralExpiration ?? 0, since: Number(ephemeralSettingTimestamp ?? 0) };
}

/** `protocolMessage` of type EPHEMERAL_SETTING. */
export const timer: ContentKind = {
  stanzaType: "text",
  read(message) {
    const setting = readTimer(message);
    return setting && { kind: "timer", expiration: setting.seconds };
  },
};
