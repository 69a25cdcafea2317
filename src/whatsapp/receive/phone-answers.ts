import type { proto, WAMessage } from "@whiskeysockets/baileys";
import { baileys } from "../baileys.ts";
import { withReadablePolls } from "../content/newer-polls.ts";

/** `WebMessageInfo.message`. */
const MESSAGE = 2;

/** What a placeholder was, as Baileys remembers it: it knows the writer's other id, which the phone leaves out. */
export type Placeholder = Pick<WAMessage, "key" | "messageTimestamp" | "pushName">;

/**
 * Messages that the owner's phone has sent again because they came here without content. They lie inside a protocol message
 * of the phone's.
 *
 * @param placeholderOf what is known of the message that came without content
 */
export async function messagesFromPhone(
  message: proto.IMessage,
  placeholderOf: (id: string) => Promise<Placeholder | null>,
): Promise<WAMessage[]> {
  const found: WAMessage[] = [];
  for (const bytes of answersIn(message)) {
    const sent = baileys.proto.WebMessageInfo.decode(withReadablePolls(bytes, MESSAGE));
    const placeholder = sent.key?.id ? await placeholderOf(sent.key.id) : null;
    const { key, messageTimestamp, pushName } = placeholder ?? sent;
    found.push({
      key,
      message: sent.message,
      messageTimestamp: sent.messageTimestamp ?? messageTimestamp,
      pushName: pushName ?? sent.pushName,
    } as WAMessage);
  }
  return found;
}

function answersIn(message: proto.IMessage): Uint8Array[] {
  const protocol = baileys.normalizeMessageContent(message)?.protocolMessage;
  const results = protocol?.peerDataOperationRequestResponseMessage?.peerDataOperationResult ?? [];
  return results.flatMap((result) => result.placeholderMessageResendResponse?.webMessageInfoBytes ?? []);
}
