import { createCipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createElsewhere } from "../../../src/media/elsewhere.ts";
import { createFiles, type Files } from "../../../src/media/files.ts";
import { createOwnFiles } from "../../../src/media/forwarded/own-files.ts";
import { createReceivedMedia } from "../../../src/media/incoming.ts";
import type { ForwardDraft } from "../../../src/model/content/drafts.ts";
import { mediaKeys } from "../../../src/model/media/media-keys.ts";
import { OutboundError } from "../../../src/net/errors.ts";
import type { Store } from "../../../src/store/store.ts";
import type { MediaSource } from "../../../src/whatsapp/port.ts";
import { configFor, silentLog, temporaryFolder, temporaryStore } from "../store/temporary.ts";

const FILE = randomBytes(5_000);
const KEY = randomBytes(32);
const from = { id: "A1", chat: "a@lid", chatKey: "a@lid", sender: "a@lid", participant: null, fromMe: false };
const DRAFT: ForwardDraft = { kind: "forward", of: "document", raw: "cmF3", from };

let store: Store;
let dataDir: string;
beforeEach(async () => {
  store = await temporaryStore();
  dataDir = temporaryFolder();
});

function sealed(): Buffer {
  const { iv, cipherKey, macKey } = mediaKeys(KEY, "document");
  const cipher = createCipheriv("aes-256-cbc", cipherKey, iv);
  const bytes = Buffer.concat([cipher.update(FILE), cipher.final()]);
  return Buffer.concat([
    bytes,
    createHmac("sha256", macKey).update(iv).update(bytes).digest().subarray(0, 10),
  ]);
}

/** No message of it is stored any more. */
function setUp(answer: (directPath: string) => Buffer, key: Uint8Array | null = KEY) {
  const log = silentLog(configFor(dataDir));
  const elsewhere = createElsewhere({ store, dataDir, log, media: null, peers: null });
  const files = createFiles(store, dataDir, elsewhere);
  const loaded: string[] = [];
  const reuploads: string[] = [];
  const sha256 = createHash("sha256").update(FILE).digest();
  const source: MediaSource = { kind: "document", directPath: "/old", key, sha256 };
  const { kept } = createReceivedMedia({
    store,
    config: { maxMediaBytes: 1_000_000, publicUrl: "http://gateway" },
    elsewhere,
    log,
    whatsapp: {
      mediaSource: () => source,
      downloadMedia({ directPath }, read) {
        loaded.push(directPath);
        return read(inOnePiece(() => answer(directPath)));
      },
    },
    connection: () => ({
      mediaHosts: async () => ["host"],
      async reuploadMedia({ id }) {
        reuploads.push(id);
        return "/new";
      },
    }),
    load: async () => null,
    openSent: async () => null,
    openUploaded: async () => null,
    stopping: new AbortController().signal,
  });
  const own = createOwnFiles({ store, files, kept, stopping: new AbortController().signal });
  return { own, files, loaded, reuploads };
}

async function* inOnePiece(bytes: () => Buffer): AsyncGenerator<Buffer> {
  yield bytes();
}

const gone = (): never => {
  throw new OutboundError("unreachable", "The host answered 404.", { status: 404 });
};

async function clearOf(files: Files, id: string): Promise<Buffer> {
  const file = (await files.load(id))!;
  const pieces: Buffer[] = [];
  for await (const piece of file.content("channel").bytes) pieces.push(piece);
  return Buffer.concat(pieces);
}

const onDisk = (): string[] => readdirSync(join(dataDir, "media")).filter((name) => name.startsWith("mf_"));

describe("an own file of a message that is not stored any more", () => {
  it("is made of what the phone stores again, with keys of its own, once for all who ask", async () => {
    const { own, files, loaded, reuploads } = setUp((path) => (path === "/new" ? sealed() : gone()));
    const [first, second] = await Promise.all([own.make(1, DRAFT), own.make(1, DRAFT)]);
    expect(second).toBe(first);
    expect(await own.make(1, DRAFT)).toBe(own.idOf(1, DRAFT));
    expect([loaded, reuploads]).toEqual([["/old", "/new"], ["A1"]]);
    expect((await clearOf(files, first!)).equals(FILE)).toBe(true);
    expect((await files.load(first!))!.facts.mediaKey).not.toBe(KEY.toString("base64"));
    expect(readdirSync(join(dataDir, "tmp"))).toEqual([]);
    expect(await own.make(2, DRAFT)).not.toBe(first);
  });

  it("is made again when the disk has lost it", async () => {
    const { own, files, loaded } = setUp(sealed);
    const id = await own.make(1, DRAFT);
    await files.remember(id, "chats", { url: "https://h/f", directPath: "/f", at: 1 });
    rmSync(join(dataDir, "media", id));
    expect(await own.make(1, DRAFT)).toBe(id);
    expect(loaded).toHaveLength(2);
    expect((await files.load(id))!.uploaded("chats")).toBeNull();
    expect((await clearOf(files, id)).equals(FILE)).toBe(true);
  });

  it("of a channel, which has no key, is encrypted", async () => {
    const { own, files } = setUp(() => FILE, null);
    expect((await clearOf(files, await own.make(1, DRAFT))).equals(FILE)).toBe(true);
  });

  it("says whether it may be had later", async () => {
    const away = setUp(() => {
      throw new OutboundError("unreachable", "The host answered 503.", { status: 503 });
    });
    await expect(away.own.make(1, DRAFT)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(setUp(gone).own.make(1, DRAFT)).rejects.toMatchObject({ code: "FILE_UNREACHABLE" });
    const other = setUp(() => Buffer.concat([sealed().subarray(0, -1), Buffer.from([0, 0])]));
    await expect(other.own.make(1, DRAFT)).rejects.toMatchObject({ code: "FILE_NOT_USABLE" });
    expect(onDisk()).toEqual([]);
  });
});
