import { describe, expect, it, onTestFinished } from "vitest";
import { reloadEverywhere } from "../../../src/bot/files/reload.ts";
import { createRegistry } from "../../../src/bot/files/registry.ts";
import type { Routes } from "../../../src/bot/types.ts";
import { createChats } from "../../../src/pipeline/chats.ts";
import { joinPath } from "../../_setup/path.ts";
import { silentLog } from "../store/temporary.ts";
import { createTestBus, hasSqld, nodesOnOneServer, type TestBus } from "./shared-server.ts";

const CHAT = "100@lid";
const WEBHOOK = { url: "https://hooks.example/a", mode: "always" } as const;
let numbers = 0;

describe.skipIf(!hasSqld)("what nodes remember of rows", () => {
  const open = nodesOnOneServer();

  async function nodeOf(name: string, bus: TestBus) {
    const { store, news, config, cluster } = await open(name, bus);
    const log = silentLog(config);
    const says = (text: string) => (b: Routes) => b.keyword("hi", (ctx) => ctx.reply(text));
    const registry = createRegistry(
      ["echo", "menu"].map((id) => ({
        id,
        file: id,
        exported: { enable: "bound" as const, routes: says(id) },
      })),
      log,
    );
    const { bindings, webhooks } = joinPath({ store, news, config, cluster, log, bots: { registry } });
    await Promise.all([bindings.load(), webhooks.load()]);
    const released: number[] = [];
    const waiting = { releaseTimers: () => [], released: (deviceId: number) => void released.push(deviceId) };
    const chats = createChats(store, waiting, news);
    news.start();
    onTestFinished(() => webhooks.stop(0));
    return { store, news, bindings, webhooks, chats, released };
  }

  async function setUp() {
    const bus = createTestBus();
    const [a, b] = [await nodeOf("a", bus), await nodeOf("b", bus)];
    return { a, b, bus, number: ++numbers };
  }

  it("a bot that is bound at one answers at the other", async () => {
    const { a, b, number } = await setUp();
    const enabled = () => b.bindings.list(number).flatMap((bot) => (bot.enabled ? [bot.id] : []));
    expect(enabled()).toEqual([]);

    await a.bindings.put(number, [{ id: "menu", enabled: true }]);

    await expect.poll(enabled).toEqual(["menu"]);
    expect(b.bindings.routes(number).routes.map(({ bot }) => bot)).toEqual(["menu"]);
    await a.bindings.put(number, []);
    await expect.poll(enabled).toEqual([]);
  });

  it("a change of one bot undoes nothing that another node has just said of another bot", async () => {
    const { a, b, bus, number } = await setUp();
    bus.cut();
    await a.bindings.put(number, [{ id: "menu", enabled: true, config: { open: 9 } }]);

    await b.bindings.change(number, [{ id: "echo", enabled: true }]);

    const bound = b.bindings.list(number).map(({ id, enabled, config }) => [id, enabled, config]);
    expect(bound).toEqual([
      ["echo", true, null],
      ["menu", true, { open: 9 }],
    ]);
  });

  it("a webhook that is set, changed, and deleted at one is so at the other, with one secret", async () => {
    const { a, b, bus, number } = await setUp();
    const { secret } = await a.webhooks.put(number, WEBHOOK);
    expect(secret).not.toBeNull();
    await expect.poll(async () => (await b.webhooks.get(number))?.url).toBe(WEBHOOK.url);

    bus.cut();
    await a.webhooks.put(number, { ...WEBHOOK, url: "https://hooks.example/b" });
    const again = await b.webhooks.put(number, { ...WEBHOOK, timeoutMs: 2_000 });
    expect(again.secret).toBeNull();
    await a.news.look();
    expect(await a.webhooks.get(number)).toEqual(await b.webhooks.get(number));

    await a.webhooks.remove(number);
    await b.news.look();
    expect(await b.webhooks.get(number)).toBeNull();
  });

  it("a chat that is taken over at one is silent at the other, which forgets nothing else of it", async () => {
    const { a, b, bus, number } = await setUp();
    const facts = await b.chats.load(number, CHAT);
    facts.repliedAt.push(5);

    const until = await a.chats.takeOver(number, [CHAT], 60_000);
    await expect.poll(() => facts.takeoverUntil).toBe(until);
    expect(b.released).toEqual([number]);

    bus.cut();
    await a.chats.takeOver(number, [CHAT], 0);
    await b.news.look();
    expect(await b.chats.load(number, CHAT)).toMatchObject({ takeoverUntil: 0, repliedAt: [5] });
  });

  it("bots that are loaded again at one are loaded again at the other, once", async () => {
    const { a, b } = await setUp();
    const loaded: string[] = [];
    const reloading = (name: string, { store, news }: typeof a) =>
      reloadEverywhere({ store, news }, async () => loaded.push(name));
    const [reload] = [reloading("a", a), reloading("b", b)];

    await reload();

    await expect.poll(() => loaded).toEqual(["a", "b"]);
    await a.news.look();
    await b.news.look();
    expect(loaded).toEqual(["a", "b"]);
  });

  it("bots that one cannot load are loaded again nowhere", async () => {
    const { a, b } = await setUp();
    const loaded: string[] = [];
    const reload = reloadEverywhere(a, () => Promise.reject(new Error("There is no such folder.")));
    reloadEverywhere(b, async () => loaded.push("b"));

    await expect(reload()).rejects.toThrow("no such folder");
    await b.news.look();
    expect(loaded).toEqual([]);
  });
});
