import { randomBytes, createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createS3Store } from "../../../src/media/s3.ts";
import type { MediaStore } from "../../../src/media/media-store.ts";
import type { Environment } from "../../../src/config.ts";
import { systemTime } from "../../../src/model/time.ts";
import { startS3 } from "../../_setup/s3.ts";
import { configFor, temporaryFolder } from "../store/temporary.ts";

function storeFor(env: Environment): MediaStore {
  const { mediaStore } = configFor(temporaryFolder(), env);
  const store = createS3Store(mediaStore!, systemTime, [1, 1]);
  onTestFinished(() => store.close());
  return store;
}

function file(bytes: Uint8Array): string {
  const path = join(temporaryFolder(), "file");
  writeFileSync(path, bytes);
  return path;
}

async function contentOf(store: MediaStore, name: string): Promise<Buffer | null> {
  let content: Buffer[] = [];
  const found = await store.get(name, async (bytes) => {
    content = [];
    for await (const chunk of bytes) content.push(chunk);
  });
  return found ? Buffer.concat(content) : null;
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("base64");

describe("a bucket", () => {
  it("keeps a file as it is, and knows nothing of another", async () => {
    const s3 = await startS3();
    const store = storeFor(s3.env);
    const bytes = randomBytes(3_000_000);

    await store.put("mf_1", file(bytes), sha256(bytes));
    await store.put("in/5-7", file(Buffer.from("short")));

    expect(s3.names()).toEqual(["in/5-7", "mf_1"]);
    expect((await contentOf(store, "mf_1"))?.equals(bytes)).toBe(true);
    expect(await contentOf(store, "mf_2")).toBeNull();
    expect([await store.has("mf_1"), await store.has("mf_")]).toEqual([true, false]);
  });

  it("lists names page by page, and forgets what is removed, also twice", async () => {
    const s3 = await startS3();
    const store = storeFor(s3.env);
    for (const name of ["in/1-1", "in/1-2", "in/2-1", "mf_1"]) await store.put(name, file(Buffer.from(name)));

    const [first] = await store.list("in/1-", null);
    expect(first).toMatchObject({ name: "in/1-1" });
    expect(Math.abs(first!.at - Date.now())).toBeLessThan(60_000);
    expect((await store.list("in/1-", "in/1-1")).map(({ name }) => name)).toEqual(["in/1-2"]);
    await store.remove("in/1-1");
    await store.remove("in/1-1");
    expect((await store.list("", null)).map(({ name }) => name)).toEqual(["in/1-2", "in/2-1", "mf_1"]);
  });

  it("says what is wrong with it: no such bucket, a wrong key, nobody there", async () => {
    const s3 = await startS3();
    const other = (from: string, to: string): MediaStore =>
      storeFor({ ...s3.env, MEDIA_STORE: s3.env["MEDIA_STORE"]!.replace(from, to) });

    // To the question for one name such a bucket answers as one that does not have it.
    await expect(contentOf(other("//parley", "//nobody"), "mf_1")).rejects.toThrow("NoSuchBucket");
    const wrongKey = storeFor({ ...s3.env, AWS_SECRET_ACCESS_KEY: "wrong" });
    await expect(wrongKey.put("mf_1", file(Buffer.from("x")))).rejects.toThrow("403 (SignatureDoesNotMatch)");
    await s3.stop();
    const away = storeFor(s3.env);
    await expect(away.put("mf_1", file(Buffer.from("x")))).rejects.toThrow(
      "it did not answer (ECONNREFUSED)",
    );
    // The next in line is told at once.
    await expect(away.list("", null)).rejects.toThrow("a moment ago");
  });

  it("is asked again when it fails in a way that passes, with the whole file", async () => {
    const path = file(randomBytes(200_000));
    const bodies: Buffer[] = [];
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      bodies.push(Buffer.concat(chunks));
      response.writeHead(bodies.length < 3 ? 503 : 200).end("<Error><Code>SlowDown</Code></Error>");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const store = storeFor({
      MEDIA_STORE: `s3://parley?endpoint=http://127.0.0.1:${port}`,
      AWS_ACCESS_KEY_ID: "a",
      AWS_SECRET_ACCESS_KEY: "b",
    });

    await store.put("mf_1", path);

    expect(bodies.map((body) => body.equals(readFileSync(path)))).toEqual([true, true, true]);
  });
});
