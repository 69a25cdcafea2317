import { createCipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { mediaKeys } from "../../../src/model/media/media-keys.ts";
import { LINK_LIFE_MS } from "../../../src/media/links.ts";
import { createElsewhere } from "../../../src/media/elsewhere.ts";
import { createReceivedMedia, type IncomingMediaDeps } from "../../../src/media/incoming.ts";
import type { IncomingMedia } from "../../../src/model/messages.ts";
import { OutboundError } from "../../../src/net/errors.ts";
import { eraseRecord } from "../../../src/store/erase.ts";
import type { Store } from "../../../src/store/store.ts";
import { createMediaAgent } from "../../../src/whatsapp/media/agent.ts";
import { systemTime } from "../../../src/model/time.ts";
import { createMediaDownloads } from "../../../src/whatsapp/media/download.ts";
import type { MediaRequest, MediaSource } from "../../../src/whatsapp/port.ts";
import { incoming } from "../bot/messages.ts";
import { configFor, silentLog, temporaryFolder, temporaryStore } from "../store/temporary.ts";

const KEY = randomBytes(32);
const TARGET = { deviceId: 1, inboxId: 7 };
const MAX_MEDIA_BYTES = 1_000_000;

let ahead = 0;
let store: Store;
let dataDir: string;

beforeEach(async () => {
  ahead = 0;
  store = await temporaryStore({}, () => Date.now() + ahead);
  dataDir = temporaryFolder();
});

/** As a phone encrypts a file. */
function encrypt(file: Buffer, kind: IncomingMedia["kind"] = "document"): Buffer {
  const { iv, cipherKey, macKey } = mediaKeys(KEY, kind);
  const cipher = createCipheriv("aes-256-cbc", cipherKey, iv);
  const sealed = Buffer.concat([cipher.update(file), cipher.final()]);
  const mac = createHmac("sha256", macKey).update(iv).update(sealed).digest().subarray(0, 10);
  return Buffer.concat([sealed, mac]);
}

const sha256 = (file: Buffer): Buffer => createHash("sha256").update(file).digest();

const encryptedSource = (file: Buffer, more: Partial<MediaSource> = {}): MediaSource => ({
  kind: "document",
  directPath: "/v/file",
  key: KEY,
  sha256: sha256(file),
  ...more,
});

type Host = (request: MediaRequest) => AsyncIterable<Buffer>;

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function received(source: MediaSource, host: Host, more: Partial<IncomingMediaDeps> = {}) {
  const config = configFor(dataDir);
  const requests: MediaRequest[] = [];
  const media: IncomingMedia = { kind: source.kind, mimetype: "a/b", fileName: "f", size: 10 };
  const parts = createReceivedMedia({
    store,
    config: { maxMediaBytes: MAX_MEDIA_BYTES, publicUrl: "http://gateway" },
    elsewhere: createElsewhere({ store, dataDir, log: silentLog(config), media: null, peers: null }),
    log: silentLog(config),
    whatsapp: {
      mediaSource: () => source,
      downloadMedia(request, read) {
        requests.push(request);
        return read(host(request));
      },
    },
    connection: () => null,
    load: async () => incoming({ media }),
    openSent: async () => null,
    openUploaded: async () => null,
    stopping: new AbortController().signal,
    ...more,
  });
  const link = parts.link(TARGET, media) as { url: string };
  return {
    ...parts,
    requests,
    token: link.url.split("/media/")[1]!,
    async read(): Promise<{ bytes: Buffer; size: number }> {
      const opened = (await parts.open(link.url.split("/media/")[1]!))!;
      const chunks: Buffer[] = [];
      for await (const chunk of opened.body) chunks.push(chunk);
      return { bytes: Buffer.concat(chunks), size: opened.size };
    },
  };
}

describe("a file", () => {
  it.each([0, 1, 15, 16, 17, 31, 32, 33, 65_535, 65_536, 65_537, 200_000])(
    "of %i bytes comes out as it went in",
    async (length) => {
      const file = randomBytes(length);
      const { size, bytes } = await received(encryptedSource(file), () =>
        inPieces(encrypt(file), 997),
      ).read();
      expect(size).toBe(length);
      expect(bytes.equals(file)).toBe(true);
    },
  );

  it.each([1, 9, 10, 11, 16, 1000])("that comes in pieces of %i bytes is the same file", async (piece) => {
    const file = randomBytes(500);
    const { bytes } = await received(encryptedSource(file), () => inPieces(encrypt(file), piece)).read();
    expect(bytes.equals(file)).toBe(true);
  });

  it("of a channel comes unencrypted, and lies encrypted on disk", async () => {
    const file = Buffer.alloc(100_000, "post ");
    const source = encryptedSource(file, { key: null });
    const media = received(source, () => inPieces(file, 1000));

    expect((await media.read()).bytes.equals(file)).toBe(true);
    const [name] = readdirSync(join(dataDir, "media", "in"));
    expect(readFileSync(join(dataDir, "media", "in", name!)).includes("post post")).toBe(false);
  });

  it.each<[string, (bytes: Buffer) => Buffer, Partial<MediaSource>]>([
    [
      "has a changed byte",
      (bytes) => Buffer.concat([bytes.subarray(0, 50), Buffer.from([bytes[50]! ^ 1]), bytes.subarray(51)]),
      {},
    ],
    [
      "has a changed byte, and names no checksum",
      (bytes) => Buffer.concat([Buffer.from([bytes[0]! ^ 1]), bytes.subarray(1)]),
      { sha256: null },
    ],
    ["lacks its end", (bytes) => bytes.subarray(0, -16), {}],
    ["is empty", () => Buffer.alloc(0), {}],
    ["is not the one that the message names", (bytes) => bytes, { sha256: sha256(Buffer.from("another")) }],
    ["is not the one that the channel's post names", (bytes) => bytes, { key: null }],
    ["was encrypted with another key", (bytes) => bytes, { key: randomBytes(32) }],
  ])("that %s is refused and not kept", async (_, change, more) => {
    const file = randomBytes(500);
    const media = received(encryptedSource(file, more), () => inPieces(change(encrypt(file)), 64));

    await expect(media.open(media.token)).rejects.toMatchObject({ code: "FILE_NOT_USABLE" });
    expect(readdirSync(join(dataDir, "media", "in"))).toEqual([]);
  });

  it("is asked for with the limit counted, not believed", async () => {
    const media = received(encryptedSource(Buffer.alloc(1)), () => {
      throw new OutboundError("too_large", "too large");
    });
    await expect(media.open(media.token)).rejects.toMatchObject({ code: "FILE_TOO_LARGE" });
    expect(media.requests[0]!.maxBytes).toBe(MAX_MEDIA_BYTES + 26);
  });

  it("that its message does not bring is not looked for", async () => {
    const media = received(encryptedSource(Buffer.alloc(1), { directPath: null }), () =>
      inPieces(Buffer.alloc(0), 1),
    );
    expect(await media.image(TARGET)).toEqual({ error: "The message arrived without its file." });
    expect(media.requests).toEqual([]);
  });

  it("that several want at once is loaded once; when nobody waits any more it is given up", async () => {
    const file = randomBytes(100);
    const gate = new AbortController();
    let givenUp = 0;
    const host: Host = async function* ({ signal }) {
      await new Promise<void>((resolve, reject) => {
        gate.signal.addEventListener("abort", () => resolve());
        signal.addEventListener("abort", () => {
          givenUp += 1;
          reject(signal.reason as Error);
        });
      });
      yield encrypt(file);
    };
    const media = received(encryptedSource(file), host, { imageWaitMs: 50 });
    const patient = media.read();
    await vi.waitFor(() => expect(media.requests).toHaveLength(1));
    expect(await media.image(TARGET)).toMatchObject({ error: expect.stringContaining("0.05 s") });
    expect(givenUp).toBe(0);

    await media.image({ deviceId: 1, inboxId: 8 });
    await vi.waitFor(() => expect(givenUp).toBe(1));

    gate.abort();
    expect((await patient).bytes.equals(file)).toBe(true);
    expect(media.requests).toHaveLength(2);
  });
});

describe("an address", () => {
  it("works until it expires", async () => {
    const file = randomBytes(10);
    const media = received(encryptedSource(file), () => inPieces(encrypt(file), 64));
    ahead = LINK_LIFE_MS - 5000;
    expect((await media.read()).bytes.equals(file)).toBe(true);
    ahead = LINK_LIFE_MS + 5000;
    expect(await media.open(media.token)).toBeNull();
  });

  it("outlives the last attempt of a webhook", () => {
    expect(LINK_LIFE_MS).toBeGreaterThan(76 * 1.2 * 3_600_000);
  });

  it.each(["7", "1-8", "2-7"])("is signed: %s in the place of its target leads nowhere", async (target) => {
    const media = received(encryptedSource(Buffer.alloc(1)), () => inPieces(Buffer.alloc(1), 1));
    const [payload, signature] = media.token.split(".");
    const expires = payload!.split("-")[2];
    expect(await media.open(`${target}-${expires}.${signature}`)).toBeNull();
    expect(media.requests).toEqual([]);
  });

  it("of a number that was erased leads nowhere, although its message is not deleted yet", async () => {
    const media = received(encryptedSource(Buffer.from("x")), () => inPieces(encrypt(Buffer.from("x")), 10));
    await store.writer.commit(eraseRecord(TARGET.deviceId, Date.now()));
    expect(await media.open(media.token)).toBeNull();
  });

  it("ends while its account is disabled", async () => {
    const media = received(encryptedSource(Buffer.from("x")), () => inPieces(encrypt(Buffer.from("x")), 64));
    await store.writer.commit([
      {
        sql: "INSERT INTO accounts (id, name, plan, enabled, created_at) VALUES ('a', 'A', 'pro', 1, 0)",
        args: [],
      },
      {
        sql: "INSERT INTO devices (id, account_id, number, since, created_at) VALUES (?, 'a', '4915', 0, 0)",
        args: [TARGET.deviceId],
      },
    ]);
    expect(await media.open(media.token)).not.toBeNull();
    await store.writer.commit([{ sql: "UPDATE accounts SET enabled = 0", args: [] }]);
    expect(await media.open(media.token)).toBeNull();
    await store.writer.commit([{ sql: "UPDATE accounts SET enabled = 1", args: [] }]);
    expect(await media.open(media.token)).not.toBeNull();
  });

  it("of a message that is not kept any more leads nowhere", async () => {
    const media = received(encryptedSource(Buffer.alloc(1)), () => inPieces(Buffer.alloc(1), 1), {
      load: async () => null,
    });
    expect(await media.open(media.token)).toBeNull();
  });
});

describe("the path that a message names", () => {
  const agent = createMediaAgent({ whatsappCaFile: null, whatsappWsUrl: null });
  const downloads = createMediaDownloads(
    { of: async () => ({ media: agent }) },
    { whatsappWsUrl: null },
    systemTime,
  );
  const { signal } = new AbortController();

  it.each(["//evil.example/x", "https://evil.example/x", "\\\\evil.example/x", "@evil.example/x", "v/x", ""])(
    "%j leads to no other host",
    async (directPath) => {
      const request = { deviceId: 1, directPath, hosts: ["127.0.0.1:1"], maxBytes: 1, signal };
      await expect(downloads.load(request, async () => 0)).rejects.toMatchObject({ problem: "not_allowed" });
    },
  );

  it("does not lead into a private network, whatever host WhatsApp seems to name", async () => {
    const request = { deviceId: 1, directPath: "/x", hosts: ["127.0.0.1:1"], maxBytes: 1, signal };
    await expect(downloads.load(request, async () => 0)).rejects.toMatchObject({ problem: "not_allowed" });
  });
});
