import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

// `parley_`, 30 random base62 digits (178 bits), 6 base62 digits of their CRC-32. The checksum lets a mistyped or made-up
// key be refused without asking the database, and lets scanners of leaked secrets recognise a real one.
const PREFIX = "parley_";
const RANDOM_DIGITS = 30;
const CHECK_DIGITS = 6;
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SHAPE = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_DIGITS + CHECK_DIGITS}}$`);
// The largest multiple of 62 in a byte: bytes from there on would make the first digits likelier.
const FAIR_BYTES = 248;
const SHOWN_DIGITS = 4;

/** A new API key, 43 characters. Shown once; only its HMAC is kept. */
export function makeKey(): string {
  let digits = "";
  while (digits.length < RANDOM_DIGITS)
    for (const byte of randomBytes(RANDOM_DIGITS))
      if (byte < FAIR_BYTES && digits.length < RANDOM_DIGITS) digits += DIGITS[byte % DIGITS.length];
  return PREFIX + digits + checksum(digits);
}

/** Whether a text has the form and the checksum of a key. Says nothing about whether the key exists. */
export function isWellFormed(key: string): boolean {
  if (!SHAPE.test(key)) return false;
  const digits = key.slice(PREFIX.length, PREFIX.length + RANDOM_DIGITS);
  return key.endsWith(checksum(digits));
}

/** What people recognise a key by: too little to help anybody guess the rest. */
export function shownPrefix(key: string): string {
  return key.slice(0, PREFIX.length + SHOWN_DIGITS);
}

function checksum(digits: string): string {
  let rest = crc32(digits);
  let text = "";
  for (let place = 0; place < CHECK_DIGITS; place++) {
    text = DIGITS[rest % DIGITS.length] + text;
    rest = Math.floor(rest / DIGITS.length);
  }
  return text;
}
