import { createCipheriv, createHash, hkdfSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Incoming } from "../../../src/model/messages.ts";
import { baileys } from "../../../src/whatsapp/baileys.ts";
import { readPlaintext } from "../../../src/whatsapp/content/conversion.ts";
import { readContent } from "../../../src/whatsapp/content/content.ts";
import { createKnownPolls } from "../../../src/whatsapp/content/known-polls.ts";
import { addedOption, withReadablePolls } from "../../../src/whatsapp/content/newer-polls.ts";
import { createPollReader } from "../../../src/whatsapp/content/poll-votes.ts";
import { createEditReader } from "../../../src/whatsapp/content/sealed-edits.ts";
import type { SealedSources } from "../../../src/whatsapp/content/sealed-sources.ts";
import { incoming } from "../bot/messages.ts";

const { proto } = baileys;
const ANA = { pn: "15550001@s.whatsapp.net", lid: "900@lid" };
const BEN = { pn: "15550002@s.whatsapp.net", lid: "901@lid" };
const OWN = { pn: "31600000001@s.whatsapp.net", lid: "900001@lid" };
const GROUP = "120363000000000001@g.us";
const POLL = "3AHERS";
const secret = Buffer.alloc(32, 7);

const varint = (value: number): number[] =>
  value > 127 ? [(value % 128) | 128, ...varint(Math.floor(value / 128))] : [value];
const field = (number: number, value: Uint8Array | string): Buffer =>
  Buffer.concat([
    Buffer.from([...varint(number * 8 + 2), ...varint(Buffer.byteLength(value))]),
    Buffer.from(value as string),
  ]);

/** `pollCreationMessageV6` with `allowAddOption`, as WhatsApp Web writes it. */
const creation = (name: string, ...options: string[]): Buffer =>
  Buffer.concat([
    field(2, name),
    ...options.map((option) => field(3, field(1, option))),
    Buffer.from([4 * 8, 1, 11 * 8, 1]),
  ]);
const v6 = field(119, creation("When?", "Mon", "Tue"));

describe("a poll of the sixth form", () => {
  it.each<[string, Buffer]>([
    ["alone", v6],
    ["beside what else a message has", Buffer.concat([v6, field(35, field(3, secret))])],
    ["in the copy of an own device", field(31, Buffer.concat([field(1, GROUP), field(2, v6)]))],
    ["in a message that disappears", field(40, field(1, v6))],
    ["in both", field(31, field(2, field(40, field(1, v6))))],
  ])("%s is read", (_where, bytes) => {
    const { message } = readPlaintext(Buffer.concat([bytes, Buffer.from([1])]));
    expect(readContent(message)).toMatchObject({
      type: "poll",
      text: "When?",
      poll: { name: "When?", options: ["Mon", "Tue"] },
    });
  });

  it("that the owner's phone sends again is read", () => {
    const bytes = Buffer.concat([field(1, field(3, "ID")), field(2, v6)]);
    const { message } = proto.WebMessageInfo.decode(withReadablePolls(bytes, 2));
    expect(readContent(message!)).toMatchObject({ poll: { name: "When?" } });
  });

  it("is looked for in whatever comes: what is none stays as it is", () => {
    const texts = ["", "\u00ba\u0007 hello", "x".repeat(100_000)];
    for (const text of texts) {
      const bytes = proto.Message.encode({ extendedTextMessage: { text } }).finish();
      expect(Buffer.from(withReadablePolls(bytes)).equals(bytes)).toBe(true);
    }
    // The bytes of the tag in a text are no tag.
    const inText = Buffer.concat([field(1, Buffer.from([0xba, 0x07, 0x00, 0x61]))]);
    expect(Buffer.from(withReadablePolls(inText)).equals(inText)).toBe(true);
    for (let cut = 0; cut < v6.length; cut++)
      expect(() => withReadablePolls(v6.subarray(0, cut))).not.toThrow();
    const deep = Array.from({ length: 50 }).reduce<Buffer>((inner) => field(40, field(1, inner)), v6);
    expect(Buffer.from(withReadablePolls(deep)).equals(deep)).toBe(true);
  });
});

const member = ({ pn, lid }: typeof ANA, change: Partial<Incoming> = {}): Incoming =>
  incoming({ chatKey: GROUP, sender: pn, participant: lid, number: pn.split("@")[0]!, lid, ...change });

const arrived = member(ANA, {
  id: POLL,
  type: "poll",
  raw: Buffer.concat([withReadablePolls(v6), field(35, field(3, secret))]).toString("base64"),
  poll: { id: POLL, name: "When?", options: ["Mon", "Tue"] },
});

