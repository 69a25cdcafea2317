import { SignalError } from "./error.ts";

/** Field number to value: the two wire types that Signal's messages use, varint and bytes. */
export type Fields = Map<number, number | Uint8Array>;

/** Writes fields in the given order; `undefined` values are left out. */
export function writeFields(fields: [number, number | Uint8Array | undefined][]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [id, value] of fields) {
    if (value === undefined) continue;
    if (typeof value === "number") {
      parts.push(varint(id << 3), varint(value));
    } else {
      parts.push(varint((id << 3) | 2), varint(value.length), value);
    }
  }
  return Buffer.concat(parts);
}

/**
 * Reads fields; of a repeated one the last counts, as protobuf says.
 *
 * @throws {SignalError} `malformed` on anything but whole varint and bytes fields
 */
export function readFields(bytes: Uint8Array): Fields {
  const fields: Fields = new Map();
  let at = 0;
  const next = (): number => {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = bytes[at++];
      if (byte === undefined) break;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new SignalError("malformed", "A protobuf number is cut off or too long.");
  };
  while (at < bytes.length) {
    const key = next();
    const wireType = key & 7;
    if (wireType === 0) {
      fields.set(key >>> 3, next());
    } else if (wireType === 2) {
      const length = next();
      if (at + length > bytes.length) throw new SignalError("malformed", "A protobuf field is cut off.");
      fields.set(key >>> 3, bytes.subarray(at, at + length));
      at += length;
    } else {
      throw new SignalError("malformed", `A protobuf field has the unexpected wire type ${wireType}.`);
    }
  }
  return fields;
}

/** A required number field. */
export function numberField(fields: Fields, id: number): number {
  const value = fields.get(id);
  if (typeof value !== "number") throw new SignalError("malformed", `Protobuf field ${id} is missing.`);
  return value;
}

/** A required bytes field. */
export function bytesField(fields: Fields, id: number): Uint8Array {
  const value = fields.get(id);
  if (!(value instanceof Uint8Array)) throw new SignalError("malformed", `Protobuf field ${id} is missing.`);
  return value;
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}
