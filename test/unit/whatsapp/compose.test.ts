import { describe, expect, it } from "vitest";
import type { FileFacts, OutgoingFile, Upload } from "../../../src/model/media/media.ts";
import type { Manner, MediaDraft } from "../../../src/model/content/drafts.ts";
import type { MediaKind } from "../../../src/model/messages.ts";
import { createSecretBox } from "../../../src/store/sealed/secret-box.ts";
import { baileys } from "../../../src/whatsapp/baileys.ts";
import { createComposer } from "../../../src/whatsapp/content/compose.ts";
import type { SendOutcome } from "../../../src/whatsapp/port.ts";
import { UploadFailed } from "../../../src/whatsapp/media/upload.ts";

const PERSON = "4915100000001@s.whatsapp.net";
const CHANNEL = "120363000000000001@newsletter";
const KEY = Buffer.alloc(32, 1).toString("base64");
const HASH = Buffer.alloc(32, 2).toString("base64");

const box = createSecretBox(Buffer.alloc(32));

function setUp(kind: MediaKind, uploadFails: UploadFailed | null = null) {
  const facts: FileFacts = {
    kind,
    mimetype: "x/y",
    size: 10,
    mediaKey: KEY,
    sha256: HASH,
    encSha256: HASH,
    keyTimestamp: 1_700_000_000,
    thumbnail: HASH,
    width: 3,
    height: 2,
    seconds: 4,
    waveform: Buffer.alloc(64, 50).toString("base64"),
  };
  let upload: Upload | null = null;
  const file: OutgoingFile = {
    id: "mf_1",
    facts,
    uploaded: () => upload,
    ready: async () => true,
    content: () => {
      throw new Error("nothing is uploaded here");
    },
  };
  const composer = createComposer({
    files: { load: async () => file, remember: async () => undefined },
    uploads: {
      async ensure(id, target) {
        if (uploadFails) throw uploadFails;
        if (id !== "mf_1") return null;
        upload ??= { url: "https://h/f", directPath: "/f", handle: "h1", at: 1 };
        return { facts, upload, target };
      },
    },
    hosts: { get: () => Promise.reject(new Error("nobody asks")) },
    groups: {
      isAnnouncements: async () => false,
      timer: async () => STAYS,
      cached: () => Promise.reject(new Error("nobody asks")),
    },
    timers: { of: async () => STAYS },
    box,
  });
  const message = (draft: Partial<MediaDraft & Manner> = {}, jid = PERSON) => ({
    waId: "3EB0AA",
    jid,
    draft: { kind, file: "mf_1", ...draft },
  });
  return { composer, message };
}

const STAYS = { seconds: 0, since: 0 };

async function composedOf(composing: Promise<{ kind: string } | SendOutcome>) {
  const composed = await composing;
  if (composed.kind !== "composed") throw new Error(JSON.stringify(composed));
  return composed as Extract<
    Awaited<ReturnType<ReturnType<typeof createComposer>["compose"]>>,
    { kind: "composed" }
  >;
}

const bytesOf = (message: object): string =>
  Buffer.from(baileys.proto.Message.encode(message).finish()).toString("base64");

describe("a message with a file", () => {
  it.each([
    ["image", { caption: "Look" }, { imageMessage: { caption: "Look", width: 3, height: 2 } }],
    ["video", { caption: "Look" }, { videoMessage: { caption: "Look", width: 3, height: 2, seconds: 4 } }],
    ["audio", {}, { audioMessage: { ptt: false, seconds: 4 } }],
    ["voice", {}, { audioMessage: { ptt: true, seconds: 4 } }],
    ["document", { fileName: "a.pdf" }, { documentMessage: { fileName: "a.pdf", title: "a.pdf" } }],
    [
      "document",
      { fileName: "a.pdf", caption: "for you" },
      { documentMessage: { fileName: "a.pdf", caption: "for you" } },
    ],
    ["sticker", {}, { stickerMessage: { width: 3, height: 2 } }],
  ] as const)("%s is made of what is stored, the same each time", async (kind, draft, expected) => {
    const { composer, message } = setUp(kind);
    const { message: sent } = await composedOf(composer.compose(message(draft)));
    expect(sent).toMatchObject(expected);
    const read = baileys.extractMessageContent(sent)!;
    const [field] = Object.values(read).filter((value) => typeof value === "object" && "directPath" in value);
    expect(field).toMatchObject({
      url: "https://h/f",
      directPath: "/f",
      mimetype: "x/y",
      fileLength: 10,
      mediaKeyTimestamp: 1_700_000_000,
    });
    const again = await composer.again(message(draft));
    expect(bytesOf(again!)).toBe(bytesOf(sent));
    expect(bytesOf((await composedOf(composer.compose(message(draft)))).message)).toBe(bytesOf(sent));
  });

  it.each([
    ["image", { viewOnceMessageV2: { message: { imageMessage: { viewOnce: true } } } }],
    ["video", { viewOnceMessageV2: { message: { videoMessage: { viewOnce: true } } } }],
    ["voice", { viewOnceMessageV2Extension: { message: { audioMessage: { viewOnce: true, ptt: true } } } }],
  ] as const)(
    "%s that can be opened once stands in the wrapper that phones use for it",
    async (kind, expected) => {
      const { composer, message } = setUp(kind);
      const { message: sent } = await composedOf(composer.compose(message({ viewOnce: true })));
      expect(sent).toMatchObject(expected);
      expect(Object.keys(sent).toSorted()).toEqual(
        ["messageContextInfo", ...Object.keys(expected)].toSorted(),
      );
      expect(bytesOf((await composer.again(message({ viewOnce: true })))!)).toBe(bytesOf(sent));
    },
  );

  it("carries no keys into a channel, and the handle of its upload", async () => {
    const { composer, message } = setUp("image");
    const composed = await composedOf(composer.compose(message({}, CHANNEL)));
    expect(composed.handle).toBe("h1");
    const { imageMessage } = composed.message;
    expect(imageMessage).toMatchObject({ directPath: "/f", mimetype: "x/y" });
    for (const secret of ["mediaKey", "fileEncSha256", "mediaKeyTimestamp"])
      expect(imageMessage).not.toHaveProperty(secret);
  });

  it("says why there is none", async () => {
    const failing = setUp("image", new UploadFailed("503", null));
    expect(await failing.composer.compose(failing.message())).toEqual({ kind: "unknown", reason: "503" });
    const away = Object.assign(new UploadFailed("503", null, 503), { ofService: true });
    const waiting = setUp("image", away);
    expect(await waiting.composer.compose(waiting.message())).toEqual({
      kind: "unknown",
      reason: "503",
      code: 503,
      blame: "media",
    });
    const refused = setUp("image", new UploadFailed("415", 415));
    expect(await refused.composer.compose(refused.message())).toMatchObject({ kind: "refused", code: 415 });
    const { composer, message } = setUp("image");
    expect(await composer.compose(message({ file: "mf_2" }))).toMatchObject({ reason: "file_gone" });
    expect(await composer.again(message())).toBeUndefined();
  });
});
