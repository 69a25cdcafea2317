/** The few shapes of DER (X.690) that a certificate is made of. */

const tagged = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
};

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const digits = Buffer.from(length.toString(16).padStart(length > 0xff ? 4 : 2, "0"), "hex");
  return Buffer.concat([Buffer.from([0x80 | digits.length]), digits]);
}

/** SEQUENCE: its parts in this order. */
export const sequence = (...parts: Uint8Array[]): Buffer => tagged(0x30, ...parts);
/** SET: its parts in any order. */
export const set = (...parts: Uint8Array[]): Buffer => tagged(0x31, ...parts);
/** OCTET STRING. */
export const octets = (content: Uint8Array): Buffer => tagged(0x04, content);
/** UTF8String. */
export const text = (value: string): Buffer => tagged(0x0c, Buffer.from(value));
/** BOOLEAN, true. */
export const yes = (): Buffer => tagged(0x01, Buffer.from([0xff]));

/** A positive whole number, given by its bytes, the most significant first. */
export const integer = (content: Uint8Array): Buffer => {
  // Only the shortest form is valid: no leading zeros except one to keep the sign.
  const first = content.findIndex((byte) => byte !== 0);
  const digits = first < 0 ? Buffer.from([0]) : content.subarray(first);
  const isNegative = digits[0]! >= 0x80;
  return tagged(0x02, isNegative ? Buffer.concat([Buffer.from([0]), digits]) : digits);
};

/** A bit string; `unused` bits at its end count for nothing. */
export const bits = (content: Uint8Array, unused = 0): Buffer => tagged(0x03, Buffer.from([unused]), content);

/** A context-specific tag around other elements, or around plain content. */
export const context = (number: number, content: Uint8Array, constructed = true): Buffer =>
  tagged((constructed ? 0xa0 : 0x80) | number, content);

/** An object identifier, dotted. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const groups = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return tagged(0x06, Buffer.from(bytes));
}

/** A time in whole seconds, in the form that certificates use before 2050. */
export function utcTime(time: Date): Buffer {
  const digits = time.toISOString().replaceAll(/[-:T]|\.\d+/g, "");
  return tagged(0x17, Buffer.from(digits.slice(2)));
}
