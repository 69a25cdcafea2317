import { describe, expect, it } from "vitest";
import type { FileFacts, OutgoingFile, Upload } from "../../../src/model/media/media.ts";
import { GatewayError } from "../../../src/model/errors/errors.ts";
import type { ForwardDraft, Manner, MediaDraft } from "../../../src/model/content/drafts.ts";
import type { MediaKind } from "../../../src/model/messages.ts";
import { createSecretBox } from "../../../src/store/sealed/secret-box.ts";
import { baileys } from "../../../src/whatsapp/baileys.ts";
import { createComposer } from "../../../src/whatsapp/content/compose.ts";
import type { ForwardedFiles } from "../../../src/whatsapp/media/forwarded.ts";
import { mediaSource } from "../../../src/whatsapp/media/download.ts";
import type { SendOutcome } from "../../../src/whatsapp/port.ts";
import { UploadFailed } from "../../../src/whatsapp/media/upload.ts";

const PERSON = "4915100000001@s.whatsapp.net";
const CHANNEL = "120363000000000001@newsletter";
const KEY = Buffer.alloc(32, 1).toString("base64");
const HASH = Buffer.alloc(32, 2).toString("base64");

const box = createSecretBox(Buffer.alloc(32));

const nothingForwarded: ForwardedFiles = {
  ensure: () => Promise.reject(new Error("nothing is handed on")),
  known: () => Promise.reject(new Error("nothing is handed on")),
};

function setUp(
  kind: MediaKind,
  uploadFails: UploadFailed | null = null,
  forwarded: ForwardedFiles = nothingForwarded,
) {
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
    forwarded,
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

describe("a file that is handed on", () => {
  const raw = bytesOf({
    imageMessage: {
      url: "https://h/old",
      directPath: "/old",
      mimetype: "image/png",
      caption: "Look",
      width: 7,
      mediaKey: Buffer.alloc(32, 9),
      fileEncSha256: Buffer.alloc(32, 9),
      scansSidecar: Buffer.alloc(10, 9),
      contextInfo: { stanzaId: "A1" },
    },
  });
  const draft: ForwardDraft & { forwarded: 1 } = { kind: "forward", of: "image", raw, forwarded: 1 };
  const message = { waId: "3EB0AA", jid: PERSON, draft };
  const facts: FileFacts = {
    kind: "image",
    mimetype: "application/octet-stream",
    size: 10,
    mediaKey: KEY,
    sha256: HASH,
    encSha256: HASH,
    keyTimestamp: 1_700_000_000,
  };
  const stored = { facts, upload: { url: "https://h/f", directPath: "/f", at: 1 }, target: "chats" } as const;
  const of = (where: typeof stored | null): ForwardedFiles => ({
    ensure: async () => where,
    known: async () => where,
  });

  it("is named where it was stored again, and nothing of its old place is left", async () => {
    const { composer } = setUp("image", null, of(stored));
    const { message: sent } = await composedOf(composer.compose(message));
    const encoded = bytesOf(sent);
    expect(baileys.proto.Message.decode(Buffer.from(encoded, "base64")).imageMessage).toMatchObject({
      url: "https://h/f",
      directPath: "/f",
      mimetype: "image/png",
      caption: "Look",
      width: 7,
      contextInfo: { isForwarded: true },
    });
    expect(Buffer.from(mediaSource(encoded)!.key!).toString("base64")).toBe(KEY);
    expect(sent.imageMessage).not.toHaveProperty("scansSidecar");
    expect(sent.imageMessage!.contextInfo).not.toHaveProperty("stanzaId");
    expect(bytesOf((await composer.again(message))!)).toBe(encoded);
  });

  it("is named where it was, while it is there, also to a phone that asks once more", async () => {
    const { composer } = setUp("image", null, of(null));
    const { message: sent } = await composedOf(composer.compose(message));
    expect(sent.imageMessage).toMatchObject({ directPath: "/old", caption: "Look" });
    expect(bytesOf((await composer.again(message))!)).toBe(bytesOf(sent));
  });

  it("says why it cannot be had, and whether it may be had later", async () => {
    const outcomeOf = (code: "FILE_UNREACHABLE" | "UNAVAILABLE") => {
      const ensure = () => Promise.reject(new GatewayError(code, "why"));
      return setUp("image", null, { ...nothingForwarded, ensure }).composer.compose(message);
    };
    expect(await outcomeOf("FILE_UNREACHABLE")).toEqual({
      kind: "refused",
      code: 0,
      reason: "why",
      error: "FILE_UNREACHABLE",
    });
    expect(await outcomeOf("UNAVAILABLE")).toEqual({ kind: "unknown", reason: "why", blame: "media" });
  });

  it("stays for one look when it came for one, should an earlier version have queued it", async () => {
    const once = bytesOf({
      viewOnceMessageV2: { message: { imageMessage: { directPath: "/old", viewOnce: true } } },
    });
    const { composer } = setUp("image", null, of(null));
    const asked = composer.compose({ ...message, draft: { ...draft, raw: once } });
    const { message: sent } = await composedOf(asked);
    expect(sent.imageMessage).toBeUndefined();
    expect(sent.viewOnceMessageV2!.message!.imageMessage).toMatchObject({ viewOnce: true });
  });
});
