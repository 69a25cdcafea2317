import { fieldsIn } from "../wire-fields.ts";

/**
 * What the client library's protobufs do not know of polls. Field numbers from WhatsApp's own definitions (`WAProto`, as whatsmeow,
 * whatsapp-rust and zapo have them).
 */

/** `Message.pollCreationMessageV6`, polls to which others may add options, has the type of `pollCreationMessageV5`. */
const V6_TAG = [0xba, 0x07] as const;
const V5_TAG = [0xfa, 0x06] as const;
const V6_FIELD = 119;
/** Fields of a message that hold another one, and which field of theirs it is. */
const AROUND = new Map([
  [31, 2], // deviceSentMessage
  [37, 1], // viewOnceMessage
  [40, 1], // ephemeralMessage
  [53, 1], // documentWithCaptionMessage
  [55, 1], // viewOnceMessageV2
  [58, 1], // editedMessage
  [59, 1], // viewOnceMessageV2Extension
  [62, 1], // groupMentionedMessage
  [93, 1], // pollCreationMessageV4
]);
const DEEPEST = 5;
/** `Message.pollAddOptionMessage.addOption.optionName`. */
const ADDED_OPTION = [121, 2, 1];

/**
 * A message whose polls the library can read: those of the sixth form become such of the fifth, in place. Everything else
 * stays, byte for byte.
 *
 * @param encoded protobuf of a `Message`
 * @param within  the field of these bytes that holds the message. Default: they are it
 */
export function withReadablePolls(encoded: Uint8Array, within?: number): Uint8Array {
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.length);
  if (bytes.indexOf(Buffer.from(V6_TAG)) < 0) return encoded;
  const copy = Uint8Array.from(encoded);
  if (within === undefined) rename(copy, 0, copy.length, 0);
  else
    for (const { number, from, to } of fieldsIn(copy, 0, copy.length))
      if (number === within) rename(copy, from, to, 0);
  return copy;
}

/** The option that somebody adds to a poll; null when the message adds none. @param encoded what was sealed */
export function addedOption(encoded: Uint8Array): string | null {
  let [from, to] = [0, encoded.length];
  for (const wanted of ADDED_OPTION) {
    const found = [...fieldsIn(encoded, from, to)].findLast(({ number }) => number === wanted);
    if (found === undefined) return null;
    [from, to] = [found.from, found.to];
  }
  return Buffer.from(encoded.subarray(from, to)).toString("utf8");
}

function rename(bytes: Uint8Array, start: number, end: number, depth: number): void {
  for (const { number, at, from, to } of fieldsIn(bytes, start, end)) {
    const inner = AROUND.get(number);
    if (number === V6_FIELD && bytes[at] === V6_TAG[0] && bytes[at + 1] === V6_TAG[1]) bytes.set(V5_TAG, at);
    else if (inner !== undefined && depth < DEEPEST)
      for (const field of fieldsIn(bytes, from, to))
        if (field.number === inner) rename(bytes, field.from, field.to, depth + 1);
  }
}
