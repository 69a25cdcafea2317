import type { BinaryNode } from "@whiskeysockets/baileys";
import { describe, expect, it } from "vitest";
import { createAcks } from "../../../src/whatsapp/send/acks.ts";
import { readGroupChanges } from "../../../src/whatsapp/groups/group-changes.ts";
import { readGroups } from "../../../src/whatsapp/groups/group-nodes.ts";
import { readOwnReading, readReceipts } from "../../../src/whatsapp/receive/receipts.ts";
import { systemTime } from "../../../src/model/time.ts";
import { createStanzas } from "../../../src/whatsapp/receive/stanzas.ts";

const NOW = 1_800_000_000_000;
const OWN = { pn: "3160@s.whatsapp.net", lid: "900@lid" };

const ack = (id: string, attrs: Record<string, string> = {}) => ({
  tag: "ack",
  attrs: { id, class: "message", ...attrs },
});

const removal = (jid: string) => ({
  tag: "notification",
  attrs: { from: "12@g.us" },
  content: [{ tag: "remove", attrs: {}, content: [{ tag: "participant", attrs: { jid } }] }],
});

const receipt = (attrs: Record<string, string>, ids: string[] = []) =>
  readReceipts(
    {
      tag: "receipt",
      attrs: { id: "A", t: "1700000000", ...attrs },
      content: ids.length
        ? [{ tag: "list", attrs: {}, content: ids.map((id) => ({ tag: "item", attrs: { id } })) }]
        : undefined,
    },
    OWN,
    NOW,
  );

describe("receipts", () => {
  it("tell what became of one message or many", () => {
    expect(receipt({ from: "3155:1@s.whatsapp.net" })).toEqual([
      { waId: "A", jid: "3155@s.whatsapp.net", state: "delivered", at: 1_700_000_000_000 },
    ]);
    expect(
      receipt({ from: "3155@s.whatsapp.net", type: "read" }, ["B", "C"]).map(
        ({ waId, state }) => waId + state,
      ),
    ).toEqual(["Aread", "Bread", "Cread"]);
    expect(receipt({ from: "12@g.us", participant: "555@lid", type: "played" })).toMatchObject([
      { jid: "12@g.us", state: "played" },
    ]);
  });

  // One of them would keep the receipts of every number from being stored.
  it.each(["soon", "NaN", "-5", "17.5", "1e300", "9007199254740993", "Infinity"])(
    "that came at %s came now",
    (t) => {
      expect(receipt({ from: "3155@s.whatsapp.net", t })).toMatchObject([{ at: NOW }]);
    },
  );

  it("of a phone that cannot show the message say nothing, and are not taken for a delivery", () => {
    const attrs = { id: "A", from: "555@lid", t: "1700000000" };
    const content = [{ tag: "error", attrs: { reason: "lid", type: "feature-incapable" } }];
    expect(readReceipts({ tag: "receipt", attrs, content }, OWN, NOW)).toEqual([]);
    expect(receipt({ from: "555@lid", type: "delivery" })).toMatchObject([{ state: "delivered" }]);
  });

  const reading = (attrs: Record<string, string>) =>
    readOwnReading({ tag: "receipt", attrs: { id: "A", t: "1700000000", ...attrs } }, OWN, NOW);

  it.each([
    ["3160@s.whatsapp.net", "3155@s.whatsapp.net", "read", "3155@s.whatsapp.net"],
    ["900:3@lid", "555:1@lid", "read-self", "555@lid"],
    ["900@hosted.lid", "555@hosted.lid", "read", "555@lid"],
  ])(
    "of the account itself, from %s about %s, say what its owner has read (%s)",
    (from, recipient, type, jid) => {
      expect(reading({ from, recipient, type })).toEqual({ jid, waIds: ["A"], at: 1_700_000_000_000 });
      expect(receipt({ from, recipient, type })).toEqual([]);
    },
  );

  it("of the account itself name the group, whoever has written", () => {
    const attrs = {
      from: "12@g.us",
      participant: "900:2@lid",
      recipient: "555@lid",
      type: "read",
      t: "soon",
    };
    expect(reading(attrs)).toEqual({ jid: "12@g.us", waIds: ["A"], at: NOW });
    expect(receipt(attrs)).toEqual([]);
  });

  it.each<Record<string, string>>([
    { from: "3155@s.whatsapp.net", type: "read" },
    { from: "3155@s.whatsapp.net", recipient: "3160@s.whatsapp.net", type: "read" },
    { from: "12@g.us", participant: "555@lid", recipient: "900@lid", type: "read" },
    { from: "3160@s.whatsapp.net", type: "read" },
    { from: "3160@s.whatsapp.net", recipient: "900@lid", type: "read" },
    { from: "3160@s.whatsapp.net", recipient: "status@broadcast", type: "read" },
    { from: "3160@s.whatsapp.net", recipient: "3155@s.whatsapp.net", type: "played" },
    { from: "3160@s.whatsapp.net", recipient: "3155@s.whatsapp.net", type: "sender" },
    { from: "3160@s.whatsapp.net", recipient: "3155@s.whatsapp.net" },
  ])("%j is nothing that the owner has read elsewhere", (attrs) => {
    expect(reading(attrs)).toBeNull();
  });

  it("of the own devices, and of other kinds, say nothing", () => {
    expect(receipt({ from: "3160@s.whatsapp.net" })).toEqual([]);
    expect(receipt({ from: "12@g.us", participant: "900:2@lid", type: "read" })).toEqual([]);
    expect(receipt({ from: "3155@s.whatsapp.net", type: "retry" })).toEqual([]);
    expect(receipt({ from: "3155@s.whatsapp.net", type: "sender" })).toEqual([]);
  });
});