/** A chat in which a poll has arrived, and what has changed it. */
function chat() {
  const changes: Incoming[] = [];
  const sources: SealedSources = {
    sent: async () => null,
    received: async (_chat, id) => (id === POLL ? arrived : null),
    changes: async (_chat, id) => (id === POLL ? changes : []),
    lidOfNumber: async () => null,
  };
  const own = () => OWN;
  const box = { hmac: () => Buffer.alloc(32) };
  const polls = createKnownPolls(sources, own, box);
  const edits = createEditReader(sources, own, box, polls);
  const votes = createPollReader(sources, own, polls);
  const edit = async (who: typeof ANA, message: InstanceType<typeof proto.Message>) => {
    const read = await edits(member(who, { type: "edit", text: "", targetId: POLL }), message);
    changes.push(read);
    return read;
  };
  const vote = (who: typeof ANA, ...names: string[]) =>
    votes(member(who, { type: "poll_vote", text: "", targetId: POLL }), voteFor(who, names));
  return { edit, vote };
}

function sealed(plain: Uint8Array, type: number, use: string, { author = ANA.lid, editor = BEN.lid } = {}) {
  const info = `${POLL}${author}${editor}${use}`;
  const key = Buffer.from(hkdfSync("sha256", secret, Buffer.alloc(32), info, 32));
  const encIv = Buffer.from("0123456789ab");
  const cipher = createCipheriv("aes-256-gcm", key, encIv);
  const encPayload = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  const message = { targetMessageKey: { id: POLL }, encPayload, encIv, secretEncType: type };
  return proto.Message.decode(proto.Message.encode({ secretEncryptedMessage: message }).finish());
}

function voteFor(voter: typeof ANA, names: string[]) {
  const info = `${POLL}${ANA.lid}${voter.lid}Poll Vote`;
  const key = Buffer.from(hkdfSync("sha256", secret, Buffer.alloc(32), info, 32));
  const encIv = Buffer.from("0123456789ab");
  const cipher = createCipheriv("aes-256-gcm", key, encIv).setAAD(Buffer.from(`${POLL}\u0000${voter.lid}`));
  const selectedOptions = names.map((name) => createHash("sha256").update(name).digest());
  const plain = proto.Message.PollVoteMessage.encode({ selectedOptions }).finish();
  const encPayload = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  const vote = { pollCreationMessageKey: { id: POLL }, vote: { encPayload, encIv } };
  return proto.Message.decode(proto.Message.encode({ pollUpdateMessage: vote }).finish());
}

const option = (name: string): Buffer =>
  field(121, Buffer.concat([field(1, field(3, POLL)), field(2, field(1, name))]));

describe("a poll that has changed", () => {
  it.each(["Poll Add Option", "Poll Edit"])("has the options that others have added (%s)", async (use) => {
    const { edit, vote } = chat();
    expect(await edit(BEN, sealed(option("Wed"), 5, use))).toMatchObject({
      type: "edit",
      text: "When?",
      poll: { id: POLL, name: "When?", options: ["Mon", "Tue", "Wed"] },
    });
    expect((await vote(BEN, "Wed")).poll?.vote?.selected).toEqual(["Wed"]);
  });

  it("is what its author has made of it; nobody else can", async () => {
    const { edit, vote } = chat();
    const better = field(119, creation("When, really?", "Mon", "Tue", "Fri"));
    const forged = await edit(BEN, sealed(better, 4, "Poll Edit"));
    expect([forged.text, forged.poll ?? null]).toEqual(["", null]);
    const made = await edit(ANA, sealed(better, 4, "Poll Edit", { editor: ANA.lid }));
    expect(made).toMatchObject({ text: "When, really?", poll: { id: POLL, options: ["Mon", "Tue", "Fri"] } });
    expect(await vote(BEN, "Fri")).toMatchObject({
      text: "Fri",
      poll: { name: "When, really?", options: ["Mon", "Tue", "Fri"] },
    });
  });

  it("does not take a vote for an option that is not known for none", async () => {
    const { vote } = chat();
    expect((await vote(BEN, "Sun")).poll).toMatchObject({ name: "When?", vote: null });
    expect((await vote(BEN, "Sun", "Mon")).poll?.vote?.selected).toEqual(["Mon"]);
    expect((await vote(BEN)).poll?.vote?.selected).toEqual([]);
  });

  it("says nothing with what adds no option", async () => {
    for (const plain of [
      Buffer.alloc(0),
      field(121, ""),
      field(121, field(2, "")),
      field(1, "Wed"),
      Buffer.from([255, 255]),
    ])
      expect(addedOption(plain) || null).toBeNull();
    const { edit } = chat();
    for (const plain of [option(""), option("x".repeat(1_001)), field(1, "Wed")])
      expect((await edit(BEN, sealed(plain, 5, "Poll Add Option"))).poll ?? null).toBeNull();
  });
});
