import { freePort } from "../../_setup/free-port.ts";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { OutboundError, type OutboundProblem } from "../../../src/net/errors.ts";
import { createSafeFetch, type OutboundRequest, type SafeFetch } from "../../../src/net/safe-fetch.ts";
import { startServer } from "./server.ts";

/** Loopback is all that a test has, so 127.0.0.1 plays the internet and every other address the private network. */
const internet = (address: string): boolean => address === "127.0.0.1";

function safeFetch(allowPrivateNetwork: boolean, isAllowed?: (address: string) => boolean): SafeFetch {
  const made = createSafeFetch({ allowPrivateNetwork }, isAllowed);
  onTestFinished(() => made.close());
  return made;
}

const get = (more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  method: "GET",
  timeoutMs: 5_000,
  ...more,
});

async function problemOf(promise: Promise<unknown>): Promise<OutboundProblem> {
  const error = await promise.then(
    (value) => new Error(`answered ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof OutboundError) return error.problem;
  throw error;
}

/** Answers the first requests of each connection, and ends it with the one of that number: by default the second. */
async function cutting(end: (socket: Socket) => void, atRequest = 2) {
  const requests = new WeakMap<Socket, number>();
  const cut: Socket[] = [];
  const { url } = await startServer(({ socket }, response) => {
    const number = (requests.get(socket) ?? 0) + 1;
    requests.set(socket, number);
    if (number < atRequest) return void response.end();
    cut.push(socket);
    end(socket);
  });
  return { url, cut };
}

describe("a request to the outside", () => {
  it("posts the bytes as they are and gives back status, headers and body", async () => {
    const server = await startServer((_request, response, body) => {
      response.writeHead(418, { "x-one": "1", "content-type": "application/json" }).end(`{"got":${body}}`);
    });
    const http = safeFetch(true);

    const answer = await http.request(`${server.url}/hook?a=1`, {
      method: "POST",
      headers: { "content-type": "application/json", "webhook-id": "msg_1" },
      body: '{ "x" : 1 }',
      timeoutMs: 5_000,
    });

    expect(answer.status).toBe(418);
    expect(answer.headers.get("x-one")).toBe("1");
    expect(answer.body.toString()).toBe('{"got":{ "x" : 1 }}');
    expect(server.requests[0]).toMatchObject({ method: "POST", path: "/hook?a=1", body: '{ "x" : 1 }' });
    expect(server.requests[0]!.headers).toMatchObject({
      "webhook-id": "msg_1",
      "accept-encoding": "identity",
    });
  });

  it("is read whatever bytes stand in the headers of its answer", async () => {
    const answers = createServer((socket) => {
      socket.once("data", () => {
        const head = Buffer.concat([
          Buffer.from("HTTP/1.1 200 OK\r\nx-shop: "),
          Buffer.from("Café ☕"),
          Buffer.from([0xff, 0x80]),
          Buffer.from("\r\nset-cookie: a=1\r\nset-cookie: b=2\r\ncontent-length: 2\r\n\r\nOK"),
        ]);
        socket.end(head);
      });
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void answers.close());
    await once(answers, "listening");
    const { port } = answers.address() as AddressInfo;

    const answer = await safeFetch(true).request(`http://127.0.0.1:${port}/`, {
      method: "GET",
      timeoutMs: 5_000,
    });

    expect(answer.body.toString()).toBe("OK");
    expect(answer.headers.get("x-shop")).toMatch(/^Caf/);
    expect(answer.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  });

  it("leaves nothing behind that is freed only when all of the heap is looked through", async () => {
    const server = await startServer((_request, response) => response.end("OK"));
    const http = safeFetch(true);
    const registered = vi.spyOn(FinalizationRegistry.prototype, "register");
    onTestFinished(() => registered.mockRestore());

    for (let time = 0; time < 10; time++)
      await http.request(server.url, { method: "POST", body: "{}", timeoutMs: 5_000 });

    expect(registered.mock.calls.length).toBeLessThan(10);
  });

  it("takes 5xx, 204 and an empty body for answers, and sends nothing twice", async () => {
    const server = await startServer((request, response) => {
      response.writeHead(Number(request.url!.slice(1))).end();
    });
    const http = safeFetch(true);

    for (const status of [200, 204, 404, 429, 500, 503])
      expect(await http.request(`${server.url}/${status}`, get())).toMatchObject({
        status,
        body: Buffer.alloc(0),
      });

    expect(server.requests).toHaveLength(6);
  });

  it.each([
    ["resets", (socket: Socket) => void socket.resetAndDestroy()],
    ["closes", (socket: Socket) => void socket.destroy()],
  ])("is written once more when the server %s the connection that was kept", async (_, end) => {
    const { url, cut } = await cutting(end);
    const http = safeFetch(true);
    const post = (repeatable: boolean) => http.request(url, { ...get(), method: "POST", repeatable });

    while (cut.length < 3) expect((await post(true)).status).toBe(200);
    await expect(
      (async () => {
        while (cut.length < 4) await post(false);
      })(),
    ).rejects.toThrow(OutboundError);
  });

  it("is written once when a new connection ends, or one that was kept has begun to answer", async () => {
    const first = await cutting((socket) => void socket.resetAndDestroy(), 1);
    const http = safeFetch(true);
    const post = (url: string) => http.request(url, { ...get(), method: "POST", repeatable: true });
    expect(await problemOf(post(first.url))).toBe("unreachable");
    expect(first.cut).toHaveLength(1);

    const half = await cutting((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf", () => socket.resetAndDestroy());
    });
    await expect(
      (async () => {
        while (half.cut.length < 2) await post(half.url);
      })(),
    ).rejects.toThrow(OutboundError);
    expect(half.cut).toHaveLength(1);
  });

  it("keeps the connection for the next request", async () => {
    const server = await startServer((_request, response) => response.end("ok"));
    const http = safeFetch(true);

    for (let index = 0; index < 20; index++) await http.request(server.url, get());

    // The answer may be complete a moment before its connection is free again, hence sometimes a second one.
    expect(server.connections()).toBeLessThanOrEqual(2);
  });

  it("turns user and password of the address into Basic authentication", async () => {
    const server = await startServer((_request, response) => response.end());
    const http = safeFetch(true);

    await http.request(server.url.replace("http://", "http://me:p%40ss@"), get());

    expect(server.requests[0]!.headers.authorization).toBe(
      `Basic ${Buffer.from("me:p@ss").toString("base64")}`,
    );
  });

  it("takes a percent sign in them that escapes nothing as it is", async () => {
    const server = await startServer((_request, response) => response.end());
    const secret = "100%a%zz";
    await safeFetch(true).request(server.url.replace("http://", `http://me:${secret}@`), get());
    expect(server.requests[0]!.headers.authorization).toBe(
      `Basic ${Buffer.from(`me:${secret}`).toString("base64")}`,
    );
  });

  it("names what failed: nobody listens, the line is cut", async () => {
    const server = await startServer((_request, response) => response.socket!.destroy());
    const http = safeFetch(true);

    const nobody = `http://127.0.0.1:${await freePort()}`;
    expect(await problemOf(http.request(nobody, get()))).toBe("unreachable");
    expect(await problemOf(http.request(server.url, get()))).toBe("unreachable");
    expect(await problemOf(http.request("http://does-not-exist.invalid/", get()))).toBe("unreachable");
  });
});