describe("acks", () => {
  it("end the wait of their message: accepted, refused, or lost with the connection", async () => {
    const acks = createAcks(systemTime);
    const [one, two, three] = [acks.expect("1"), acks.expect("2"), acks.expect("3")];
    acks.note(ack("2", { error: "463" }));
    acks.note(ack("1", { phash: "2:abc" }));
    acks.fail();
    expect(await one.result).toEqual({ kind: "accepted", participantHash: "2:abc" });
    expect(await two.result).toEqual({ kind: "refused", code: 463 });
    expect(await three.result).toEqual({ kind: "closed" });
  });

  it("a receipt says that the server has the message", async () => {
    const acks = createAcks(systemTime);
    const wait = acks.expect("1");
    acks.note({ tag: "receipt", attrs: { id: "1", from: "3155@s.whatsapp.net" } });
    expect(await wait.result).toEqual({ kind: "accepted", participantHash: null });
  });

  it("that do not come end as a timeout", async () => {
    const wait = createAcks(systemTime).expect("1");
    wait.written(1);
    expect(await wait.result).toEqual({ kind: "timeout" });
  });

  it("are waited for from when the message is written, and may come before that is known", async () => {
    const timers: number[] = [];
    const acks = createAcks({ ...systemTime, after: (ms) => (timers.push(ms), () => undefined) });
    const wait = acks.expect("1");
    expect(timers).toEqual([]);
    acks.note(ack("1"));
    wait.written(15_000);
    expect(timers).toEqual([]);
    expect(await wait.result).toMatchObject({ kind: "accepted" });
    acks.expect("2").written(15_000);
    expect(timers).toEqual([15_000]);
  });
});

describe("groups", () => {
  it("are read with members in both ways of addressing", () => {
    const answer: BinaryNode = {
      tag: "iq",
      attrs: {},
      content: [
        {
          tag: "groups",
          attrs: {},
          content: [
            {
              tag: "group",
              attrs: { id: "12", subject: "Team", size: "300", addressing_mode: "lid" },
              content: [
                { tag: "announcement", attrs: {} },
                {
                  tag: "participant",
                  attrs: { jid: "555@lid", phone_number: "3155@s.whatsapp.net", type: "admin" },
                },
                { tag: "participant", attrs: { jid: "3166@s.whatsapp.net", lid: "666@lid" } },
                { tag: "participant", attrs: { jid: "999@lid" } },
              ],
            },
            { tag: "group", attrs: { id: "13@g.us" }, content: [{ tag: "parent", attrs: {} }] },
          ],
        },
      ],
    };
    expect(readGroups(answer)).toEqual([
      {
        id: "12@g.us",
        subject: "Team",
        size: 300,
        announce: true,
        community: false,
        announcements: false,
        ephemeral: 0,
        version: null,
        addressing: "lid",
        participants: [
          { id: "555@lid", number: "3155", lid: "555@lid", admin: true },
          { id: "3166@s.whatsapp.net", number: "3166", lid: "666@lid", admin: false },
          { id: "999@lid", number: null, lid: "999@lid", admin: false },
        ],
      },
      {
        id: "13@g.us",
        subject: "",
        size: 0,
        announce: false,
        community: true,
        announcements: false,
        ephemeral: 0,
        version: null,
        addressing: "pn",
        participants: [],
      },
    ]);
  });

  it("a notification tells that the number itself was removed", () => {
    const kinds = (jid: string) => readGroupChanges(removal(jid), OWN).map(({ kind }) => kind);
    expect(kinds("900@lid")).toEqual(["left"]);
    expect(kinds("555@lid")).toEqual(["members"]);
  });
});

describe("stanzas", () => {
  it("a ciphertext is known by itself; a channel's plain post passes the journal as well", () => {
    const stanzas = createStanzas(systemTime);
    const [cipher, plain] = [Buffer.from("c"), Buffer.from("p")];
    const node: BinaryNode = {
      tag: "message",
      attrs: { id: "1" },
      content: [
        { tag: "enc", attrs: { type: "msg" }, content: cipher },
        { tag: "plaintext", attrs: {}, content: plain },
      ],
    };
    stanzas.note(node);
    expect(stanzas.originOf(cipher)).toEqual({ attributes: { id: "1" }, plain: false });
    expect(stanzas.originOf(plain)?.plain).toBe(true);
    expect((node.content as BinaryNode[])[1]).toMatchObject({ tag: "enc", attrs: { type: "msg" } });
    expect(stanzas.originOf(Buffer.from("c"))).toBeUndefined();
  });
});
