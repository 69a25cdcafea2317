import { describe, expect, it } from "vitest";
import { createKeyCache } from "../../../src/whatsapp/signal/key-cache.ts";

const tctoken = (token: string) => ({ token: Buffer.from(token) });

describe("the key cache", () => {
  it("shows a write before it is committed, and takes it back when it fails", () => {
    const cache = createKeyCache();
    cache.fill(1, "tctoken", ["a"], new Map([["a", Buffer.from(JSON.stringify({ timestamp: "1" }))]]));
    const write = cache.begin(1, { tctoken: { a: tctoken("new") } });

    expect(cache.read(1, "tctoken", ["a"]).found).toEqual({ a: tctoken("new") });
    write.failed();
    expect(cache.read(1, "tctoken", ["a"])).toEqual({ found: {}, missing: ["a"] });
  });

  it("lets the later of two writes stand, whichever ends first", () => {
    const cache = createKeyCache();
    const first = cache.begin(1, { "device-list": { u: ["0"] } });
    const second = cache.begin(1, { "device-list": { u: ["0", "1"] } });
    second.committed();
    first.failed();
    expect(cache.read(1, "device-list", ["u"]).found).toEqual({ u: ["0", "1"] });
  });

  it("does not overwrite what was written while the database was read", () => {
    const cache = createKeyCache();
    const { missing } = cache.read(1, "device-list", ["u"]);
    cache.begin(1, { "device-list": { u: ["1"] } }).committed();
    expect(cache.fill(1, "device-list", missing, new Map([["u", Buffer.from('["0"]')]]))).toEqual({
      u: ["1"],
    });
  });

  it("gives every reader a value of its own where Baileys changes values in place", () => {
    const cache = createKeyCache();
    cache.begin(1, { "device-list": { u: ["0"] }, "sender-key-memory": { g: { a: true } } }).committed();
    (cache.read(1, "device-list", ["u"]).found.u as string[]).push("9");
    Object.assign(cache.read(1, "sender-key-memory", ["g"]).found.g as object, { b: true });
    expect(cache.read(1, "device-list", ["u"]).found.u).toEqual(["0"]);
    expect(cache.read(1, "sender-key-memory", ["g"]).found.g).toEqual({ a: true });
  });

  it("remembers that a key is absent, apart for each number", () => {
    const cache = createKeyCache();
    cache.fill(1, "session", ["a.0"], new Map());
    expect(cache.read(1, "session", ["a.0"])).toEqual({ found: {}, missing: [] });
    expect(cache.read(2, "session", ["a.0"])).toEqual({ found: {}, missing: ["a.0"] });
    cache.begin(1, { session: { "a.0": { version: "v1", _sessions: {} } } }).committed();
    expect(cache.read(1, "session", ["a.0"]).found).toHaveProperty(["a.0"]);
    cache.begin(1, { session: { "a.0": null } }).committed();
    expect(cache.read(1, "session", ["a.0"])).toEqual({ found: {}, missing: [] });
  });

  it("stays within its bytes and does not hold pre-keys", () => {
    const cache = createKeyCache(2_000);
    for (let n = 0; n < 50; n++)
      cache.begin(1, { tctoken: { [`c${n}`]: tctoken("x".repeat(100)) } }).committed();
    expect(cache.read(1, "tctoken", ["c0"]).missing).toEqual(["c0"]);
    expect(cache.read(1, "tctoken", ["c49"]).missing).toEqual([]);
    const pair = { public: Buffer.alloc(32, 1), private: Buffer.alloc(32, 2) };
    const write = cache.begin(1, { "pre-key": { 1: pair } });
    expect(cache.read(1, "pre-key", ["1"]).found).toEqual({ 1: pair });
    write.committed();
    expect(cache.read(1, "pre-key", ["1"]).missing).toEqual(["1"]);
  });
});
