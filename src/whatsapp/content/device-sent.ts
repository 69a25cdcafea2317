import type { proto } from "@whiskeysockets/baileys";
import { baileys } from "../baileys.ts";

/** `Message.deviceSentMessage`, and in it `destinationJid` and `message`: fields whose values have a length in front. */
const DEVICE_SENT = field(31);
const DESTINATION = field(1);
const MESSAGE = field(2);

/**
 * A message as the number's other devices get it: wrapped, with the chat that it was sent to. The message is taken as it
 * is encoded for its recipients, instead of once more.
 *
 * @param encoded protobuf of `message`, without padding
 */
export function deviceSent(
  chat: string,
  encoded: Uint8Array,
  { messageContextInfo }: proto.IMessage,
): Buffer {
  const inner = [DESTINATION, ...sized(Buffer.from(chat)), MESSAGE, ...sized(encoded)];
  const context = baileys.proto.Message.encode({ messageContextInfo }).finish();
  return Buffer.concat([DEVICE_SENT, ...sized(Buffer.concat(inner)), context]);
}

const sized = (value: Uint8Array): Uint8Array[] => [varint(value.length), value];

function field(number: number): Buffer {
  return varint(number * 8 + 2);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
  return Buffer.from([...bytes, left]);
}
