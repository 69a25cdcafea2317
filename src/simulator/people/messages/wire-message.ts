import { proto } from "@whiskeysockets/baileys/WAProto/index.js";

/**
 * Messages as they go over the wire, with what the protobufs at hand do not know: a poll to which others may add options is
 * `pollCreationMessageV6` there, with `allowAddOption`. In memory it is a `pollCreationMessageV5`, which has the same fields otherwise.
 *
 * Source: zapo `spec/proto/WAProto.proto`, `src/client/messaging/messages.ts`; whatsmeow `proto/waE2E`.
 */
const V5_TAG = 111 * 8 + 2;
const V6_TAG = 119 * 8 + 2;
/** `allowAddOption` of a poll: field 11, true. */
const MAY_ADD = Uint8Array.of(11 * 8, 1);
/** `deviceSentMessage`, which has its message in its second field. */
const DEVICE_SENT_TAG = 31 * 8 + 2;
const DEVICE_SENT_MESSAGE_TAG = 2 * 8 + 2;

/** A message as it is encrypted. */
export function encodeMessage(message: proto.IMessage): Uint8Array {
  const bytes = proto.Message.encode(message).finish();
  const isNewer = message.pollCreationMessageV5 ?? message.deviceSentMessage?.message?.pollCreationMessageV5;
  return isNewer ? rewrite(bytes, outwards) : bytes;
}

/** @throws when it is no message */
export function decodeMessage(bytes: Uint8Array): proto.Message {
  return proto.Message.decode(rewrite(bytes, inwards));
}

type Change = (tag: number, value: Uint8Array) => [tag: number, value: Uint8Array];

const outwards: Change = (tag, value) =>
  tag === V5_TAG ? [V6_TAG, Buffer.concat([value, MAY_ADD])] : [tag, inside(tag, value, outwards)];
const inwards: Change = (tag, value) =>
  tag === V6_TAG ? [V5_TAG, value] : [tag, inside(tag, value, inwards)];

function inside(tag: number, value: Uint8Array, change: Change): Uint8Array {
  if (tag !== DEVICE_SENT_TAG) return value;
  return rewrite(value, (field, content) => [
    field,
    field === DEVICE_SENT_MESSAGE_TAG ? rewrite(content, change) : content,
  ]);
}

/** Changes the fields that have a length in front; the others stay. What is no protobuf is left to whoever decodes it. */
function rewrite(bytes: Uint8Array, change: Change): Uint8Array {
  const parts: Uint8Array[] = [];
  let at = 0;
  const next = (): number => {
    let value = 0;
    for (let power = 0; power < 10; power++) {
      const byte = bytes[at++];
      if (byte === undefined) break;
      value += (byte & 0x7f) * 2 ** (7 * power);
      if (byte < 0x80) return value;
    }
    return Number.NaN;
  };
  while (at < bytes.length) {
    const start = at;
    const tag = next();
    const type = tag % 8;
    if (type === 2) {
      const length = next();
      if (!(at + length <= bytes.length)) return bytes;
      const [field, value] = change(tag, bytes.subarray(at, at + length));
      parts.push(varint(field), varint(value.length), value);
      at += length;
      continue;
    }
    if (type === 0) next();
    else if (type === 1 || type === 5) at += type === 1 ? 8 : 4;
    else return bytes;
    if (!(at <= bytes.length)) return bytes;
    parts.push(bytes.subarray(start, at));
  }
  return Buffer.concat(parts);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Uint8Array.from([...bytes, rest]);
}
