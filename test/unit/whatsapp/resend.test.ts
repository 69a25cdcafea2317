import { describe, expect, it } from "vitest";
import { createResends } from "../../../src/whatsapp/send/resend.ts";

const OWN = { pn: "3160@s.whatsapp.net", lid: "900@lid" };
const ANA = { pn: "4911@s.whatsapp.net", lid: "111@lid" };
const BEN = { pn: "4922@s.whatsapp.net", lid: "222@lid" };
/** Hides her number: it is nowhere stored. */
const HIDDEN = "333@lid";
const GROUP = "12@g.us";
const numbers = new Map([
  ["111", "4911"],
  ["222", "4922"],
]);
/** Brazilian numbers are known with or without their ninth digit. */
const TYPED = "5511987654321@s.whatsapp.net";
const KNOWN_AS = "551187654321@s.whatsapp.net";

/** Whether somebody who asks gets what was sent to an address. */
async function getsIt(sentTo: string, asker: { remoteJid?: string; participant?: string }, chat = sentTo) {
  const ask = createResends({
    composer: { again: async ({ jid }) => ({ conversation: `for ${jid}` }) },
    sentMessage: async (waId) =>
      waId === "ID" ? { draft: { kind: "text", text: "the code is 4711" }, chat, jid: sentTo } : null,
    own: () => OWN,
    numbersOfLids: async (users) => new Map([...numbers].filter(([user]) => users.includes(user))),
    formThatCounts: async (jid) => (jid === TYPED ? KNOWN_AS : jid),
  });
  const answer = await ask({ id: "ID", ...asker });
  expect(await ask({ ...asker, id: "OTHER" })).toBeUndefined();
  return answer !== undefined;
}

/** As Baileys reads a retry receipt of a person: it names the device that asks, twice. */
const from = (jid: string, device = 0) => {
  const [user, server] = jid.split("@");
  const asking = device ? `${user}:${device}@${server}` : jid;
  return { remoteJid: asking, participant: asking };
};

describe("a message is sent again", () => {
  const forms = [
    [ANA.pn, ANA.pn],
    [ANA.pn, ANA.lid],
    [ANA.lid, ANA.pn],
    [ANA.lid, ANA.lid],
    [HIDDEN, HIDDEN],
  ] as const;

  it.each(forms)("that was sent to %s, to whoever asks as %s, whatever the device", async (sentTo, asker) => {
    expect(await getsIt(sentTo, from(asker))).toBe(true);
    expect(await getsIt(sentTo, from(asker, 12))).toBe(true);
    expect(await getsIt(sentTo, from(asker.replace("@s.whatsapp.net", "@hosted"), 99))).toBe(true);
  });

  it("to the form of a number that WhatsApp knows it by", async () => {
    expect(await getsIt(TYPED, from(KNOWN_AS))).toBe(true);
    expect(await getsIt(TYPED, from(BEN.pn))).toBe(false);
  });

  it("to members of the group that it was sent to", async () => {
    for (const participant of [ANA.pn, "111:3@lid", "900:2@lid"])
      expect(await getsIt(GROUP, { remoteJid: GROUP, participant })).toBe(true);
  });

  it.each([
    [ANA.pn, ANA.pn],
    [ANA.pn, ANA.lid],
    [ANA.lid, ANA.pn],
    [ANA.lid, ANA.lid],
  ])("that was sent to %s, to an own device that names the chat %s", async (sentTo, remoteJid) => {
    for (const participant of ["3160:2@s.whatsapp.net", "3160@s.whatsapp.net", "900:2@lid", "900@lid"])
      expect(await getsIt(sentTo, { remoteJid, participant })).toBe(true);
  });

  it("to oneself, when it was sent to oneself", async () => {
    expect(await getsIt(OWN.pn, { remoteJid: OWN.pn, participant: "3160:2@s.whatsapp.net" })).toBe(true);
  });

  it("to nobody else who knows its id", async () => {
    for (const sentTo of [ANA.pn, ANA.lid, HIDDEN, GROUP, "7@newsletter"])
      for (const stranger of [BEN.pn, BEN.lid, "444@lid", "4933@s.whatsapp.net"])
        for (const device of [0, 12])
          expect(await getsIt(sentTo, from(stranger, device)), `${sentTo} ${stranger}`).toBe(false);
  });

  it("into no other chat, whoever asks", async () => {
    const own = "3160:2@s.whatsapp.net";
    expect(await getsIt(ANA.pn, { remoteJid: BEN.pn, participant: own })).toBe(false);
    expect(await getsIt(ANA.pn, { remoteJid: GROUP, participant: ANA.pn })).toBe(false);
    expect(await getsIt(GROUP, { remoteJid: "13@g.us", participant: ANA.pn })).toBe(false);
    expect(await getsIt(GROUP, from(ANA.pn))).toBe(false);
    expect(await getsIt(ANA.pn, { remoteJid: ANA.pn, participant: BEN.pn })).toBe(false);
    expect(await getsIt(ANA.pn, {})).toBe(false);
    expect(await getsIt(ANA.pn, { participant: ANA.pn })).toBe(false);
  });
});
