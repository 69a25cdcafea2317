import type { IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import { callerAddress } from "../../../src/api/access/wrong-keys.ts";

const from = (remoteAddress: string | undefined, forwarded?: string): IncomingMessage =>
  ({ socket: { remoteAddress }, headers: { "x-forwarded-for": forwarded } }) as unknown as IncomingMessage;

describe("whom a wrong key is counted for", () => {
  it.each([
    ["127.0.0.1", undefined, "127.0.0.1"],
    ["::ffff:10.0.0.1", undefined, "10.0.0.1"],
    ["10.0.0.1", "1.2.3.4", "10.0.0.1"],
    [undefined, undefined, "unknown"],
  ])("is the connection's address: %s", (address, forwarded, expected) => {
    expect(callerAddress(from(address, forwarded), false)).toBe(expected);
  });

  it.each([
    ["1.2.3.4", "1.2.3.4"],
    ["9.9.9.9, 1.2.3.4", "1.2.3.4"],
    ["anything at all,1.2.3.4 ", "1.2.3.4"],
    ["1.2.3.4, nonsense", "10.0.0.1"],
    ["", "10.0.0.1"],
  ])("is what the proxy itself has added, when there is one: %s", (forwarded, expected) => {
    expect(callerAddress(from("10.0.0.1", forwarded), true)).toBe(expected);
  });

  it("is all of one customer's IPv6 addresses together", () => {
    const address = (text: string): string => callerAddress(from(text), false);
    expect(address("2001:db8::1")).toBe(address("2001:db8:0:0:ffff::9"));
    expect(address("2001:db8::1")).not.toBe(address("2001:db8:0:1::1"));
  });
});
