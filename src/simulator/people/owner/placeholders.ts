/** Messages that reached a companion without content and that its owner's phone supplies on request. */
import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import { keyOf } from "../messages/keys.ts";
import type { KnownMessage } from "../messages/memory.ts";

const { Type } = proto.Message.ProtocolMessage;
const { PLACEHOLDER_MESSAGE_RESEND } = proto.Message.PeerDataOperationRequestType;
const { ResultType } = proto.MediaRetryNotification;

/** The keys of the messages that a companion asks for; undefined when it asks for something else. */
export function wantedMessages({ protocolMessage }: proto.IMessage): proto.IMessageKey[] | undefined {
  const request = protocolMessage?.peerDataOperationRequestMessage;
  if (request?.peerDataOperationRequestType !== PLACEHOLDER_MESSAGE_RESEND) return undefined;
  return request.placeholderMessageResendRequest?.flatMap(({ messageKey }) => messageKey ?? []);
}

/**
 * The phone's answer to such a request.
 *
 * @param requestId  id of the message that asked
 * @param messages   what was asked for, in that order; undefined where the phone has nothing
 */
export function sendPlaceholders(
  requestId: string,
  messages: readonly (KnownMessage | undefined)[],
): proto.IMessage {
  return {
    protocolMessage: {
      type: Type.PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE,
      peerDataOperationRequestResponseMessage: {
        peerDataOperationRequestType: PLACEHOLDER_MESSAGE_RESEND,
        stanzaId: requestId,
        peerDataOperationResult: messages.map((known) =>
          known
            ? {
                mediaUploadResult: ResultType.SUCCESS,
                placeholderMessageResendResponse: { webMessageInfoBytes: asStored(known) },
              }
            : { mediaUploadResult: ResultType.NOT_FOUND },
        ),
      },
    },
  };
}

/** A message as the phone has it in its chat, without sender keys. */
function asStored(known: KnownMessage): Uint8Array {
  const { senderKeyDistributionMessage: _, ...message } = known.message;
  const key = keyOf(known);
  return proto.WebMessageInfo.encode({
    key,
    message,
    messageTimestamp: known.timestamp,
    pushName: known.pushName,
    participant: key.participant,
  }).finish();
}
