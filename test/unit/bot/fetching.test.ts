import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { url, type FetchOptions } from "../../../src/bot/index.ts";
import type { AnyContext } from "../../../src/bot/types.ts";
import { addressesIn } from "../../../src/bot/bindings/url.ts";
import { createSafeFetch } from "../../../src/net/safe-fetch.ts";
import { bot, onHi, startBots } from "./harness.ts";

/** Two servers on this machine; 127.0.0.2 stands for the internet, 127.0.0.1 for what is private. */
interface Server {
  port: number;
  seen: { method: string; path: string; headers: IncomingMessage["headers"]; body: string }[];
  connections: number;
  answer(response: ServerResponse, path: string): void;
  close(): void;
}

async function serve(host: string): Promise<Server> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = "", url: path = "", headers } = request;
    made.seen.push({ method, path, headers, body: Buffer.concat(chunks).toString() });
    made.answer(response, path);
  });
  server.on("connection", () => made.connections++);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const made: Server = {
    port: (server.address() as AddressInfo).port,
    seen: [],
    connections: 0,
    answer: (response) => response.end("ok"),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return made;
}

let open: Server;
let secret: Server;
let shop: string;
beforeAll(async () => {
  [open, secret] = await Promise.all([serve("127.0.0.2"), serve("127.0.0.1")]);
  shop = `http://127.0.0.2:${open.port}`;
});
afterAll(() => [open, secret].forEach((server) => server?.close()));
beforeEach(() => {
  for (const server of [open, secret]) {
    server.seen = [];
    server.connections = 0;
    server.answer = (response) => response.end("ok");
  }
});

/** A bot that asks, with everything reachable but what is private. @returns what it replied */
async function ask(handler: (ctx: AnyContext) => unknown, options: { botTimeoutMs?: number } = {}) {
  const http = createSafeFetch({ allowPrivateNetwork: false }, (address) => address === "127.0.0.2");
  const bots = await startBots({ a: onHi(handler) }, { http, ...options });
  const decision = await bots.say("hi");
  return { said: bots.heard(), decision };
}

const problemOf = (address: string, options?: FetchOptions) => async (ctx: AnyContext) =>
  ctx.reply(await ctx.fetch(address, options).then(String, (error) => error.problem ?? String(error)));

function signal(): { given: Promise<void>; give(): void } {
  let give!: () => void;
  const given = new Promise<void>((resolve) => (give = resolve));
  return { given, give };
}

