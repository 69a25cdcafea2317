import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import { isWellFormed, makeKey, shownPrefix } from "../../../src/accounts/key-format.ts";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

describe("an API key", () => {
  it("is parley_, 30 digits and their CRC-32 in 6, all base62, never the same twice", () => {
    const keys = new Set(Array.from({ length: 2_000 }, makeKey));

    expect(keys.size).toBe(2_000);
    for (const key of keys) {
      expect(key).toMatch(/^parley_[0-9A-Za-z]{36}$/);
      expect(isWellFormed(key)).toBe(true);
      const value = Array.from(key.slice(-6)).reduce((sum, digit) => sum * 62 + DIGITS.indexOf(digit), 0);
      expect(value).toBe(crc32(key.slice(7, 37)));
    }
  });

  it("uses all digits alike", () => {
    const counts = new Map<string, number>();
    for (let index = 0; index < 4_000; index++)
      for (const digit of makeKey().slice(7, 37)) counts.set(digit, (counts.get(digit) ?? 0) + 1);

    expect(counts.size).toBe(62);
    // 120,000 digits, 1,935 each; a byte taken modulo 62 would give the first eight 2,344.
    for (const count of counts.values()) expect(Math.abs(count - 1_935)).toBeLessThan(260);
  });

  it("is not well formed with one digit changed, two swapped, or anything around it", () => {
    const key = makeKey();

    for (let position = 7; position < key.length; position++) {
      const other = DIGITS[(DIGITS.indexOf(key[position]!) + 1) % 62]!;
      expect(isWellFormed(key.slice(0, position) + other + key.slice(position + 1))).toBe(false);
    }
    for (const wrong of [
      "",
      "parley_",
      ` ${key}`,
      `${key}\n`,
      key.toUpperCase(),
      key.slice(0, -1),
      `${key}0`,
      `x${key}`,
    ])
      expect(isWellFormed(wrong)).toBe(false);
  });

  it("shows four digits to recognise it by", () => {
    expect(shownPrefix("parley_AbCdEfGh")).toBe("parley_AbCd");
  });
});
