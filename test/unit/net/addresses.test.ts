import { describe, expect, it } from "vitest";
import { isPublicAddress, literalAddress } from "../../../src/net/addresses.ts";

describe("a public address", () => {
  it.each(["8.8.8.8", "93.184.216.34", "1.1.1.1", "2606:4700::1111", "2a00:1450:4001::8"])(
    "is %s",
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  it.each([
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "198.18.0.1",
    "192.0.0.192",
    "192.0.2.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "2002:7f00:1::",
    "2001::1",
    "2001:db8::1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "fd00::1",
    "ff02::1",
    "100::1",
    "",
    "localhost",
    "not an address",
  ])("is not %s", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it("is recognised in every form that a URL may give it", () => {
    const hosts = [
      "2130706433",
      "0x7f.1",
      "0x7f000001",
      "0177.0.0.1",
      "127.1",
      "[::ffff:127.0.0.1]",
      "0",
      "１２７.0.0.1",
    ];

    for (const host of hosts) {
      const literal = literalAddress(new URL(`http://${host}/`).hostname);
      expect({ host, literal }).not.toEqual({ host, literal: null });
      expect(isPublicAddress(literal!)).toBe(false);
    }
    expect(literalAddress("example.com")).toBeNull();
  });
});
