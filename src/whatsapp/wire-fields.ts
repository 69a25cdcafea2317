/** One field of a protobuf, as it lies in the bytes. */
export interface Field {
  number: number;
  /** Where its tag begins. */
  at: number;
  /** Its value, when it has a length in front; else empty. */
  from: number;
  to: number;
}

/** The fields of a protobuf, as far as it is one. */
export function* fieldsIn(bytes: Uint8Array, start: number, end: number): Generator<Field> {
  let place = start;
  const next = (): number => {
    let value = 0;
    for (let power = 0; place < end && power < 10; power++) {
      const byte = bytes[place++]!;
      value += (byte & 0x7f) * 2 ** (7 * power);
      if (byte < 0x80) return value;
    }
    return Number.NaN;
  };
  while (place < end) {
    const at = place;
    const tag = next();
    if (Number.isNaN(tag)) return;
    const type = tag % 8;
    const length =
      type === 2 ? next() : type === 0 ? next() * 0 : type === 1 ? 8 : type === 5 ? 4 : Number.NaN;
    if (!(length >= 0) || place + length > end) return;
    const number = Math.floor(tag / 8);
    yield { number, at, from: place, to: type === 2 ? place + length : place };
    place += length;
  }
}
