import { createCipheriv, createHmac, randomBytes } from "node:crypto";
import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { mediaKeys } from "../../../src/model/media/media-keys.ts";
import { baileys } from "../../../src/whatsapp/baileys.ts";
import { messagesIn, pairsIn } from "../../../src/whatsapp/history/messages.ts";
import { historyNotice } from "../../../src/whatsapp/history/notice.ts";
import { HistoryUnusable, loadPiece, type LoadFile } from "../../../src/whatsapp/history/piece.ts";
import { inTurns } from "../../../src/whatsapp/history/turns.ts";

const { proto } = baileys;
const OWN = { pn: "31600000001@s.whatsapp.net", lid: "900001@lid" };
const ANA = "15550001@s.whatsapp.net";
const ANA_LID = "900@lid";
const GROUP = "120363000000000001@g.us";
const { INITIAL_BOOTSTRAP, RECENT, PUSH_NAME, ON_DEMAND } = proto.HistorySync.HistorySyncType;

type Info = Parameters<typeof proto.WebMessageInfo.encode>[0];
const said = (id: string, more: Partial<Info> & { fromMe?: boolean } = {}): Info => {
  const { fromMe = false, ...info } = more;
  return {
    key: { id, fromMe, remoteJid: "elsewhere@lid" },
    message: { conversation: id },
    messageTimestamp: 1,
    ...info,
  };
};
const chat = (id: string, messages: Info[], more: object = {}) => ({
  id,
  messages: messages.map((message, msgOrderId) => ({ message, msgOrderId })),
  ...more,
});
const encoded = (conversations: object[], more: object = {}): Uint8Array =>
  proto.HistorySync.encode({ syncType: RECENT, conversations, ...more }).finish();
const read = (piece: Uint8Array) => [...messagesIn(piece, OWN)].filter((one) => one !== null);

describe("a piece of history", () => {
  it("is read chat by chat, the oldest first, in the chat's own address, with what its writer calls himself", () => {
    const piece = encoded([
      chat(ANA_LID, [said("new", { fromMe: true }), said("old")], {
        pnJid: ANA,
        name: "Ana at the corner",
        displayName: "Ana",
      }),
      chat(ANA, [said("by number", { pushName: "Ana B." })], { lidJid: ANA_LID, name: "ignored" }),
    ]);
    expect(read(piece)).toMatchObject([
      { key: { id: "old", remoteJid: ANA_LID, remoteJidAlt: ANA, fromMe: false } },
      { key: { id: "new", remoteJid: ANA_LID, remoteJidAlt: ANA, fromMe: true } },
      { key: { id: "by number", remoteJid: ANA, remoteJidAlt: ANA_LID }, pushName: "Ana B." },
    ]);
    // Names of the owner's address book are his own.
    expect(read(piece)[0]!.pushName).toBeFalsy();
  });

  it("names who wrote in a group, wherever the phone has put it", () => {
    const group = chat(GROUP, [
      said("mine", { fromMe: true }),
      said("beside", { participant: ANA }),
      said("in the key", { key: { id: "in the key", participant: ANA_LID } }),
      said("nobody"),
    ]);
    expect(read(encoded([group])).map(({ key }) => [key.id, key.participant])).toEqual([
      ["in the key", ANA_LID],
      ["beside", ANA],
      ["mine", OWN.pn],
    ]);
  });

  it("shows a message that was edited as what it says now", () => {
    const editedMessage = { conversation: "tea, please" };
    const protocolMessage = { type: 14, key: { id: "order" }, editedMessage };
    const piece = encoded([
      chat(ANA, [
        said("edit", { message: { protocolMessage } }),
        said("x", { message: { editedMessage: { message: { protocolMessage } } } }),
      ]),
    ]);
    expect(read(piece)).toMatchObject([
      { key: { id: "order" }, message: editedMessage },
      { key: { id: "order" }, message: editedMessage },
    ]);
  });

  it("is left alone where it holds no chat with people, and nothing that somebody said", () => {
    const piece = encoded([
      chat("status@broadcast", [said("a status")]),
      chat("1@newsletter", [said("a post")]),
      chat(ANA, [said("a change", { message: null }), said("")]),
    ]);
    expect(read(piece)).toEqual([]);
  });

  it("whose bytes are spoilt gives what can be read, and ends", () => {
    const whole = encoded([
      chat(ANA, [said("one"), said("two")]),
      chat(GROUP, [said("x", { participant: ANA })]),
    ]);
    for (let at = 0; at < whole.length; at++) {
      const spoilt = Uint8Array.from(whole);
      spoilt[at]! ^= 0xff;
      expect(read(spoilt).length).toBeLessThanOrEqual(3);
      expect(read(whole.subarray(0, at)).length).toBeLessThanOrEqual(3);
    }
  });

  it("lets others have their turn while very much of it is looked through", () => {
    const many = Array.from({ length: 10_000 }, (_, n) => said(`${n}`));
    const breaths = [...messagesIn(encoded([chat(ANA, many)]), OWN)].filter((one) => one === null);
    expect(breaths.length).toBeGreaterThan(3);
  });

  it("tells pairs of numbers and LIDs", () => {
    const phoneNumberToLidMappings = [
      { pnJid: ANA, lidJid: ANA_LID },
      { pnJid: "nobody", lidJid: ANA_LID },
    ];
    expect([...pairsIn(encoded([], { phoneNumberToLidMappings }))]).toEqual([{ pn: ANA, lid: ANA_LID }]);
  });
});

