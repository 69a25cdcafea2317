/* oxlint-disable no-underscore-dangle -- the names are those of libsignal */
import { describe, expect, it } from "vitest";
import { pruneSenderKey, pruneSession, type SerializedRecord } from "../../../src/whatsapp/signal/prune.ts";

const SENDING = 1;
const RECEIVING = 2;

function session(chains: number, closed = -1, used = 0) {
  return {
    indexInfo: { closed, used },
    _chains: Object.fromEntries([
      ...Array.from({ length: chains }, (_, n) => [`in${n}`, { chainType: RECEIVING }]),
      ["out", { chainType: SENDING }],
    ]),
  };
}

const record = (sessions: SerializedRecord["_sessions"]): SerializedRecord => ({
  version: "v1",
  _sessions: sessions,
});

const keys = (from: number, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [String(from + n), `key ${from + n}`]));
const chain = (from: number, count: number) => ({ chainType: RECEIVING, messageKeys: keys(from, count) });

describe("pruneSession", () => {
  it("keeps the sending chain and the newest five receiving chains", () => {
    const pruned = pruneSession(record({ a: session(9) }));
    expect(Object.keys(pruned._sessions.a?._chains ?? {})).toEqual([
      "in4",
      "in5",
      "in6",
      "in7",
      "in8",
      "out",
    ]);
  });

  it("keeps the open session and the ten closed ones that were used last", () => {
    const closed = Object.fromEntries(
      Array.from({ length: 15 }, (_, n) => [`closed${n}`, session(1, 1_000 + n, n)]),
    );
    const pruned = pruneSession(record({ open: session(1), ...closed }));
    expect(Object.keys(pruned._sessions)).toEqual([
      "open",
      ...Array.from({ length: 10 }, (_, n) => `closed${n + 5}`),
    ]);
  });

  it("lets sessions share those 2,000: the open one comes first, then whichever was used last", () => {
    const session = (closed: number, used: number, from: number, to: number) => ({
      indexInfo: { closed, used },
      _chains: { one: chain(from, to) },
    });
    const pruned = pruneSession(
      record({
        old: session(1, 10, 0, 1_500),
        open: session(-1, 5, 0, 1_200),
        late: session(2, 20, 0, 1_500),
      }),
    );

    const counts = Object.entries(pruned._sessions).map(([key, { _chains }]) => [
      key,
      Object.keys(_chains["one"]!.messageKeys ?? {}).length,
    ]);
    expect(counts).toEqual([
      ["old", 0],
      ["open", 1_200],
      ["late", 800],
    ]);
    expect(JSON.stringify(pruned).length).toBeLessThan(1_000_000);
  });

  it("keeps the newest 2,000 keys of messages that have not come, of all chains together", () => {
    const _chains = { oldest: chain(0, 10), older: chain(0, 1_500), newest: chain(7, 600) };
    const before = record({ a: { indexInfo: { closed: -1 }, _chains } });
    const copy = structuredClone(before);
    expect(pruneSession(before)._sessions.a?._chains).toEqual({
      oldest: { chainType: RECEIVING, messageKeys: {} },
      older: { chainType: RECEIVING, messageKeys: keys(100, 1_400) },
      newest: _chains.newest,
    });
    expect(before).toEqual(copy);

    const full = record({ a: { indexInfo: { closed: -1 }, _chains: { one: chain(0, 2_000) } } });
    expect(pruneSession(full)).toBe(full);
  });

  it("gives a record with nothing to drop as it is, and leaves what it was given unchanged", () => {
    const small = record({ a: session(5) });
    expect(pruneSession(small)).toBe(small);
    const large = record({ a: session(9) });
    pruneSession(large);
    expect(Object.keys(large._sessions.a?._chains ?? {})).toHaveLength(10);
  });
});

describe("pruneSenderKey", () => {
  const keys = Array.from({ length: 200 }, (_, iteration) => ({ iteration, seed: "x".repeat(40) }));
  const state = (privateKey: number[]) =>
    Buffer.from(
      JSON.stringify([
        {
          senderKeyId: 1,
          senderSigningKey: { private: { type: "Buffer", data: privateKey } },
          senderMessageKeys: keys,
        },
      ]),
    );

  it("empties the leftovers of an own sender key", () => {
    const [pruned] = JSON.parse(Buffer.from(pruneSenderKey(state([1, 2, 3]))).toString());
    expect(pruned.senderMessageKeys).toEqual([]);
    expect(pruned.senderKeyId).toBe(1);
  });

  it("keeps the skipped keys of somebody else: their messages may still come", () => {
    const foreign = state([]);
    expect(pruneSenderKey(foreign)).toBe(foreign);
  });
});
