import { createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { assert, json as anyJson, property, string as anyText, uint8Array } from "fast-check";
import { describe, expect, it } from "vitest";
import { createSecretBox, SealBroken } from "../../../src/store/sealed/secret-box.ts";

const box = createSecretBox(Buffer.alloc(32, 7));
/** "private", as version 0.2 sealed it. */
const SEALED_BEFORE = "01f7ff462029ac1bc5b06786b52d10ba2e7aec4285d51e1d4b6f8880b63833c1be0fa1be";

describe("the secret box", () => {
  it("opens what it sealed, bytes, text and JSON of any size", () => {
    assert(
      property(uint8Array({ maxLength: 5_000 }), anyText(), anyJson(), (bytes, text, json) => {
        expect(box.open(box.seal(bytes, "c"), "c").equals(bytes)).toBe(true);
        expect(box.open(box.seal(Buffer.from(text), "c"), "c").toString()).toBe(Buffer.from(text).toString());
        expect(box.openJson(box.sealJson(JSON.parse(json), "c"), "c")).toEqual(JSON.parse(json));
      }),
      { numRuns: 100 },
    );
  });

  it("never uses a nonce twice", () => {
    const nonces = Array.from({ length: 2_000 }, () => box.seal("same", "c").subarray(1, 13).toString("hex"));
    expect(new Set(nonces).size).toBe(nonces.length);
  });

  it("does not open a value in another row, with another master key, or with any byte changed", () => {
    const sealed = box.seal("private", "wa_keys:1:session:4915");

    expect(() => box.open(sealed, "wa_keys:2:session:4915")).toThrow(SealBroken);
    expect(() => createSecretBox(Buffer.alloc(32, 8)).open(sealed, "wa_keys:1:session:4915")).toThrow(
      SealBroken,
    );
    for (let position = 0; position < sealed.length; position++) {
      const changed = Buffer.from(sealed);
      changed[position]! ^= 1;
      expect(() => box.open(changed, "wa_keys:1:session:4915")).toThrow(SealBroken);
    }
    expect(() => box.open(sealed.subarray(0, 20), "wa_keys:1:session:4915")).toThrow(SealBroken);
    expect(() => box.open(new Uint8Array(), "wa_keys:1:session:4915")).toThrow(SealBroken);
  });

  it("seals with a key for each number and month, and opens what any month has sealed", () => {
    let now = Date.UTC(2026, 10, 24);
    const master = Buffer.alloc(32, 7);
    const dated = createSecretBox(master, { now: () => now });
    const november = dated.seal("private", "wa_keys:1:session:4915");
    now = Date.UTC(2027, 0, 1);
    const january = dated.seal("private", "wa_keys:1:session:4915");
    expect(january.subarray(29, 31)).not.toEqual(november.subarray(29, 31));
    for (const sealed of [november, january])
      expect(dated.open(sealed, "wa_keys:1:session:4915").toString()).toBe("private");
    // With another month's name it is another key.
    january.set(november.subarray(29, 31), 29);
    expect(() => dated.open(january, "wa_keys:1:session:4915")).toThrow(SealBroken);

    // The one key of before opens neither.
    const oneKey = Buffer.from(hkdfSync("sha256", master, "parley", "seal", 32));
    const decipher = createDecipheriv("aes-256-gcm", oneKey, november.subarray(1, 13), { authTagLength: 16 });
    decipher.setAAD(Buffer.from("2\0wa_keys:1:session:4915")).setAuthTag(november.subarray(13, 29));
    decipher.update(november.subarray(31));
    expect(() => decipher.final()).toThrow("unable to authenticate");
  });

  it("opens what was sealed with one key for everything", () => {
    const sealed = Buffer.from(SEALED_BEFORE, "hex");
    expect(box.open(sealed, "wa_keys:1:session:4915").toString()).toBe("private");
    expect(() => box.open(sealed, "wa_keys:2:session:4915")).toThrow(SealBroken);
    sealed[0] = 2;
    expect(() => box.open(sealed, "wa_keys:1:session:4915")).toThrow(SealBroken);
  });

  it("seals as before where nodes may run that open nothing else", () => {
    const before = createSecretBox(Buffer.alloc(32, 7), { format: 1 });
    const sealed = before.seal("private", "wa_keys:1:session:4915");
    expect(sealed[0]).toBe(1);
    expect(box.open(sealed, "wa_keys:1:session:4915").toString()).toBe("private");
    expect(before.open(box.seal("new", "c"), "c").toString()).toBe("new");
  });

  it("never seals the same text to the same bytes, and shows nothing of it", () => {
    const sealed = new Set(Array.from({ length: 100 }, () => box.seal("the same text", "c").toString("hex")));

    expect(sealed.size).toBe(100);
    for (const hex of sealed) expect(Buffer.from(hex, "hex").includes("same")).toBe(false);
  });

  it("opens an ArrayBuffer's view, as the database gives it back", () => {
    const sealed = box.seal("text", "c");
    const stored = new Uint8Array(sealed).buffer;

    expect(box.open(new Uint8Array(stored), "c").toString()).toBe("text");
  });

  it("hashes the same for one purpose and key, differently for another purpose or key", () => {
    const other = createSecretBox(randomBytes(32));

    expect(box.hmac("a", "data")).toEqual(createSecretBox(Buffer.alloc(32, 7)).hmac("a", "data"));
    expect(box.hmac("a", "data")).toHaveLength(32);
    expect(box.hmac("b", "data")).not.toEqual(box.hmac("a", "data"));
    expect(other.hmac("a", "data")).not.toEqual(box.hmac("a", "data"));
  });
});
