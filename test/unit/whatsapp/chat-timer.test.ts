import { LRUCache } from "lru-cache";
import { describe, expect, it } from "vitest";
import type { Draft } from "../../../src/model/content/drafts.ts";
import { commitIntake } from "../../../src/store/write/intake.ts";
import { baileys } from "../../../src/whatsapp/baileys.ts";
import { createChatTimers } from "../../../src/whatsapp/send/chat-timers.ts";
import { timerIn, type ChatTimer } from "../../../src/whatsapp/content/chat-timer.ts";
import { toWhatsApp } from "../../../src/whatsapp/content/to-whatsapp.ts";
import { temporaryStore } from "../store/temporary.ts";

const AT = 1_700_000_000;
const DAY = 86_400;
const PN = "4915001@s.whatsapp.net";
const LID = "77@lid";
const text = (contextInfo: object) => ({ extendedTextMessage: { text: "x", contextInfo } });
const { EPHEMERAL_SETTING, REVOKE } = baileys.proto.Message.ProtocolMessage.Type;

describe("the setting of a chat in a message", () => {
  it.each<[string, object, ChatTimer | null]>([
    ["a text", text({ expiration: DAY, ephemeralSettingTimestamp: AT - 5 }), { seconds: DAY, since: AT - 5 }],
    ["a text that does not say since when", text({ expiration: DAY }), { seconds: DAY, since: AT }],
    [
      "a picture with the time in milliseconds",
      { imageMessage: { contextInfo: { expiration: DAY, ephemeralSettingTimestamp: (AT - 5) * 1000 } } },
      { seconds: DAY, since: AT - 5 },
    ],
    [
      "a text within the older wrapper",
      { ephemeralMessage: { message: text({ expiration: DAY, ephemeralSettingTimestamp: 7 }) } },
      { seconds: DAY, since: 7 },
    ],
    [
      "a setting of the future, which no later one could change",
      text({ expiration: DAY, ephemeralSettingTimestamp: AT + 10 * DAY }),
      { seconds: DAY, since: AT },
    ],
    [
      "a change",
      {
        protocolMessage: { type: EPHEMERAL_SETTING, ephemeralExpiration: DAY, ephemeralSettingTimestamp: AT },
      },
      { seconds: DAY, since: AT },
    ],
    ["its end", { protocolMessage: { type: EPHEMERAL_SETTING } }, { seconds: 0, since: AT }],
    ["a text without an expiry", text({}), null],
    ["a plain text", { conversation: "x" }, null],
    ["another protocol message", { protocolMessage: { type: REVOKE, key: { id: "1" } } }, null],
    ["what is no time", text({ expiration: 4_000_000_000 }), null],
  ])("%s", (_what, message, expected) => {
    const bytes = baileys.proto.Message.encode(message).finish();
    expect(timerIn(baileys.proto.Message.decode(bytes), AT)).toEqual(expected);
  });

  it.each<Draft>([
    { kind: "text", text: "x" },
    { kind: "text", text: "@1", mentions: [PN], quote: { id: "1", sender: PN, fromMe: false, raw: "" } },
    { kind: "poll", name: "?", options: ["a", "b"], selectable: 1 },
    { kind: "poll", name: "?", options: ["a", "b"], selectable: 0 },
    { kind: "image", file: "f" },
    { kind: "video", file: "f" },
    { kind: "audio", file: "f" },
    { kind: "voice", file: "f" },
    { kind: "document", file: "f", fileName: "a.pdf" },
    { kind: "sticker", file: "f" },
  ])("is in what is sent: %j", (draft) => {
    const facts = { mimetype: "x/y", size: 1, sha256: "", encSha256: "", mediaKey: "", keyTimestamp: 1 };
    const stored = { facts, upload: { url: "u", directPath: "/d", at: 1 }, target: "chats" } as never;
    const box = { hmac: () => Buffer.alloc(32) };
    const timer = { seconds: DAY, since: AT - 5 };
    expect(timerIn(toWhatsApp(draft, "3EB0", box, { stored, timer }), AT)).toEqual(timer);
    expect(timerIn(toWhatsApp(draft, "3EB0", box, { stored }), AT)).toBeNull();
    expect(
      timerIn(toWhatsApp(draft, "3EB0", box, { stored, timer: { seconds: 0, since: AT } }), AT),
    ).toBeNull();
  });
});

describe("the settings of a number's chats", () => {
  async function started() {
    const store = await temporaryStore();
    const open = () => createChatTimers(store, 1, new LRUCache({ max: 10 }));
    const timers = open();
    const learn = (timer: ChatTimer, names = [PN, LID]) =>
      commitIntake(store.writer, timers.learned(names, timer));
    return { open, timers, learn, writer: store.writer };
  }

  it("are known by every name, also to the next run; the later one counts, in whatever order they are learned", async () => {
    const { open, timers, learn } = await started();
    expect(await timers.of([PN, LID])).toEqual({ seconds: 0, since: 0 });
    await learn({ seconds: DAY, since: 20 });
    await learn({ seconds: 5, since: 10 });
    for (const names of [[PN], [LID], [PN, LID], ["other@lid", PN]])
      expect(await timers.of(names)).toEqual({ seconds: DAY, since: 20 });
    await learn({ seconds: 0, since: 30 }, [LID]);
    expect(await timers.of([PN, LID])).toEqual({ seconds: 0, since: 30 });

    const next = open();
    expect(next.peek([PN, LID])).toBeUndefined();
    expect(await next.of([PN, LID])).toEqual({ seconds: 0, since: 30 });
    expect(next.peek([PN, LID])).toEqual({ seconds: 0, since: 30 });
  });

  it("cost nothing while they stay the same, and an old one does not hide a newer one that is only on the disk", async () => {
    const { open, timers, learn, writer } = await started();
    await learn({ seconds: DAY, since: 20 });
    expect(timers.learned([PN, LID], { seconds: DAY, since: 20 }).statements).toEqual([]);
    expect(timers.learned([PN, LID], { seconds: 7, since: 19 }).statements).toEqual([]);

    const next = open();
    await commitIntake(writer, next.learned([PN], { seconds: 7, since: 5 }));
    expect(next.peek([PN])).toEqual({ seconds: DAY, since: 20 });
  });
});
