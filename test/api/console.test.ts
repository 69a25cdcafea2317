import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { get as httpGet, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compressFolder } from "../../src/build/compress.ts";
import { removeFolder } from "../_setup/folders.ts";
import { startGateway, type Gateway } from "../_setup/gateway.ts";

const PAGE = `<!doctype html><title>Console</title>${"<p>a page</p>".repeat(100)}`;
const SCRIPT = `export const a = [${"1,".repeat(500)}];`;

let folder: string;
let gateway: Gateway;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "parley-console-"));
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "index.html"), PAGE);
  writeFileSync(join(folder, "assets/a-1.js"), SCRIPT);
  writeFileSync(join(folder, "assets/a-1.js.map"), "{}");
  await compressFolder(folder);
  gateway = await startGateway({ env: { CONSOLE_DIR: folder } });
});
afterAll(async () => {
  await gateway?.dispose();
  removeFolder(folder);
});

/** As it comes, not unpacked. */
function ask(
  path: string,
  headers: Record<string, string> = {},
): Promise<IncomingMessage & { body: Buffer }> {
  return new Promise((resolve, reject) => {
    httpGet({ host: "127.0.0.1", port: gateway.port, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("end", () => resolve(Object.assign(response, { body: Buffer.concat(chunks) })));
    }).once("error", reject);
  });
}

describe("the console", () => {
  it("is where GET / leads people", async () => {
    const headers = { accept: "text/html" };
    const answer = await fetch(`${gateway.url}/`, { headers, redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "/console"]);
    expect((await fetch(`${gateway.url}/`, { headers: { accept: "*/*" } })).status).toBe(404);
  });

  it.each([
    "/console",
    "/console/",
    "/console/chats/49%20151",
    "/console/link",
    "/console/1@g.us",
    "/v1/console/x",
  ])(
    "answers %s with its page, which may load nothing from elsewhere and run no script of its own",
    async (path) => {
      const { statusCode, headers, body } = await ask(path);
      expect([statusCode, body.toString()]).toEqual([200, PAGE]);
      expect(headers).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-cache",
        "content-security-policy": expect.stringMatching(/^default-src 'none'; script-src 'self'; /),
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-request-id": expect.any(String),
      });
      expect(headers["content-security-policy"]).not.toMatch(/unsafe|http|\*/);
      expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    },
  );

  it("sends its files packed as the browser takes them, to be kept for ever when their name says what is in them", async () => {
    const br = await ask("/console/assets/a-1.js", { "accept-encoding": "gzip, deflate, br" });
    const gz = await ask("/console/assets/a-1.js", { "accept-encoding": "gzip;q=1, br;q=0" });
    const plain = await ask("/console/assets/a-1.js");

    expect(br.headers).toMatchObject({
      "content-encoding": "br",
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      vary: "accept-encoding",
    });
    expect(brotliDecompressSync(br.body).toString()).toBe(SCRIPT);
    expect(gunzipSync(gz.body).toString()).toBe(SCRIPT);
    expect([plain.headers["content-encoding"], plain.body.toString()]).toEqual([undefined, SCRIPT]);
  });

  it("says that a page is as it was", async () => {
    const { headers } = await ask("/console");
    const again = await ask("/console", { "if-none-match": String(headers.etag) });
    expect([again.statusCode, again.body.length]).toEqual([304, 0]);
  });

  it.each(["/console/assets/b.js", "/console/assets/a-1.js.map", "/console/..%2findex.html", "/consoles"])(
    "has no file at %s, and says so",
    async (path) => {
      expect(await gateway.get(path)).toMatchObject({ status: 404, body: { errors: { code: "NOT_FOUND" } } });
    },
  );

  it("takes GET alone", async () => {
    for (const method of ["POST", "DELETE", "HEAD"]) {
      const { status, headers } = await gateway.request(method, "/console");
      expect([status, headers.get("allow")]).toEqual([405, "GET, OPTIONS"]);
    }
    const { status, headers } = await gateway.request("OPTIONS", "/console/chats");
    expect([status, headers.get("allow")]).toEqual([204, "GET, OPTIONS"]);
  });
});
