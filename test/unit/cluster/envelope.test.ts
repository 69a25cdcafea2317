import { describe, expect, it } from "vitest";
import { createEnvelopes, unpack } from "../../../src/cluster/envelope.ts";
import { createSecretBox } from "../../../src/store/sealed/secret-box.ts";
import { MASTER_KEY } from "./nodes.ts";

const box = createSecretBox(MASTER_KEY);
const envelopes = createEnvelopes(box, "run", "one");
const sealed = (message: unknown) => box.seal(JSON.stringify(message), "bus:here");
const HEAD = { from: "other", node: "two" };

describe("a message of another version", () => {
  it("is recognised as newer, with who sent it and its id", () => {
    const question = {
      ...HEAD,
      v: 2,
      kind: "question",
      id: "q",
      question: "greet",
      deviceId: 1,
      future: true,
    };

    expect(envelopes.open(sealed(question), "here")).toMatchObject({ isNewer: true, id: "q", node: "two" });
    expect(envelopes.open(sealed({ ...question, v: 1 }), "here")).toMatchObject({ isNewer: false });
  });

  it("is dropped when it is of no known kind", () => {
    expect(envelopes.open(sealed({ ...HEAD, v: 2, kind: "song" }), "here")).toBeNull();
    expect(envelopes.open(sealed(null), "here")).toBeNull();
  });

  it("that refuses with a code of its own is a fault here, and says nothing of it to callers", () => {
    const failed = { code: "MOON_TOO_FULL", message: "wait", details: {} };
    expect(() => unpack({ failed }, "greet")).toThrow(/failed to answer the question "greet"/);
  });
});
