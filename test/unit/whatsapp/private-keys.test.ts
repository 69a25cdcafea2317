import { createPrivateKey } from "node:crypto";
import { queryObjects } from "node:v8";
import { expect, it } from "vitest";
import { decrypt } from "../../../src/whatsapp/everyday/ratchet.ts";
import { newX25519Pair } from "../../../src/whatsapp/x25519.ts";
import { openChat } from "../../properties/ratchet-chat.ts";
import { NOW } from "../../properties/ratchet-party.ts";

const PrivateKey = createPrivateKey({
  key: { kty: "OKP", crv: "X25519", ...newX25519Pair() },
  format: "jwk",
}).constructor;

/** Private keys that something in this process holds, after a garbage collection. */
const held = (): number => queryObjects(PrivateKey, { format: "count" });

it("messages with a wrong MAC leave no private key in memory", async () => {
  const { ana, ben, write } = await openChat();
  // Ben has not seen this ratchet key: each try makes a pair.
  const { body } = write(ana);
  body[body.length - 1]! ^= 1;
  const before = held();
  for (let n = 0; n < 500; n++)
    expect(() => decrypt(ben.record!, body, ben.identity.pubKey, NOW)).toThrow("wrong_mac");
  expect(held()).toBeLessThan(before + 5);
});

it("a private key goes with its record, also when Baileys' way has replaced that", async () => {
  const { ana, ben, write } = await openChat();
  const before = held();
  for (let turn = 0; turn < 50; turn++) {
    ben.keep(decrypt(ben.record!, write(ana).body, ben.identity.pubKey, NOW).record);
    ana.keep((await ana.decrypt(write(ben), null))!.record);
    ben.keep((await ben.decrypt(write(ana), null))!.record);
    ana.keep((await ana.decrypt(write(ben), null))!.record);
  }
  expect(held()).toBeLessThan(before + 5);
});
