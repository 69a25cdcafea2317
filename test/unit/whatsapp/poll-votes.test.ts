import { createCipheriv, createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { PollDraft } from "../../../src/model/content/drafts.ts";
import type { Incoming } from "../../../src/model/messages.ts";
import { baileys } from "../../../src/whatsapp/baileys.ts";
import { createKnownPolls } from "../../../src/whatsapp/content/known-polls.ts";
import { createPollReader } from "../../../src/whatsapp/content/poll-votes.ts";
import type { SealedSources } from "../../../src/whatsapp/content/sealed-sources.ts";
import { toWhatsApp } from "../../../src/whatsapp/content/to-whatsapp.ts";
import { incoming } from "../bot/messages.ts";

const OWN = { pn: "31600000001@s.whatsapp.net", lid: "900001@lid" };
const ANA = { pn: "15550001@s.whatsapp.net", lid: "900@lid" };
const POLL = "3EB0AABBCCDDEEFF001122";
const DRAFT: PollDraft = {
  kind: "poll",
  name: "Lunch?",
  options: ["Pizza", "Pasta", "Salat"],
  selectable: 0,
};
const box = { hmac: (purpose: string, data: string | Uint8Array) => hmac(Buffer.from(purpose), data) };

const { proto } = baileys;
const hmac = (key: Uint8Array, data: string | Uint8Array): Buffer =>
  createHmac("sha256", key).update(data).digest();

interface Cast {
  secret: Uint8Array;
  creator: string;
  voter: string;
  id?: string;
}

/** What a phone sends: HKDF over secret, poll, author and voter; AES-256-GCM bound to poll and voter. */
function voteMessage(options: string[], { secret, creator, voter, id = POLL }: Cast, at = 1_700_000_000_500) {
  const key = hmac(hmac(new Uint8Array(32), secret), `${id}${creator}${voter}Poll Vote\u0001`);
  const encIv = Buffer.from("0123456789ab");
  const cipher = createCipheriv("aes-256-gcm", key, encIv);
  cipher.setAAD(Buffer.from(`${id}\u0000${voter}`));
  const selectedOptions = options.map((name) => createHash("sha256").update(name).digest());
  const plain = proto.Message.PollVoteMessage.encode({ selectedOptions }).finish();
  const encPayload = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  return proto.Message.decode(
    proto.Message.encode({
      pollUpdateMessage: {
        pollCreationMessageKey: { id },
        vote: { encPayload, encIv },
        senderTimestampMs: at,
      },
    }).finish(),
  );
}

const secret = toWhatsApp(DRAFT, POLL, box).messageContextInfo!.messageSecret!;
const ofOurs: SealedSources = {
  sent: async (id) => (id === POLL ? DRAFT : null),
  received: async () => null,
  changes: async () => [],
  lidOfNumber: async (number) => (number === "15550001" ? "900" : null),
};
const said = (change: Partial<Incoming> = {}) =>
  incoming({ type: "poll_vote", text: "", timestamp: 1_700_000_000, targetId: POLL, ...change });
const read = (message: Incoming, vote: InstanceType<typeof proto.Message>, sources = ofOurs) =>
  createPollReader(
    sources,
    () => OWN,
    createKnownPolls(sources, () => OWN, box),
  )(message, vote);

describe("a vote on our own poll", () => {
  for (const [creator, author] of Object.entries(OWN))
    for (const [voterAs, voter] of Object.entries(ANA))
      it(`is read when the author goes by ${creator} and the voter by ${voterAs}`, async () => {
        const vote = voteMessage(["Salat", "Pizza"], { secret, creator: author, voter });

        for (const known of [{}, { lid: null }, { sender: ANA.lid, chat: ANA.lid }]) {
          const { text, poll } = await read(said(known), vote);
          expect(text).toBe("Pizza, Salat");
          expect(poll).toEqual({
            id: POLL,
            name: "Lunch?",
            options: DRAFT.options,
            vote: { selected: ["Pizza", "Salat"], at: 1_700_000_000_500 },
          });
        }
      });

  it("of the own phone is read by either of the own ids", async () => {
    for (const voter of Object.values(OWN)) {
      const vote = voteMessage(["Pasta"], { secret, creator: OWN.lid, voter });
      const { poll } = await read(
        said({ fromMe: true, sender: OWN.pn, number: "31600000001", lid: null }),
        vote,
      );
      expect(poll?.vote?.selected).toEqual(["Pasta"]);
    }
  });

  it("that is withdrawn chooses nothing, and is told from one that cannot be read", async () => {
    const withdrawn = await read(said(), voteMessage([], { secret, creator: OWN.pn, voter: ANA.pn }));
    expect(withdrawn.poll?.vote?.selected).toEqual([]);

    const forged = await read(said(), voteMessage(["Pizza"], { secret, creator: OWN.pn, voter: "7@lid" }));
    expect(forged.text).toBe("");
    expect(forged.poll).toEqual({ id: POLL, name: "Lunch?", options: DRAFT.options, vote: null });
  });

  it("from a phone whose clock is ahead is not dated later than WhatsApp's", async () => {
    const vote = voteMessage(["Pizza"], { secret, creator: OWN.pn, voter: ANA.pn }, 1_900_000_000_000);
    expect((await read(said(), vote)).poll?.vote?.at).toBe(1_700_000_000_999);
  });
});

describe("a vote on somebody else's poll", () => {
  const hers = Buffer.alloc(32, 7);
  const raw = proto.Message.encode({
    pollCreationMessageV3: { name: "Where?", options: [{ optionName: "Here" }, { optionName: "There" }] },
    messageContextInfo: { messageSecret: hers },
  }).finish();
  const arrived = incoming({
    id: "3AHERS",
    type: "poll",
    raw: Buffer.from(raw).toString("base64"),
    poll: { id: "3AHERS", name: "Where?", options: ["Here", "There"] },
  });
  const sources: SealedSources = {
    ...ofOurs,
    received: async (chat, id) => (chat === arrived.chatKey && id === "3AHERS" ? arrived : null),
  };

  it("is read when the poll arrived here, whichever ids author and voter go by", async () => {
    for (const creator of Object.values(ANA)) {
      const vote = voteMessage(["There"], {
        secret: hers,
        creator,
        voter: "4930@s.whatsapp.net",
        id: "3AHERS",
      });
      const { text, poll } = await read(
        said({ sender: "4930@s.whatsapp.net", number: "4930", lid: null }),
        vote,
        sources,
      );
      expect(text).toBe("There");
      expect(poll).toMatchObject({ id: "3AHERS", name: "Where?", vote: { selected: ["There"] } });
    }
  });

  it("that is not known names the poll's id and nothing else", async () => {
    const vote = voteMessage(["There"], { secret: hers, creator: ANA.pn, voter: ANA.pn, id: "3AOTHER" });
    expect((await read(said(), vote, sources)).poll).toEqual({
      id: "3AOTHER",
      name: null,
      options: [],
      vote: null,
    });
  });

  it("cannot take the place of ours by using its id", async () => {
    const posing = { ...sources, received: async () => ({ ...arrived, id: POLL }) };
    const vote = voteMessage(["There"], { secret: hers, creator: ANA.pn, voter: ANA.pn });
    expect((await read(said(), vote, posing)).poll).toMatchObject({ name: "Lunch?", vote: null });
  });
});

describe("a poll on the wire", () => {
  it("has the field of its kind, and the same secret every time", () => {
    const single: PollDraft = { ...DRAFT, selectable: 1 };
    const fieldOf = (draft: PollDraft, inAnnouncements: boolean) =>
      Object.keys(toWhatsApp(draft, POLL, box, { inAnnouncements })).filter((name) =>
        name.startsWith("poll"),
      );

    expect(fieldOf(single, false)).toEqual(["pollCreationMessageV3"]);
    expect(fieldOf(DRAFT, false)).toEqual(["pollCreationMessage"]);
    expect(fieldOf(single, true)).toEqual(["pollCreationMessageV2"]);
    expect(toWhatsApp(DRAFT, POLL, box)).toEqual(toWhatsApp(DRAFT, POLL, box));
    expect(toWhatsApp(single, POLL, box)).toMatchObject({
      pollCreationMessageV3: {
        name: "Lunch?",
        selectableOptionsCount: 1,
        options: [{ optionName: "Pizza" }, { optionName: "Pasta" }, { optionName: "Salat" }],
      },
    });
  });
});
