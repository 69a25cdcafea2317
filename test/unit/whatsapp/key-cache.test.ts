import { describe, expect, it } from "vitest";
import { createKeyCache } from "../../../src/whatsapp/signal/key-cache.ts";

const sessionOf = (version: string) => ({ version, _sessions: {} });
const tctoken = (token: string) => ({ token: Buffer.from(token) });

describe("the key cache", () => {
  it("shows a write before it is committed, and takes it back when it fails", () => {
    const cache = createKeyCache();
    const reading = cache.of(1).read("tctoken", ["a"]);
    cache.of(1).fill("tctoken", reading, new Map([["a", Buffer.from(JSON.stringify({ timestamp: "1" }))]]));
    const write = cache.of(1).begin({ tctoken: { a: tctoken("new") } });

    expect(cache.of(1).read("tctoken", ["a"]).found).toEqual({ a: tctoken("new") });
    write.failed();
    expect(cache.of(1).read("tctoken", ["a"])).toMatchObject({ found: {}, missing: ["a"] });
  });

  it("lets the later of two writes stand, whichever ends first", () => {
    const cache = createKeyCache();
    const first = cache.of(1).begin({ "device-list": { u: ["0"] } });
    const second = cache.of(1).begin({ "device-list": { u: ["0", "1"] } });
    second.committed();
    first.failed();
    expect(cache.of(1).read("device-list", ["u"]).found).toEqual({ u: ["0", "1"] });
  });

  it("does not overwrite what was written while the database was read", () => {
    const cache = createKeyCache();
    const reading = cache.of(1).read("device-list", ["u"]);
    cache
      .of(1)
      .begin({ "device-list": { u: ["1"] } })
      .committed();
    expect(cache.of(1).fill("device-list", reading, new Map([["u", Buffer.from('["0"]')]]))).toEqual({
      found: { u: ["1"] },
      overtaken: [],
    });
  });

  it("asks again for what was written while the database was read and has left memory since", () => {
    const cache = createKeyCache(1);
    const keys = cache.of(1);
    const reading = keys.read("session", ["a.0", "b.0"]);
    // Committed during the read, and too large to stay.
    keys.begin({ session: { "a.0": sessionOf("new") } }).committed();
    const rows = new Map(["a.0", "b.0"].map((id) => [id, Buffer.from(JSON.stringify(sessionOf("old")))]));
    expect(keys.fill("session", reading, rows)).toEqual({
      found: { "b.0": sessionOf("old") },
      overtaken: ["a.0"],
    });
  });

  it("asks again for what a failed write has shown while the database was read", () => {
    const keys = createKeyCache().of(1);
    const reading = keys.read("session", ["a.0"]);
    keys.begin({ session: { "a.0": sessionOf("new") } }).failed();
    const { overtaken } = keys.fill("session", reading, new Map());
    expect(overtaken).toEqual(["a.0"]);
    expect(keys.peek("session", "a.0")).toBeUndefined();
  });

  it("gives every reader a value of its own where Baileys changes values in place", () => {
    const cache = createKeyCache();
    cache
      .of(1)
      .begin({ "device-list": { u: ["0"] }, "sender-key-memory": { g: { a: true } } })
      .committed();
    (cache.of(1).read("device-list", ["u"]).found.u as string[]).push("9");
    Object.assign(cache.of(1).read("sender-key-memory", ["g"]).found.g as object, { b: true });
    expect(cache.of(1).read("device-list", ["u"]).found.u).toEqual(["0"]);
    expect(cache.of(1).read("sender-key-memory", ["g"]).found.g).toEqual({ a: true });
  });

  it("remembers that a key is absent, apart for each number", () => {
    const cache = createKeyCache();
    cache.of(1).fill("session", cache.of(1).read("session", ["a.0"]), new Map());
    expect(cache.of(1).read("session", ["a.0"])).toMatchObject({ found: {}, missing: [] });
    expect(cache.of(2).read("session", ["a.0"])).toMatchObject({ found: {}, missing: ["a.0"] });
    cache
      .of(1)
      .begin({ session: { "a.0": { version: "v1", _sessions: {} } } })
      .committed();
    expect(cache.of(1).read("session", ["a.0"]).found).toHaveProperty(["a.0"]);
    cache
      .of(1)
      .begin({ session: { "a.0": null } })
      .committed();
    expect(cache.of(1).read("session", ["a.0"])).toMatchObject({ found: {}, missing: [] });
  });

  it("stays within its bytes and does not hold pre-keys", () => {
    const cache = createKeyCache(2_000);
    for (let n = 0; n < 50; n++)
      cache
        .of(1)
        .begin({ tctoken: { [`c${n}`]: tctoken("x".repeat(100)) } })
        .committed();
    expect(cache.of(1).read("tctoken", ["c0"]).missing).toEqual(["c0"]);
    expect(cache.of(1).read("tctoken", ["c49"]).missing).toEqual([]);
    const pair = { public: Buffer.alloc(32, 1), private: Buffer.alloc(32, 2) };
    const write = cache.of(1).begin({ "pre-key": { 1: pair } });
    expect(cache.of(1).read("pre-key", ["1"]).found).toEqual({ 1: pair });
    write.committed();
    expect(cache.of(1).read("pre-key", ["1"]).missing).toEqual(["1"]);
  });

  it("forgets numbers that are given up, also what was being read or written for them then", () => {
    const cache = createKeyCache();
    const [before, other] = [cache.of(1), cache.of(2)];
    before.begin({ "device-list": { old: ["0"] } }).committed();
    other.begin({ "device-list": { old: ["0"] } }).committed();
    const reading = before.read("device-list", ["u"]);
    const writing = before.begin({ "device-list": { v: ["1"] } });

    cache.drop([1]);
    const after = cache.of(1);
    expect(after.read("device-list", ["old", "v"]).missing).toEqual(["old", "v"]);
    before.fill("device-list", reading, new Map([["u", Buffer.from('["0"]')]]));
    writing.committed();
    before.begin({ "device-list": { w: ["2"] } }).committed();
    expect(after.read("device-list", ["u", "v", "w"]).missing).toEqual(["u", "v", "w"]);
    expect(other.read("device-list", ["old"]).missing).toEqual([]);
  });
});
