import { describe, expect, it } from "vitest";
import { authorize, mayUseNumber, mayWriteTo, requireMayGrant } from "../../../src/accounts/authorize.ts";
import type { Grants } from "../../../src/accounts/caller.ts";
import { GatewayError } from "../../../src/model/errors/errors.ts";

const to = (destination: string, ...aliases: string[]) => ({ destination, aliases });
const grants = (more: Partial<Grants> = {}): Grants => ({
  permissions: [],
  devices: null,
  recipients: null,
  ...more,
});

function denial(run: () => void): unknown {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError && error.code === "PERMISSION_DENIED")
      return error.details.extra?.permission;
    throw error;
  }
  return null;
}

describe("what a key may do", () => {
  it("is what it was given, and everything with *", () => {
    expect(denial(() => authorize(grants({ permissions: ["media", "lid"] }), "lid"))).toBeNull();
    expect(denial(() => authorize(grants({ permissions: ["*"] }), "lid"))).toBeNull();
    expect(denial(() => authorize(grants({ permissions: ["media"] }), "lid"))).toBe("lid");
    expect(denial(() => authorize(grants(), "messages"))).toBe("messages");
  });

  it("is bound to its numbers", () => {
    expect(mayUseNumber(grants(), "4915")).toBe(true);
    expect(mayUseNumber(grants({ devices: ["4915"] }), "4915")).toBe(true);
    expect(mayUseNumber(grants({ devices: ["4915"] }), "49151")).toBe(false);
    expect(mayUseNumber(grants({ devices: [] }), "4915")).toBe(false);
  });

  it("is bound to its recipients, patterns included", () => {
    const own = grants({ recipients: ["49151234567", "4420*", "120363@g.us"] });

    expect(["49151234567", "4420", "44201", "120363@g.us"].map((one) => mayWriteTo(own, to(one)))).toEqual(
      Array.from({ length: 4 }, () => true),
    );
    expect(["4915123456", "491512345678", "442", "1@lid", ""].map((one) => mayWriteTo(own, to(one)))).toEqual(
      Array.from({ length: 5 }, () => false),
    );
    expect(mayWriteTo(grants({ recipients: ["*"] }), to("anything@lid"))).toBe(true);
    expect(mayWriteTo(grants({ recipients: [] }), to("4915"))).toBe(false);
  });
});

describe("what a key may hand on", () => {
  const own = grants({ permissions: ["keys", "messages"], devices: ["1", "2"], recipients: ["49*", "4420"] });

  it("is all or part of what it has", () => {
    for (const wanted of [
      grants({ permissions: [], devices: [], recipients: [] }),
      grants({ permissions: ["messages"], devices: ["2"], recipients: ["4915*", "49*", "491", "4420"] }),
      own,
    ])
      expect(denial(() => requireMayGrant(own, wanted))).toBeNull();
    expect(denial(() => requireMayGrant(grants({ permissions: ["*"] }), own))).toBeNull();
    expect(
      denial(() => requireMayGrant(grants({ permissions: ["*"] }), grants({ permissions: ["*"] }))),
    ).toBeNull();
  });

  it.each<[string, Partial<Grants>]>([
    ["media", { permissions: ["messages", "media"] }],
    ["*", { permissions: ["*"] }],
    ["devices", { devices: ["1", "3"] }],
    ["devices", { devices: null }],
    ["recipients", { recipients: null }],
    ["recipients", { recipients: ["*"] }],
    ["recipients", { recipients: ["4*"] }],
    ["recipients", { recipients: ["4420*"] }],
    ["recipients", { recipients: ["48"] }],
  ])("is nothing beyond: %s in %j", (lacking, more) => {
    const wanted = grants({ permissions: ["messages"], devices: ["1"], recipients: ["4920"], ...more });

    expect(denial(() => requireMayGrant(own, wanted))).toBe(lacking);
  });
});