describe("ctx.fetch", () => {
  it("asks like fetch, and gives an answer that is read", async () => {
    open.answer = (response) => {
      response.writeHead(201, { "x-shop": "yes", "content-type": "application/json" });
      response.end('{"order": 7}');
    };
    const { said } = await ask(async (ctx) => {
      const answer = await ctx.fetch(new URL("/orders?a=1", shop), {
        method: "post",
        headers: { authorization: "Bearer t", "content-type": "application/json" },
        body: JSON.stringify({ cart: 1 }),
      });
      const { order } = (await answer.clone().json()) as { order: number };
      ctx.reply([answer.status, answer.ok, answer.headers.get("x-shop"), order, answer.url].join(" "));
    });
    expect(said).toEqual([`201 true yes 7 ${shop}/orders?a=1`]);
    expect(open.seen).toMatchObject([
      { method: "POST", path: "/orders?a=1", headers: { authorization: "Bearer t" }, body: '{"cart":1}' },
    ]);
  });

  it("gives no JSON that is nested deeper than any answer is, and says so", async () => {
    open.answer = (response) => void response.end("[".repeat(1_001));
    const { said } = await ask(async (ctx) => {
      const answer = await ctx.fetch(shop);
      for (const one of [answer.clone(), answer]) {
        const { message } = await one.json().catch((error: Error) => error);
        ctx.reply(message);
      }
    });
    expect(said).toEqual(Array(2).fill("The answer is nested deeper than 1000 levels."));
  });

  it.each([
    ["a text", "x=1", "text/plain;charset=UTF-8"],
    ["a form", new URLSearchParams({ x: "1" }), "application/x-www-form-urlencoded;charset=UTF-8"],
    ["bytes", Buffer.from("x=1"), "application/octet-stream"],
  ])("says what %s is", async (_what, body, type) => {
    await ask((ctx) => ctx.fetch(shop, { method: "PUT", body }));
    expect(open.seen).toMatchObject([{ method: "PUT", body: "x=1", headers: { "content-type": type } }]);
  });

  it.each([204, 304, 404, 500])("gives %d as an answer", async (status) => {
    open.answer = (response) => response.writeHead(status).end();
    const { said } = await ask(async (ctx) => ctx.reply(`${(await ctx.fetch(shop)).status}`));
    expect(said).toEqual([String(status)]);
  });

  it.each([
    ["an address", () => `http://127.0.0.1:${secret.port}/`],
    ["an address in other digits", () => `http://2130706433:${secret.port}/`],
    ["an address of version 6", () => `http://[::ffff:127.0.0.1]:${secret.port}/`],
    ["a name", () => `http://localhost:${secret.port}/`],
    ["another scheme", () => "file:///etc/passwd"],
    ["no address", () => "orders"],
  ])("does not reach what is private: %s", async (_what, address) => {
    expect((await ask(problemOf(address()))).said).toEqual(["not_allowed"]);
    expect(secret.connections).toBe(0);
  });

  it("follows a GET to where it is sent, and not into what is private", async () => {
    open.answer = (response, path) =>
      path === "/there"
        ? response.end("there")
        : response
            .writeHead(302, { location: path === "/in" ? `http://127.0.0.1:${secret.port}/` : "/there" })
            .end();
    const there = await ask(async (ctx) => ctx.reply(await (await ctx.fetch(`${shop}/out`)).text()));
    expect(there.said).toEqual(["there"]);
    expect((await ask(problemOf(`${shop}/in`))).said).toEqual(["not_allowed"]);
    const manual = await ask(async (ctx) =>
      ctx.reply(`${(await ctx.fetch(`${shop}/in`, { redirect: "manual" })).status}`),
    );
    const post = await ask(async (ctx) =>
      ctx.reply(`${(await ctx.fetch(`${shop}/in`, { method: "POST" })).status}`),
    );
    expect([...manual.said, ...post.said]).toEqual(["302", "302"]);
    expect(secret.connections).toBe(0);
  });

  it("tells another server nothing of what it told the first", async () => {
    const other = await serve("127.0.0.2");
    onTestFinished(() => other.close());
    open.answer = (response, path) =>
      path === "/a"
        ? response.writeHead(307, { location: "/b" }).end()
        : response.writeHead(307, { location: `http://127.0.0.2:${other.port}/` }).end();
    const headers = { Authorization: "Bearer t", Cookie: "a=b", "x-mine": "1" };
    await ask((ctx) => ctx.fetch(`${shop}/a`, { headers }));
    expect(open.seen).toMatchObject([
      { headers: { cookie: "a=b" } },
      { headers: { authorization: "Bearer t" } },
    ]);
    expect(other.seen[0]!.headers).not.toHaveProperty("authorization");
    expect(other.seen[0]!.headers).not.toHaveProperty("cookie");
    expect(other.seen[0]!.headers).toMatchObject({ "x-mine": "1" });
  });

  it("gives up what is too large and what takes too long", async () => {
    open.answer = (response, path) =>
      path === "/slow" ? response.write("a") : response.end("a".repeat(2_000_000));
    expect((await ask(problemOf(shop))).said).toEqual(["too_large"]);
    expect((await ask(problemOf(shop, { maxBytes: 2_000_000 }))).said).toEqual(["[object Response]"]);
    expect((await ask(problemOf(`${shop}/slow`, { timeout: "50ms" as never }))).said[0]).toMatch(
      /timeout|duration/,
    );
    expect((await ask(problemOf(`${shop}/slow`, { timeout: 50 }))).said).toEqual(["timeout"]);
  });

  it("ends with its handler, whether that has waited for it or not", async () => {
    const gone = new Promise<void>((resolve) => {
      open.answer = (response) => void response.once("close", resolve);
    });
    const { decision } = await ask((ctx) => ctx.fetch(shop), { botTimeoutMs: 100 });
    expect(decision.trail).toMatchObject([{ outcome: "timed_out" }]);
    await gone;

    const [asked, left] = [signal(), signal()];
    open.answer = (response) => {
      response.once("close", left.give);
      asked.give();
    };
    let pending: Promise<unknown> | null = null;
    let late: (() => Promise<unknown>) | null = null;
    await ask(async (ctx) => {
      pending = ctx.fetch(shop).catch((error: Error) => error.name);
      late = () => ctx.fetch(shop);
      await asked.given;
    });
    await left.given;
    expect(await pending).toBe("ContextClosedError");
    await expect(late!()).rejects.toThrow("ctx.fetch() was called after the handler had returned");
  });

  it.each<[string, FetchOptions]>([
    ["method", { method: "BREW" }],
    ["body", { body: "x" }],
    ["maxBytes", { maxBytes: 1e9 }],
    ["redirect", { redirect: "error" as never }],
  ])("names the option that means nothing: %s", async (name, options) => {
    const { said } = await ask(problemOf(shop, options));
    expect(said[0]).toMatch(new RegExp(`TypeError: ctx.fetch.*${name}`));
  });
});

describe("addresses in a bot's settings", () => {
  const config = z.object({
    crm: z.object({ url: url().optional() }),
    links: z.array(url()).default([]),
    text: z.string(),
  });
  const configured = bot((b) => b.keyword("hi", (ctx) => ctx.reply("hi")), {
    enable: "bound",
    config: config as never,
  });

  it("are those that were read as such, wherever they stand", () => {
    const settings = config.parse({
      crm: { url: "https://crm.example" },
      links: ["http://a.example/x"],
      text: "http://only.words.example",
    });
    expect(addressesIn(settings)).toEqual([
      ["crm.url", "https://crm.example"],
      ["links.0", "http://a.example/x"],
    ]);
  });

  it.each([
    "crm.example",
    "ftp://crm.example",
    "https://",
    "http:///x y",
    `https://a.example/${"a".repeat(2_048)}`,
    "",
  ])("are complete addresses of http: %s", (text) => expect(url().safeParse(text).success).toBe(false));

  it("are looked at when they are saved, each with its place, and the settings before stay", async () => {
    const http = createSafeFetch({ allowPrivateNetwork: false }, (address) => address === "127.0.0.2");
    const bots = await startBots({ c: configured }, { http, config: { crm: {}, text: "" } });
    const { bindings } = bots.run.path;
    const save = (links: string[]) =>
      bindings.put(1, [{ id: "c", enabled: true, config: { crm: {}, text: "http://127.0.0.1", links } }]);

    await expect(save([shop, "http://127.0.0.1/x"])).rejects.toMatchObject({
      code: "URL_NOT_ALLOWED",
      message: expect.stringMatching(/^Bot "c": config links\.1: The address is private/),
    });
    await expect(save(Array(51).fill(shop))).rejects.toMatchObject({ code: "INVALID_PARAMETERS" });
    expect(bindings.list(1)[0]!.config).toEqual({ crm: {}, text: "" });
    await save([shop, "https://a-name-that-is-not-there.example"]);
    expect(bindings.list(1)[0]!.config).toMatchObject({ text: "http://127.0.0.1" });
  });
});
