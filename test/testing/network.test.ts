import { once } from "node:events";
import { readFileSync } from "node:fs";
import http from "node:http";
import { connect, type AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { defineBot } from "parley";
import { createTestChat, NetworkBlockedError } from "parley/testing";

const ADDRESS = "https://orders.example/7";

function asking(ask: () => Promise<string>) {
  return [defineBot((b) => b.keyword("order", async (ctx) => ctx.reply(await ask())))];
}

const byFetch = asking(async () => {
  const answer = await fetch(ADDRESS, { method: "POST", body: "ask" });
  return `${answer.status} ${await answer.text()}`;
});

afterEach(() => vi.unstubAllGlobals());

describe("the network of a test chat", () => {
  it("is closed: the call is named, with the line of the bot that made it", async () => {
    await using chat = await createTestChat(byFetch);

    const failed = await chat.user("order").catch((error: Error) => error.message);

    const line =
      readFileSync(import.meta.filename, "utf8")
        .split("\n")
        .findIndex((text) => text.includes('"POST", body')) + 1;
    expect(failed).toMatch(/^Your bot called POST https:\/\/orders\.example\/7 \(.*network\.test\.ts:/);
    expect(failed).toContain(`network.test.ts:${line}:`);
    expect(failed).toMatch(/ in a test\. Stub it: chat\.stub\("https:\/\/orders\.example\/7", \{ … \}\)\.$/);
  });

  it("is closed for a bot that catches what fails as well", async () => {
    await using chat = await createTestChat(
      asking(() => fetch(ADDRESS).then(String, () => "the shop is closed")),
    );

    await expect(chat.user("order")).rejects.toBeInstanceOf(NetworkBlockedError);
  });

  it.each([
    ["node:http", () => http.get("http://orders.example/7"), "GET http://orders.example/7"],
    [
      "node:http by parts",
      () => http.request({ host: "orders.example", path: "/8" }),
      "http://orders.example/8",
    ],
    ["node:net", () => connect(443, "orders.example"), "orders.example:443"],
    ["node:net on this machine", () => connect({ host: "127.0.0.1", port: 9 }), "127.0.0.1:9"],
  ])("is closed by %s", async (_name, call, named) => {
    await using chat = await createTestChat(asking(async () => String(call())));

    await expect(chat.user("order")).rejects.toThrow(
      `Your bot called ${named}`.replace("called http", "called GET http"),
    );
  });

  it("answers from stubs: texts, JSON, responses, errors, functions; the last that fits", async () => {
    await using chat = await createTestChat(byFetch, { allowErrors: true });
    const ask = async () => {
      await chat.user("order");
      return chat.unseen().at(-1)?.text;
    };

    chat.stub(/orders\.example/, "sent");
    expect(await ask()).toBe("200 sent");
    chat.stub("https://orders.example/", { state: "sent" });
    expect(await ask()).toBe('200 {"state":"sent"}');
    chat.stub(ADDRESS, new Response("none", { status: 404 }));
    expect([await ask(), await ask()]).toEqual(["404 none", "404 none"]);
    chat.stub(ADDRESS, async (request) => `${request.method} ${await request.text()}`);
    expect(await ask()).toBe("200 POST ask");
    chat.stub(ADDRESS, new Error("down"));
    const before = chat.replies().length;
    await chat.user("order");
    await chat.settle();
    expect(chat.replies()).toHaveLength(before);
    expect(chat.calls()).toHaveLength(6);
    expect(chat.calls()[0]).toEqual({ method: "POST", url: ADDRESS, body: "ask" });
  });

  it("lets a test put its own fetch in place", async () => {
    const own = vi.fn<typeof fetch>(async () => new Response("mine"));
    vi.stubGlobal("fetch", own);
    await using before = await createTestChat(byFetch);
    await before.user("order");
    await before.expect("200 mine");
    await before.close();
    vi.unstubAllGlobals();

    await using after = await createTestChat(byFetch);
    vi.stubGlobal("fetch", own);
    await after.user("order");
    await after.expect("200 mine");

    expect(own).toHaveBeenCalledTimes(2);
  });

  it("has the files that a bot sends by address", async () => {
    const png = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    );
    const bots = [
      defineBot((b) =>
        b.keyword("card", (ctx) => ctx.image("https://shop.example/menu.png", { caption: "Our menu" })),
      ),
    ];
    await using chat = await createTestChat(bots);
    await expect(chat.user("card")).rejects.toThrow("Your bot called GET https://shop.example/menu.png");
    chat.stub("https://shop.example/", new Response(png, { headers: { "content-type": "image/png" } }));
    await chat.user("card");

    expect(await chat.expect("Our menu")).toMatchObject({ kind: "image", file: { kind: "image" } });
  });

  it("is open again when the last chat is closed, and no sooner", async () => {
    const server = http.createServer((_request, response) => response.end("real")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const ask = () => fetch(address).then((answer) => answer.text());

    const first = await createTestChat(byFetch);
    const second = await createTestChat(byFetch);
    await expect(ask()).rejects.toBeInstanceOf(NetworkBlockedError);
    await first.close();
    await expect(ask()).rejects.toBeInstanceOf(NetworkBlockedError);
    await second.close();

    expect(await ask()).toBe("real");
    server.closeAllConnections();
    server.close();
  });
});