describe("what an answer may not do", () => {
  it("hang, or drip for longer than the whole time", async () => {
    const silent = await startServer(() => undefined);
    const dripping = await startServer((_request, response) => {
      const drip = setInterval(() => response.write("."), 20);
      response.on("close", () => clearInterval(drip));
    });
    const http = safeFetch(true);

    for (const { url } of [silent, dripping]) {
      const start = performance.now();
      expect(await problemOf(http.request(url, get({ timeoutMs: 300 })))).toBe("timeout");
      expect(performance.now() - start).toBeGreaterThan(250);
      expect(performance.now() - start).toBeLessThan(30_000);
    }
  });

  it("be larger than allowed, however long it goes on", async () => {
    const endless = await startServer((_request, response) => {
      const chunk = Buffer.alloc(64 * 1024, "x");
      const pour = (): void => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once("drain", pour);
      };
      pour();
    });
    const exact = await startServer((_request, response) => response.end(Buffer.alloc(1024 * 1024)));
    const http = safeFetch(true);

    expect(await problemOf(http.request(endless.url, get()))).toBe("too_large");
    expect(await problemOf(http.request(exact.url, get({ maxBytes: 1024 * 1024 - 1 })))).toBe("too_large");
    expect((await http.request(exact.url, get())).body).toHaveLength(1024 * 1024);
  });

  it("be compressed", async () => {
    const server = await startServer((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(50_000_000)));
    });

    expect(await problemOf(safeFetch(true).request(server.url, get()))).toBe("encoded");
  });

  it("go on after the caller gave up", async () => {
    const server = await startServer(() => undefined);
    const controller = new AbortController();
    const request = safeFetch(true).request(server.url, get({ signal: controller.signal }));

    controller.abort(new Error("shutting down"));

    await expect(request).rejects.toThrow("shutting down");
  });
});

