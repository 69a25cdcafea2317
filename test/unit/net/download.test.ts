import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Download, DownloadLimits } from "../../../src/net/download.ts";
import { OutboundError } from "../../../src/net/errors.ts";
import { createSafeFetch, type SafeFetch } from "../../../src/net/safe-fetch.ts";
import { startServer } from "./server.ts";

/** Loopback is all that a test has, so 127.0.0.1 plays the internet and every other address the private network. */
const internet = (address: string): boolean => address === "127.0.0.1";

function safeFetch(): SafeFetch {
  const made = createSafeFetch({ allowPrivateNetwork: false }, internet);
  onTestFinished(() => made.close());
  return made;
}

const limits = (more: Partial<DownloadLimits> = {}): DownloadLimits => ({
  firstByteMs: 5_000,
  totalMs: 10_000,
  maxBytes: 1_000_000,
  maxRedirects: 5,
  ...more,
});

async function readAll({ body }: Download): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function failureOf(promise: Promise<unknown>): Promise<OutboundError> {
  const error = await promise.then(
    (value) => new Error(`came through: ${String(value)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof OutboundError) return error;
  throw error;
}

describe("a file from the outside", () => {
  it("comes in pieces with its headers, whole", async () => {
    const file = Buffer.alloc(300_000, "parley");
    const { url } = await startServer((_request, response) => {
      response.writeHead(200, { "content-disposition": 'attachment; filename="a.pdf"' });
      response.write(file.subarray(0, 1_000), () => response.end(file.subarray(1_000)));
    });
    let pieces = 0;
    const got = await safeFetch().download(`${url}/f`, limits(), async (answer) => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer.body) pieces = chunks.push(chunk);
      return { name: answer.header("content-disposition"), file: Buffer.concat(chunks) };
    });
    expect(got.name).toBe('attachment; filename="a.pdf"');
    expect(got.file.equals(file)).toBe(true);
    expect(pieces).toBeGreaterThan(1);
  });

  it("is counted while it comes, whatever its length says", async () => {
    const { url } = await startServer((request, response) => {
      if (request.url === "/says") response.writeHead(200, { "content-length": "2000" });
      response.end(Buffer.alloc(2_000));
    });
    const http = safeFetch();
    for (const path of ["/says", "/hides"]) {
      const failed = await failureOf(http.download(url + path, limits({ maxBytes: 1_999 }), readAll));
      expect(failed.problem, path).toBe("too_large");
    }
    expect((await http.download(`${url}/says`, limits({ maxBytes: 2_000 }), readAll)).length).toBe(2_000);
  });

  it("is refused when it is no success, or compressed", async () => {
    const { url } = await startServer((request, response) => {
      if (request.url === "/gone") response.writeHead(404).end("no");
      else response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("x"));
    });
    const http = safeFetch();
    const gone = await failureOf(http.download(`${url}/gone`, limits(), readAll));
    expect(gone).toMatchObject({ problem: "unreachable", status: 404 });
    expect((await failureOf(http.download(`${url}/zip`, limits(), readAll))).problem).toBe("encoded");
  });

  it("follows five redirects, not six, and none to a private address or another scheme", async () => {
    const { url, requests } = await startServer((request, response) => {
      const left = Number(request.url!.slice(1));
      if (request.url === "/private") response.writeHead(302, { location: "http://127.0.0.2:9/" }).end();
      else if (request.url === "/ftp") response.writeHead(302, { location: "ftp://127.0.0.1/" }).end();
      else if (left === 0) response.end("there");
      else response.writeHead(307, { location: `/${left - 1}` }).end();
    });
    const http = safeFetch();
    expect(String(await http.download(`${url}/5`, limits(), readAll))).toBe("there");
    expect((await failureOf(http.download(`${url}/6`, limits(), readAll))).problem).toBe("redirects");
    for (const path of ["/private", "/ftp"])
      expect((await failureOf(http.download(url + path, limits(), readAll))).problem).toBe("not_allowed");
    expect(requests.filter(({ path }) => path === "/0")).toHaveLength(1);
  });

  it("must begin in time and end in time", async () => {
    const { url } = await startServer((request, response) => {
      if (request.url === "/headers") response.writeHead(200).flushHeaders();
      if (request.url === "/drips") response.write("x");
    });
    const http = safeFetch();
    const soon = limits({ firstByteMs: 100, totalMs: 400 });
    for (const path of ["/never", "/headers"]) {
      const failed = await failureOf(http.download(url + path, soon, readAll));
      expect(failed.message, path).toContain("first byte");
    }
    const short = limits({ totalMs: 400 });
    expect((await failureOf(http.download(`${url}/drips`, short, readAll))).message).toContain("complete");
  });

  it("must keep to a least rate, which only the time counts for in which it is waited for", async () => {
    const { url } = await startServer((request, response) => {
      if (request.url === "/whole") return void response.end(Buffer.alloc(500));
      const drip = setInterval(() => response.write("xx"), 20);
      response.once("close", () => clearInterval(drip));
    });
    const http = safeFetch();
    const least = limits({ leastRate: { bytes: 1_000, withinMs: 300 } });
    const failed = await failureOf(http.download(`${url}/drips`, least, readAll));
    expect(failed).toMatchObject({ problem: "timeout", message: expect.stringContaining("1000 bytes") });
    // A file that ends may be shorter, and a reader that is slow is not the server's fault.
    const slowly = await http.download(`${url}/whole`, least, async (answer) => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer.body) {
        chunks.push(chunk);
        await new Promise((resolve) => setTimeout(resolve, 400));
      }
      return Buffer.concat(chunks);
    });
    expect(slowly).toHaveLength(500);
  });

  it("that breaks off is unreachable, and what its reader throws stays what it is", async () => {
    const { url } = await startServer((_request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half", () => response.destroy());
    });
    const http = safeFetch();
    expect((await failureOf(http.download(url, limits(), readAll))).problem).toBe("unreachable");
    const own = new Error("of the reader");
    await expect(http.download(url, limits(), () => Promise.reject(own))).rejects.toBe(own);
  });
});