describe("the notice of a piece", () => {
  const notice = (syncType: number) => ({ protocolMessage: { historySyncNotification: { syncType } } });
  it("counts when the piece holds messages that nobody has asked for", () => {
    expect(
      [INITIAL_BOOTSTRAP, RECENT, PUSH_NAME, ON_DEMAND].map((type) => historyNotice(notice(type)) !== null),
    ).toEqual([true, true, false, false]);
    expect(historyNotice({ conversation: "history" })).toBeNull();
  });

  const piece = encoded([chat(ANA, [said("one")])]);
  const mediaKey = randomBytes(32);
  const sealed = (plain: Uint8Array): Buffer => {
    const { iv, cipherKey, macKey } = mediaKeys(mediaKey, "history");
    const cipher = createCipheriv("aes-256-cbc", cipherKey, iv);
    const bytes = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([
      bytes,
      createHmac("sha256", macKey).update(iv).update(bytes).digest().subarray(0, 10),
    ]);
  };
  const from =
    (file: Buffer): LoadFile =>
    async (_, read) =>
      read(
        (async function* () {
          for (let at = 0; at < file.length; at += 7) yield file.subarray(at, at + 7);
        })(),
      );
  const none: LoadFile = () => Promise.reject(new Error("Nothing is to be loaded."));

  it("brings it along, or says where it lies", async () => {
    const inline = { initialHistBootstrapInlinePayload: deflateSync(piece) };
    expect(await loadPiece(inline, none)).toEqual(Buffer.from(piece));
    const elsewhere = { mediaKey, directPath: "/v/t" };
    expect(await loadPiece(elsewhere, from(sealed(deflateSync(piece))))).toEqual(Buffer.from(piece));
  });

  it("is useless when its file is damaged, swells beyond measure, or is nowhere", async () => {
    const damaged = sealed(deflateSync(piece));
    damaged[3]! ^= 1;
    const bomb = deflateSync(Buffer.alloc(200 * 1024 * 1024));
    for (const [notice, load] of [
      [{ mediaKey, directPath: "/v/t" }, from(damaged)],
      [{ mediaKey, directPath: "/v/t" }, from(Buffer.from("short"))],
      [{ initialHistBootstrapInlinePayload: bomb }, none],
      [{ initialHistBootstrapInlinePayload: Buffer.from("no zlib") }, none],
      [{ directPath: "/v/t" }, none],
      [{}, none],
    ] as const)
      await expect(loadPiece(notice, load)).rejects.toThrow(HistoryUnusable);
  });
});

it("few are at it at a time, and the others wait in their order", async () => {
  const inTurn = inTurns(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const all = [0, 1, 2, 3].map((n) =>
    inTurn(async () => {
      begun.push(n);
      await new Promise<void>((resolve) => ends.push(resolve));
      if (n === 1) throw new Error("failed");
    }).catch(() => undefined),
  );
  await new Promise(setImmediate);
  expect(begun).toEqual([0, 1]);
  ends[1]!();
  await expect.poll(() => begun).toEqual([0, 1, 2]);
  ends[0]!();
  await expect.poll(() => begun).toEqual([0, 1, 2, 3]);
  for (const end of ends) end();
  await Promise.all(all);
});