describe("the private network", () => {
  it.each([
    "http://127.0.0.1:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f.1:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://127.1:PORT/",
    "http://0.0.0.0:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://localhost:PORT/",
    "http://user:pass@127.0.0.1:PORT/",
  ])("is not reached by %s, neither with a request nor in the check", async (form) => {
    const server = await startServer((_request, response) => response.end("internal secret"), "0.0.0.0");
    const http = safeFetch(false);
    const url = form.replace("PORT", String(server.port));

    expect(await problemOf(http.request(url, get()))).toBe("not_allowed");
    expect(await problemOf(http.check(url))).toBe("not_allowed");
    expect(server.requests).toEqual([]);
    expect(server.connections()).toBe(0);
  });

  it("is reached when the operator allows it", async () => {
    const server = await startServer((_request, response) => response.end("fine"));
    const http = safeFetch(true);

    await http.check(server.url);
    expect((await http.request(server.url.replace("127.0.0.1", "localhost"), get())).body.toString()).toBe(
      "fine",
    );
  });

  it("is not reached by anything but http and https", async () => {
    for (const allowAll of [true, false])
      for (const url of [
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "unix:/run/x.sock",
        "data:text/plain,x",
        "nonsense",
      ]) {
        expect(await problemOf(safeFetch(allowAll).request(url, get()))).toBe("not_allowed");
        expect(await problemOf(safeFetch(allowAll).check(url))).toBe("not_allowed");
      }
  });

  it("leaves public addresses and names that do not resolve yet alone in the check", async () => {
    const http = safeFetch(false);

    await expect(http.check("https://8.8.8.8/hook")).resolves.toBeUndefined();
    await expect(http.check("https://not-there-yet.invalid/hook")).resolves.toBeUndefined();
  });

  it.each(["localhost.", "LOCALHOST", "a.localhost", "a.b.localhost.", "ａ.ｌｏｃａｌｈｏｓｔ"])(
    "refuses %s in the check, whether or not it resolves today",
    async (host) => {
      expect(await problemOf(safeFetch(false).check(`https://${host}/hook`))).toBe("not_allowed");
    },
  );

  it("takes names that only look like this machine's for names", async () => {
    for (const host of ["mylocalhost", "localhost.invalid", "localhost.example.invalid"])
      await expect(safeFetch(false).check(`https://${host}/hook`)).resolves.toBeUndefined();
  });

  it("lets an allowed address through the same guard", async () => {
    const server = await startServer((_request, response) => response.end("public"));

    expect((await safeFetch(false, internet).request(server.url, get())).body.toString()).toBe("public");
  });

  it("is judged by the address that is connected to: a name with one private address is refused whole", async () => {
    const asked: string[] = [];
    const http = safeFetch(false, (address) => {
      asked.push(address);
      return false;
    });

    expect(await problemOf(http.request("http://localhost:2345/", get()))).toBe("not_allowed");
    expect(asked.length).toBeGreaterThan(0);
    expect(asked).not.toContain("localhost");
  });
});

describe("a redirect", () => {
  it("is an answer and not followed, unless the request says how often", async () => {
    const server = await startServer((_request, response) =>
      response.writeHead(302, { location: "/next" }).end(),
    );

    const answer = await safeFetch(true).request(server.url, get());

    expect(answer.status).toBe(302);
    expect(server.requests).toHaveLength(1);
  });

  it("is followed by a GET at most as often as allowed, relative or absolute, and never by a POST", async () => {
    const server = await startServer((request, response) => {
      const left = Number(request.url!.slice(1));
      if (left === 0) response.end("arrived");
      else
        response.writeHead(307, { location: left % 2 ? `/${left - 1}` : `${server.url}/${left - 1}` }).end();
    });
    const http = safeFetch(true);

    const answer = await http.request(`${server.url}/5`, get({ maxRedirects: 5 }));
    expect(answer.body.toString()).toBe("arrived");
    expect(answer.url).toBe(`${server.url}/0`);
    expect(await problemOf(http.request(`${server.url}/6`, get({ maxRedirects: 5 })))).toBe("redirects");
    const posted = await http.request(`${server.url}/1`, get({ method: "POST", body: "x", maxRedirects: 5 }));
    expect(posted.status).toBe(307);
  });

  it("does not lead into the private network, nor to another scheme", async () => {
    const secret = await startServer((_request, response) => response.end("internal secret"), "127.0.0.2");
    const server = await startServer((request, response) => {
      response
        .writeHead(302, { location: request.url === "/file" ? "file:///etc/passwd" : secret.url })
        .end();
    });
    const http = safeFetch(false, internet);

    expect(await problemOf(http.request(server.url, get({ maxRedirects: 5 })))).toBe("not_allowed");
    expect(await problemOf(http.request(`${server.url}/file`, get({ maxRedirects: 5 })))).toBe("not_allowed");
    expect(secret.connections()).toBe(0);
  });
});
