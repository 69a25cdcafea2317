import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { createProxyConnector, ProxyFailed } from "../../../src/net/proxy.ts";
import { hostOf, readProxy, shownProxy } from "../../../src/net/proxy-address.ts";
import { PROXY_PASSWORD, startHttpProxy, startSocksProxy } from "../../_setup/proxy.ts";
import { startServer } from "./server.ts";

type Rules = Parameters<typeof createProxyConnector>[1];
const ANY: Rules = { mayBeProxy: null, mayBeReached: null };

async function connect(url: string, target: string, rules: Rules = ANY): Promise<Socket> {
  const { hostname, port } = new URL(target);
  const connector = createProxyConnector(readProxy(url)!, rules);
  const socket = await new Promise<Socket>((resolve, reject) =>
    connector({ hostname, host: hostname, protocol: "http:", port }, (...[error, made]) =>
      error === null ? resolve(made) : reject(error),
    ),
  );
  onTestFinished(() => void socket.destroy());
  return socket;
}

describe("the address of a proxy", () => {
  it("is read as connections read it, with the usual ports", () => {
    const at = (text: string): string | null => {
      const proxy = readProxy(text);
      return proxy && `${proxy.protocol} ${hostOf(proxy)}`;
    };
    expect(at("http://proxy.example")).toBe("http proxy.example:80");
    expect(at("https://proxy.example")).toBe("https proxy.example:443");
    expect(at("SOCKS5://proxy.example/")).toBe("socks5 proxy.example:1080");
    for (const scheme of ["http", "https", "socks5"]) {
      expect(at(`${scheme}://proxy.example:80`)).toBe(`${scheme} proxy.example:80`);
      expect(at(`${scheme}://user:80@0x7f.1:8080`)).toBe(`${scheme} 127.0.0.1:8080`);
      expect(at(`${scheme}://[::1]:80/`)).toBe(`${scheme} [::1]:80`);
    }
    expect(at("socks5://[fd00::80]")).toBe("socks5 [fd00::80]:1080");
  });

  it("is none with a path, a line break, a port of 0, or another scheme", () => {
    for (const text of [
      "",
      "http:",
      "http:///path",
      "http://a/b",
      "http://a\\b",
      "http://a#b",
      "http://a:0",
      "http://a\n.b",
      "socks5h://a",
      "socks://a",
      `socks5://${"a".repeat(256)}:b@c`,
    ])
      expect(readProxy(text), text).toBeNull();
  });

  it("is shown without its password", () => {
    const shown = shownProxy(readProxy("http://us%40er:se%3Acret@proxy.example:3128")!);
    expect(shown).toBe("http://us%40er@proxy.example:3128");
    expect(readProxy(shown)).toMatchObject({ username: "us@er", password: "" });
  });
});

describe.each([
  ["HTTP", startHttpProxy],
  ["SOCKS5", startSocksProxy],
])("a connection through a proxy (%s)", (_kind, start) => {
  it("carries what is written to it, with the password of the proxy", async () => {
    const { url } = await startServer((_request, response) => void response.end("here"));
    const proxy = await start();
    const socket = await connect(proxy.url, url);
    socket.write("GET / HTTP/1.0\r\n\r\n");
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).toContain("here");
    expect(proxy.targets).toEqual([new URL(url).host]);
  });

  it("is not made by a proxy that the rule refuses, when the connection is made", async () => {
    const proxy = await start();
    const onlyOthers = { ...ANY, mayBeProxy: (address: string) => address !== "127.0.0.1" };
    await expect(connect(proxy.url, "http://127.0.0.1:1", onlyOthers)).rejects.toThrow(ProxyFailed);
    // A name is judged by what it resolves to now, whatever it was when it was stored.
    const named = proxy.url.replace("127.0.0.1", "localhost");
    const loopback = { ...ANY, mayBeProxy: (address: string) => !["127.0.0.1", "::1"].includes(address) };
    await expect(connect(named, "http://127.0.0.1:1", loopback)).rejects.toThrow(/private or local/);
    expect(proxy.targets).toEqual([]);
  });

  it("goes to no address that the rule for targets refuses", async () => {
    const proxy = await start();
    await expect(
      connect(proxy.url, "http://10.0.0.1:1", { ...ANY, mayBeReached: () => false }),
    ).rejects.toThrow(ProxyFailed);
    expect(proxy.targets).toEqual([]);
  });

  it("fails in words without the password", async () => {
    const proxy = await start();
    const failures = await Promise.allSettled([
      connect(proxy.url, "http://127.0.0.1:1"),
      connect(proxy.url.replace(/:[^:@]+@/, ":wr0ng@"), "http://127.0.0.1:1"),
    ]);
    await proxy.stop();
    failures.push(...(await Promise.allSettled([connect(proxy.url, "http://127.0.0.1:1")])));
    for (const failure of failures) {
      const { reason } = failure as PromiseRejectedResult;
      expect(reason).toBeInstanceOf(ProxyFailed);
      const said = `${reason.stack} ${JSON.stringify(reason)} ${String(reason.cause)}`;
      for (const secret of [PROXY_PASSWORD, encodeURIComponent(PROXY_PASSWORD), "wr0ng"])
        expect(said).not.toContain(secret);
    }
  });

  it("is given up when the proxy ends it, or says what is no answer", async () => {
    for (const say of [
      (socket: Socket) => void socket.end(),
      (socket: Socket) => void socket.end("what?\r\n\r\n"),
    ]) {
      const server = createServer((socket) => {
        socket.on("error", () => undefined).once("data", () => say(socket));
      }).listen(0, "127.0.0.1");
      onTestFinished(() => void server.close());
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      const { protocol } = readProxy((await start()).url)!;
      await expect(connect(`${protocol}://127.0.0.1:${port}`, "http://127.0.0.1:1")).rejects.toThrow(
        ProxyFailed,
      );
    }
  });
});
