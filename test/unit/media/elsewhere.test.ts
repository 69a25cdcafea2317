import { createCipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { openFilePlaces } from "../../../src/app/files.ts";
import type { Environment } from "../../../src/config.ts";
import { createFiles } from "../../../src/media/files.ts";
import { createReceivedMedia, type IncomingMediaDeps } from "../../../src/media/incoming.ts";
import { openSealedWriter } from "../../../src/media/seal.ts";
import { alone } from "../../../src/model/nodes/alone.ts";
import type { Cluster } from "../../../src/model/nodes/cluster.ts";
import type { FileFacts } from "../../../src/model/media/media.ts";
import { mediaKeys } from "../../../src/model/media/media-keys.ts";
import type { IncomingMedia } from "../../../src/model/messages.ts";
import { OutboundError } from "../../../src/net/errors.ts";
import { createErasure } from "../../../src/retention/erasure.ts";
import { removeStored } from "../../../src/retention/files.ts";
import type { Store } from "../../../src/store/store.ts";
import type { MediaSource } from "../../../src/whatsapp/port.ts";
import { startS3 } from "../../_setup/s3.ts";
import { incoming } from "../bot/messages.ts";
import { configFor, silentLog, temporaryFolder, temporaryStore } from "../store/temporary.ts";
import { NODE_SETTINGS } from "../store/temporary-config.ts";
import { rawRows } from "../store/rows.ts";

const HOUR = 3_600_000;
const KEY = randomBytes(32);
const FILE = randomBytes(300_000);
const TARGET = { deviceId: 5, inboxId: 7 };
const SOURCE: MediaSource = {
  kind: "document",
  directPath: "/v/file",
  key: KEY,
  sha256: createHash("sha256").update(FILE).digest(),
};

let store: Store;
beforeEach(async () => {
  store = await temporaryStore();
});

/** As a phone encrypts it. */
function encrypted(): Buffer {
  const { iv, cipherKey, macKey } = mediaKeys(KEY, "document");
  const cipher = createCipheriv("aes-256-cbc", cipherKey, iv);
  const sealed = Buffer.concat([cipher.update(FILE), cipher.final()]);
  const mac = createHmac("sha256", macKey).update(iv).update(sealed).digest().subarray(0, 10);
  return Buffer.concat([sealed, mac]);
}

interface NodeOptions {
  env?: Environment;
  /** Whose numbers it has, and whom it asks. Default: it has all of them. */
  cluster?: Cluster;
  /** What WhatsApp's hosts answer. */
  host?: () => AsyncIterable<Buffer>;
}

/** One process with a disk of its own, at the database that all share; what it has is served as the gateway serves it. */
async function node(name: string, { env = {}, cluster = alone(), host }: NodeOptions = {}) {
  const dataDir = temporaryFolder();
  const config = configFor(dataDir, { DATABASE_URL: "http://db", ...NODE_SETTINGS, NODE_NAME: name, ...env });
  const log = silentLog(config);
  const places = openFilePlaces({ config, log, store });
  const media: IncomingMedia = { kind: "document", mimetype: "a/b", fileName: "f", size: FILE.length };
  const deps: IncomingMediaDeps = {
    store,
    config: { maxMediaBytes: 1_000_000, publicUrl: "http://gateway" },
    elsewhere: places.elsewhere,
    cluster,
    log,
    whatsapp: { mediaSource: () => SOURCE, downloadMedia: async (_, read) => read(host!()) },
    connection: () => null,
    load: async () => incoming({ media }),
    openSent: async () => null,
    openUploaded: async () => null,
    stopping: new AbortController().signal,
  };
  const received = createReceivedMedia(deps);
  const files = createFiles(store, dataDir, places.elsewhere);
  const server = createServer(async (request, response) => {
    const opened = await received.open(request.url!.slice("/media/".length)).catch(() => null);
    if (opened === null) return void response.writeHead(404).end();
    await pipeline(opened.body, response.writeHead(200)).catch(() => undefined);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = (): void => void (server.close(), server.closeAllConnections());
  onTestFinished(async () => {
    close();
    await places.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await registered(name, url, Date.now() + 15_000);
  return { name, dataDir, places, files, received, close, url, media };
}
type Node = Awaited<ReturnType<typeof node>>;

async function registered(name: string, url: string, until: number): Promise<void> {
  const sql = `insert into nodes (name, incarnation, url, version, since, until) values (?, '1', ?, '1', 1, ?)
    on conflict (name) do update set url = excluded.url, until = excluded.until`;
  await store.writer.commit([{ sql, args: [name, url, until] }]);
}

/** A file that a request has left to be sent. */
async function keep({ files }: Node): Promise<string> {
  const workspace = await files.workspace();
  const writer = await openSealedWriter(workspace.path("sealed"), "document");
  await writer.write(FILE);
  const sealed = await writer.finish();
  const facts: FileFacts = { kind: "document", mimetype: "a/b", keyTimestamp: 0, ...sealed };
  const id = await files.keep(TARGET.deviceId, workspace.path("sealed"), facts);
  await workspace.dispose();
  return id;
}

/** What a connection of a node would send, decrypted; null when the file is not kept any more. */
async function sentBy({ files }: Node, id: string): Promise<Buffer | null> {
  const file = await files.load(id);
  if (file === null || !(await file.ready())) return null;
  const chunks: Buffer[] = [];
  for await (const chunk of file.content("channel").bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function receivedBy({ received, media }: Node): Promise<Buffer> {
  const { url } = received.link(TARGET, media) as { url: string };
  const opened = (await received.open(url.split("/media/")[1]!))!;
  const chunks: Buffer[] = [];
  for await (const chunk of opened.body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const nodeOf = async (id: string): Promise<unknown> =>
  (await rawRows(store, "select node from media_files where id = ?", [id]))[0]?.["node"];

async function* once1(): AsyncGenerator<Buffer> {
  yield encrypted();
}

const away = { code: "UNAVAILABLE", details: { retryAfter: 10 } };

describe("a file to be sent", () => {
  it("is sent by another node, which asks the one that wrote it", async () => {
    const [one, two] = [await node("one"), await node("two")];
    const id = await keep(one);

    expect(await nodeOf(id)).toBe("one");
    expect((await sentBy(two, id))?.equals(FILE)).toBe(true);
    // What it has brought it has, whatever becomes of the other.
    one.close();
    expect((await sentBy(two, id))?.equals(FILE)).toBe(true);
  });

  it("waits while the node that has it may come back, and is gone when it does not", async () => {
    const [one, two] = [await node("one"), await node("two")];
    const id = await keep(one);
    one.close();

    await expect(sentBy(two, id)).rejects.toMatchObject(away);
    await registered("one", one.url, Date.now() - HOUR + 60_000);
    await expect(sentBy(two, id)).rejects.toMatchObject(away);
    await registered("one", one.url, Date.now() - HOUR - 60_000);
    expect(await sentBy(two, id)).toBeNull();
  });

  it("is gone when the node that has it has lost it, or has it damaged", async () => {
    const [one, two] = [await node("one"), await node("two")];
    const id = await keep(one);
    const path = join(one.dataDir, "media", id);
    const bytes = readFileSync(path);
    bytes[1000]! ^= 1;
    writeFileSync(path, bytes);
    expect(await sentBy(two, id)).toBeNull();

    rmSync(path);
    expect(await sentBy(two, id)).toBeNull();
    expect(existsSync(join(two.dataDir, "media", id))).toBe(false);
  });

  it("is asked for at addresses in the table of nodes alone, not where they lead to", async () => {
    const [one, two] = [await node("one"), await node("two")];
    const id = await keep(one);
    let asked = 0;
    const other = createServer((_, response) => void (asked++, response.end("x"))).listen(0, "127.0.0.1");
    const leading = createServer((_, response) => {
      const { port } = other.address() as AddressInfo;
      response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end();
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void (other.close(), leading.close()));
    await Promise.all([once(other, "listening"), once(leading, "listening")]);
    await registered(
      "one",
      `http://127.0.0.1:${(leading.address() as AddressInfo).port}`,
      Date.now() + 15_000,
    );

    await expect(sentBy(two, id)).rejects.toMatchObject(away);
    expect(asked).toBe(0);
  });

  it("is found again under the name that its node has after a restart", async () => {
    const [one, two] = [await node("one"), await node("two")];
    const id = await keep(one);
    await registered("one", one.url, Date.now() - 1000);
    const again = await node("three", { env: { DATA_DIR: one.dataDir } });
    await again.places.sweep.run();

    expect(await nodeOf(id)).toBe("three");
    expect((await sentBy(two, id))?.equals(FILE)).toBe(true);
    // Of a node that runs nothing is taken.
    await two.places.sweep.run();
    expect(await nodeOf(id)).toBe("three");
  });

  it("is kept and found as ever by a process that is alone", async () => {
    const one = await node("one", { env: { CLUSTER: "", DATABASE_URL: "" } });
    const id = await keep(one);

    expect(await nodeOf(id)).toBeNull();
    expect((await sentBy(one, id))?.equals(FILE)).toBe(true);
    rmSync(join(one.dataDir, "media", id));
    expect(await sentBy(one, id)).toBeNull();
  });
});

describe("with a store for files", () => {
  it("a file outlives the node that wrote it, sealed as it lay on the disk", async () => {
    const s3 = await startS3();
    const [one, two] = [await node("one", { env: s3.env }), await node("two", { env: s3.env })];
    const id = await keep(one);
    one.close();
    rmSync(one.dataDir, { recursive: true });

    expect(s3.names()).toEqual([id]);
    expect(await nodeOf(id)).toBeNull();
    expect((await sentBy(two, id))?.equals(FILE)).toBe(true);
    expect(readFileSync(join(two.dataDir, "media", id)).includes(FILE.subarray(1000, 1064))).toBe(false);
  });

  it("that is away a file is kept, found, and put there when it is back", async () => {
    const s3 = await startS3();
    const [one, two] = [await node("one", { env: s3.env }), await node("two", { env: s3.env })];
    await s3.stop();
    const id = await keep(one);

    expect(await nodeOf(id)).toBe("one");
    expect((await sentBy(two, id))?.equals(FILE)).toBe(true);
    await s3.start();
    const later = await node("one", { env: { ...s3.env, DATA_DIR: one.dataDir } });
    await later.places.sweep.run();
    expect(s3.names()).toEqual([id]);
    expect(await nodeOf(id)).toBeNull();
  });

  it("that is away, and on no disk that can be asked, a file is asked for again later", async () => {
    const s3 = await startS3();
    const [one, two] = [await node("one", { env: s3.env }), await node("two", { env: s3.env })];
    const id = await keep(one);
    await s3.stop();

    await expect(sentBy(two, id)).rejects.toMatchObject(away);
  });

  it("a disk keeps a file for an hour after it was used", async () => {
    const s3 = await startS3();
    const one = await node("one", { env: s3.env });
    const [old, used] = [await keep(one), await keep(one)];
    const before = new Date(Date.now() - HOUR - 60_000);
    for (const id of [old, used]) utimesSync(join(one.dataDir, "media", id), before, before);
    await sentBy(one, used);
    await one.places.sweep.run();

    expect(existsSync(join(one.dataDir, "media", old))).toBe(false);
    expect(existsSync(join(one.dataDir, "media", used))).toBe(true);
    expect((await sentBy(one, old))?.equals(FILE)).toBe(true);
  });

  it("the files of one process move there by themselves", async () => {
    const s3 = await startS3();
    const before = await node("one", { env: { CLUSTER: "", DATABASE_URL: "" } });
    const id = await keep(before);
    const one = await node("one", { env: { ...s3.env, DATA_DIR: before.dataDir } });
    await one.places.sweep.run();

    expect(s3.names()).toEqual([id]);
  });

  it("a received file is loaded from WhatsApp once, and gone with its number", async () => {
    const s3 = await startS3();
    let loads = 0;
    const host = () => (loads++, once1());
    const [one, two] = [await node("one", { env: s3.env, host }), await node("two", { env: s3.env, host })];
    expect((await receivedBy(one)).equals(FILE)).toBe(true);
    await expect.poll(() => s3.names()).toEqual(["in/5-7"]);
    expect((await receivedBy(two)).equals(FILE)).toBe(true);
    expect(loads).toBe(1);

    const id = await keep(one);
    const erasure = createErasure({
      store,
      config: { dataDir: one.dataDir },
      log: silentLog(configFor(one.dataDir)),
      stored: one.places.media,
    });
    await erasure.erase(TARGET.deviceId);
    await erasure.finished();
    expect(s3.names()).toEqual([]);
    expect(existsSync(join(one.dataDir, "media", id))).toBe(false);
  });

  it("what no row names is removed there after an hour", async () => {
    const s3 = await startS3();
    const one = await node("one", { env: s3.env });
    const [kept, expired] = [await keep(one), await keep(one)];
    await store.writer.commit([{ sql: "delete from media_files where id = ?", args: [expired] }]);
    const { signal } = new AbortController();
    const at = (ms: number) => ({ store: { ...store, now: () => Date.now() + ms } });

    expect(await removeStored(at(0), one.places.media!, signal)).toBe(0);
    expect(await removeStored(at(HOUR + 60_000), one.places.media!, signal)).toBe(1);
    expect(s3.names()).toEqual([kept]);
  });
});

describe("a received file", () => {
  /** Has no number, and asks one that has them all. */
  function asking(owner: Cluster): Cluster {
    return { ...owner, ownership: { ...owner.ownership, owns: () => false, ownerOf: () => "one" } };
  }

  it("is asked of the number's owner, who loads it, and of the disk that has it from then on", async () => {
    let loads = 0;
    const cluster = alone();
    const one = await node("one", { cluster, host: () => (loads++, once1()) });
    const others = { ...asking(cluster), bus: { ...cluster.bus, answer: () => undefined } };
    const two = await node("two", { cluster: others });

    expect((await receivedBy(two)).equals(FILE)).toBe(true);
    expect(loads).toBe(1);
    expect(await nodeOf("in/5-7")).toBe("one");
    // Another owner has it from there as well: WhatsApp may have it no more.
    const next = await node("next", { cluster: alone() });
    expect((await receivedBy(next)).equals(FILE)).toBe(true);
    one.close();
  });

  it("that WhatsApp has no more may still lie where nobody can be asked now", async () => {
    const one = await node("one", { host: once1 });
    await receivedBy(one);
    await expect.poll(() => nodeOf("in/5-7")).toBe("one");
    one.close();
    // oxlint-disable-next-line require-yield -- it fails before its first byte
    const gone = async function* (): AsyncGenerator<Buffer> {
      throw new OutboundError("unreachable", "The address answered 410.", { status: 410 });
    };
    const two = await node("two", { host: gone });

    await expect(receivedBy(two)).rejects.toMatchObject(away);
    await registered("one", one.url, Date.now() - HOUR - 60_000);
    await expect(receivedBy(two)).rejects.toMatchObject({ code: "FILE_UNREACHABLE" });
  });
});
