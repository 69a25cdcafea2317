import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { OutgoingFile, OutgoingFiles, Upload, UploadTarget } from "../../../src/model/media/media.ts";
import { makeCertificates } from "../../../src/simulator/inside.ts";
import { createMediaAgent } from "../../../src/whatsapp/media/agent.ts";
import type { MediaHostsSource } from "../../../src/whatsapp/media/hosts.ts";
import { createUploads, UploadFailed } from "../../../src/whatsapp/media/upload.ts";
import { removeFolder } from "../../_setup/folders.ts";

const CONTENT = Buffer.alloc(200_000, "parley");
const SHA256 = Buffer.alloc(32, 0xfb).toString("base64");
const DAY_MS = 86_400_000;

const certificates = makeCertificates();
const good = (_request: IncomingMessage, response: ServerResponse): void =>
  void response.end(JSON.stringify({ url: "https://cdn.example/f", direct_path: "/f" }));
const status =
  (code: number) =>
  (_request: IncomingMessage, response: ServerResponse): void =>
    void response.writeHead(code).end("{}");

interface Host {
  name: string;
  uploads: { url: string; bytes: number }[];
}

/** A media host that answers as it is told, the last answer for good. */
async function startHost(
  ...answers: ((request: IncomingMessage, response: ServerResponse) => void)[]
): Promise<Host> {
  const uploads: Host["uploads"] = [];
  const server = createServer(
    { key: certificates.key, cert: certificates.certificate },
    async (request, response) => {
      let bytes = 0;
      for await (const chunk of request) bytes += (chunk as Buffer).length;
      uploads.push({ url: request.url!, bytes });
      (answers.length > 1 ? answers.shift()! : answers[0]!)(request, response);
    },
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { name: `127.0.0.1:${(server.address() as AddressInfo).port}`, uploads };
}

function setUp(...hosts: string[]) {
  const folder = mkdtempSync(join(tmpdir(), "parley-upload-"));
  const whatsappCaFile = join(folder, "ca.pem");
  writeFileSync(whatsappCaFile, certificates.ca);
  const agent = createMediaAgent({ whatsappCaFile, whatsappWsUrl: "ws://127.0.0.1:1" });
  onTestFinished(async () => {
    removeFolder(folder);
    await agent.destroy();
  });
  const remembered = new Map<UploadTarget, Upload>();
  const file: OutgoingFile = {
    id: "mf_1",
    facts: {
      kind: "voice",
      mimetype: "audio/ogg; codecs=opus",
      size: 1,
      mediaKey: "",
      sha256: SHA256,
      encSha256: SHA256,
      keyTimestamp: 0,
    },
    uploaded: (target) => remembered.get(target) ?? null,
    ready: async () => true,
    content: () => ({
      bytes: (async function* () {
        for (let at = 0; at < CONTENT.length; at += 65_536) yield CONTENT.subarray(at, at + 65_536);
      })(),
      length: CONTENT.length,
      sha256: SHA256,
    }),
  };
  const files: OutgoingFiles = {
    load: async (id) => {
      if (id === file.id) return file;
      return id === "mf_other" ? { ...file, uploaded: () => null } : null;
    },
    remember: async (id, target, upload) => {
      if (id === file.id) remembered.set(target, upload);
    },
  };
  let tickets = 0;
  const source: MediaHostsSource = {
    async get(fresh) {
      if (fresh || tickets === 0) tickets++;
      return { hosts, auth: `ticket ${tickets}` };
    },
  };
  const clock = { now: 1_000_000 };
  const uploads = createUploads(agent, files, () => clock.now);
  return {
    ensure: (target: UploadTarget = "chats") => uploads.ensure("mf_1", target, source),
    uploads,
    source,
    clock,
  };
}

async function failureOf(promise: Promise<unknown>): Promise<UploadFailed> {
  const error = await promise.then(
    () => new Error("it was stored"),
    (reason: unknown) => reason,
  );
  if (error instanceof UploadFailed) return error;
  throw error;
}

describe("storing a file at WhatsApp", () => {
  it("streams it to the path of its kind, named by its hash, with the ticket", async () => {
    const host = await startHost(good);
    const { ensure } = setUp(host.name);
    expect(await ensure()).toMatchObject({
      target: "chats",
      upload: { url: "https://cdn.example/f", directPath: "/f", at: 1_000_000 },
    });
    const [upload] = host.uploads;
    const url = new URL(upload!.url, "https://host");
    const name = Buffer.from(SHA256, "base64").toString("base64url");
    expect(url.pathname).toBe(`/mms/audio/${name}`);
    expect(Object.fromEntries(url.searchParams)).toEqual({ auth: "ticket 1", token: name });
    expect(upload!.bytes).toBe(CONTENT.length);
  });

  it("is done once for many at once, and anew after a day", async () => {
    const host = await startHost(good);
    const { ensure, clock } = setUp(host.name);
    await Promise.all(Array.from({ length: 10 }, () => ensure()));
    await ensure();
    expect(host.uploads).toHaveLength(1);
    clock.now += DAY_MS;
    await ensure();
    expect(host.uploads).toHaveLength(2);
  });

  it("keeps channels apart, whose files have a path and a handle of their own", async () => {
    const host = await startHost((_request, response) => {
      const thumbnail_info = { thumbnail_direct_path: "/t", thumbnail_sha256: SHA256 };
      response.end(
        JSON.stringify({ url: "https://cdn.example/c", direct_path: "/c", handle: "h", thumbnail_info }),
      );
    });
    const { ensure } = setUp(host.name);
    const stored = await ensure("channel");
    expect(stored!.upload).toMatchObject({ handle: "h", thumbnailPath: "/t", thumbnailSha256: SHA256 });
    await ensure("chats");
    expect(host.uploads.map(({ url }) => url.split("/", 3).join("/"))).toEqual([
      "/newsletter/newsletter-audio",
      "/mms/audio",
    ]);
    expect(host.uploads[0]!.url).toContain("server_thumb_gen=1");
  });

  it("goes on to the next host when one fails, answers nonsense, or is not there", async () => {
    const nonsense = await startHost((_request, response) => void response.end("<html>"));
    const failing = await startHost(status(503));
    const host = await startHost(good);
    const { ensure } = setUp("127.0.0.1:1", failing.name, nonsense.name, host.name);
    expect(await ensure()).toMatchObject({ upload: { directPath: "/f" } });
    expect([failing, nonsense, host].map(({ uploads }) => uploads.length)).toEqual([1, 1, 1]);
  });

  it("fails in a way that passes when no host takes it, and may be asked again", async () => {
    const host = await startHost(status(500), status(429), good);
    const { ensure } = setUp(host.name);
    expect((await failureOf(ensure())).status).toBeNull();
    expect((await failureOf(ensure())).status).toBeNull();
    expect(await ensure()).toMatchObject({ upload: { directPath: "/f" } });
  });

  it("asks for a new ticket once when the old one is refused", async () => {
    const host = await startHost(status(401), good);
    expect(await setUp(host.name).ensure()).not.toBeNull();
    expect(host.uploads.map(({ url }) => new URL(url, "https://host").searchParams.get("auth"))).toEqual([
      "ticket 1",
      "ticket 2",
    ]);
    const closed = await startHost(status(403));
    expect((await failureOf(setUp(closed.name).ensure())).status).toBe(403);
    expect(closed.uploads).toHaveLength(2);
  });

  it("takes a refusal for what it is, and asks no other host", async () => {
    const refusing = await startHost(status(413));
    const host = await startHost(good);
    expect((await failureOf(setUp(refusing.name, host.name).ensure())).status).toBe(413);
    expect(host.uploads).toEqual([]);
  });

  it("knows when there is no file, and when WhatsApp names no host", async () => {
    const { uploads, source } = setUp();
    expect(await uploads.ensure("mf_2", "chats", source)).toBeNull();
    const nobody: MediaHostsSource = { get: () => Promise.reject(new Error("Timed Out")) };
    expect((await failureOf(uploads.ensure("mf_1", "chats", nobody))).status).toBeNull();
  });
});

describe("a file that is not taken", () => {
  const failing = (code: number) => [status(code), status(code), status(code)];

  it.each([502, 503, 504, 429])(
    "with %i says nothing of itself until another file was taken",
    async (code) => {
      const host = await startHost(...failing(code), good, status(code));
      const { ensure, uploads, source } = setUp(host.name);
      const failures = [await failureOf(ensure()), await failureOf(ensure()), await failureOf(ensure())];

      await uploads.ensure("mf_other", "chats", source);
      const afterwards = await failureOf(ensure());

      expect(failures.map(({ ofService, answered }) => ({ ofService, answered }))).toEqual(
        failures.map(() => ({ ofService: true, answered: code })),
      );
      expect(afterwards).toMatchObject({ ofService: false, answered: code });
    },
  );

  it("with 500 is taken for what it is; nobody there is the service's own affair", async () => {
    const host = await startHost(status(500));
    expect(await failureOf(setUp(host.name).ensure())).toMatchObject({ ofService: false, answered: 500 });
    expect(await failureOf(setUp("127.0.0.1:1").ensure())).toMatchObject({ ofService: true, answered: null });
  });
});
