import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startReceiver, type Receiver } from "../_setup/receiver.ts";
import { closeWorld, keepWorld, until, type World } from "../_setup/world.ts";

/** What a desk asks for beside the lists: what is unread, who wrote, what became of one message, and the hours. */

const SHOP = "31600000001";
const OTHER = "31600000002";
const ANA = "4915112345678";
const BEN = "4915112345679";

let world: World;
let receiver: Receiver;
beforeAll(async () => {
  world = await keepWorld();
  await world.link(SHOP);
  await world.bindBots(SHOP, "ping");
  for (const number of [ANA, BEN]) await world.sim.addContact(number);
});
afterAll(() => closeWorld(world));
beforeEach(async () => {
  receiver = await startReceiver("OK");
  await world.gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, world);
});

const chat = async (number: string) =>
  (await world.gateway.get(`/chats?sender=${SHOP}&chat=${number}`, world)).body["data"][0];
const unread = async (number: string): Promise<number> => (await chat(number))?.unread ?? 0;
const messages = async (query: string) =>
  (await world.gateway.get(`/messages?sender=${SHOP}&${query}`, world)).body["data"];

describe("GET /chats", () => {
  it("counts what came since somebody read the chat, on the phone or through the gateway", async () => {
    const ids: string[] = [];
    for (const text of ["one", "two", "three"]) ids.push((await world.sim.sendText(ANA, SHOP, text)).id);
    await world.sim.sendText(BEN, SHOP, "hello");
    await until(async () => (await unread(ANA)) === 3 && (await unread(BEN)) === 1);

    await world.sim.markRead(SHOP, ids.slice(0, 2));
    await until(async () => (await unread(ANA)) === 1);
    const read = (number: string, key = world.key) =>
      world.gateway.post(`/chats/${number}/read`, { sender: SHOP }, { key });
    const answer = await read(ANA);
    expect(answer).toMatchObject({ status: 200, body: { data: { sender: SHOP, chat: ANA } } });
    expect([await unread(ANA), await unread(BEN)]).toEqual([0, 1]);
    // What is read already on the phone, and heard of late, stays read.
    await world.sim.markRead(SHOP, ids[2]!);
    await world.sim.react(ANA, ids[0]!, "👍");
    await world.sim.sendText(ANA, SHOP, "four");
    await until(async () => (await chat(ANA)).last.message === "four");
    expect(await unread(ANA)).toBe(1);

    expect((await read("4915100000000")).status).toBe(200);
    expect((await read("nobody")).status).toBe(404);
    const only = { name: "Ben's", permissions: ["messages"], recipients: [BEN] };
    const { body } = await world.gateway.post("/api-keys", only, world);
    expect((await read(ANA, body["api_key"])).status).toBe(404);
    expect((await read(BEN, body["api_key"])).status).toBe(200);
  });
});

describe("GET /messages", () => {
  it("names who wrote what went out, and ends where it is told to", async () => {
    const session = await world.gateway.post("/console/session", { key: world.key });
    const headers = {
      cookie: session.headers.get("set-cookie")!.split(";")[0]!,
      "x-csrf-token": session.body["data"].csrf as string,
    };
    const send = { sender: SHOP, number: BEN };
    const { body: made } = await world.gateway.post("/api-keys", { name: "Shop", permissions: ["*"] }, world);
    await world.gateway.post("/send-message", { ...send, message: "by the desk" }, { headers });
    const byKey = { key: made["api_key"] as string };
    await world.gateway.post("/send-message", { ...send, message: "by a program" }, byKey);
    await world.sim.typeAsOwner(SHOP, BEN, "by hand");
    await until(async () => (await messages(`chat=${BEN}&q=hand`)).length === 1);
    const takenOver = async () => (await world.gateway.get(`/chats?chat=${BEN}`, world)).body["data"][0];
    await until(async () => (await takenOver()).taken_over_until !== null);
    await world.gateway.delete(`/chats/${BEN}/takeover?sender=${SHOP}`, world);
    await world.sim.sendText(BEN, SHOP, "ping");
    await until(async () => (await messages(`chat=${BEN}&q=pong`)).length === 1);
    receiver.answer = { message: "by the webhook" };
    await world.sim.sendText(BEN, SHOP, "something else");
    await until(async () => (await messages(`chat=${BEN}&q=webhook`)).length === 1);
    receiver.answer = "OK";

    const written = await messages(`chat=${BEN}&direction=out`);
    expect(written.map(({ message, by }: any) => [message, by])).toEqual([
      ["by the webhook", "webhook"],
      ["pong", "bot:ping"],
      ["by hand", "phone"],
      ["by a program", "api:Shop"],
      ["by the desk", "console"],
    ]);
    for (const came of await messages(`chat=${BEN}&direction=in`)) expect(came).not.toHaveProperty("by");

    const [, , typed] = written;
    const upTo = await messages(`chat=${BEN}&direction=out&until=${typed.at}`);
    expect(upTo.map(({ message }: any) => message)).toEqual(["by hand", "by a program", "by the desk"]);
    const [one] = await messages(`chat=${BEN}&direction=out&until=${typed.at}&limit=1`);
    expect(one.id).toBe(typed.id);
    expect((await world.gateway.get("/messages?until=today", world)).status).toBe(400);
  });
});

describe("GET /deliveries", () => {
  it("has those of one message alone", async () => {
    const wanted = await world.sim.sendText(ANA, SHOP, "which is it?");
    await world.sim.sendText(ANA, SHOP, "and this?");
    await until(() => receiver.events.length === 2);
    const of = async (query: string) => (await world.gateway.get(`/deliveries?${query}`, world)).body;
    const found = await of(`message_id=${wanted.id}`);
    expect(found).toMatchObject({ total: 1, next: null, data: [{ message_id: wanted.id, device: SHOP }] });
    await until(async () => (await of(`message_id=${wanted.id}&state=delivered`)).total === 1);
    expect((await of(`message_id=${wanted.id}&state=dead`)).total).toBe(0);
    expect((await of("message_id=UNKNOWN")).data).toEqual([]);
  });
});

describe("GET /stats", () => {
  it("says who took what came, in the hour in which it came", async () => {
    const stats = async () => (await world.gateway.get(`/stats?sender=${SHOP}&hours=2`, world)).body;
    const before = (await stats()).sum;
    // The webhook answers one of them; that it got the other is no answer.
    receiver.answer = ({ body }) => (body["text"] === "who is there?" ? { message: "The shop." } : "OK");
    for (const text of ["ping", "who is there?", "and now?"]) await world.sim.sendText(ANA, SHOP, text);
    await until(async () => (await stats()).sum.out === before.out + 2);
    await until(async () => (await stats()).sum.posts === before.posts + 2);
    await until(async () => (await stats()).sum.answered_by.nobody > before.answered_by.nobody);
    const { data, sum } = await stats();
    expect(data).toHaveLength(2);
    expect(sum.in).toBe(before.in + 3);
    expect(sum.answered_by).toEqual({
      bot: before.answered_by.bot + 1,
      webhook: before.answered_by.webhook + 1,
      nobody: before.answered_by.nobody + 1,
    });
    expect(sum.p95_ms).toBeGreaterThanOrEqual(sum.p50_ms);
  });
});

describe("GET /bots", () => {
  it("has each bot's schema, or null, and its warnings", async () => {
    const { data } = (await world.gateway.get("/bots", world)).body;
    const of = (id: string) => data.find((bot: any) => bot.id === id);
    expect(of("ping")).toMatchObject({ schema: null, warnings: [] });
    expect(of("assistant").schema).toMatchObject({
      type: "object",
      properties: { model: expect.any(Object) },
    });
  });
});

describe("a magic link", () => {
  it("opens nothing once its number was linked; who has linked it goes on, and a new one serves", async () => {
    const make = async () => {
      const { body } = await world.gateway.post(`/devices/${OTHER}/magic-link`, { minutes: 60 }, world);
      return body["url"].split("#")[1] as string;
    };
    const open = (link: string) => world.gateway.post("/console/session", { link });
    await world.gateway.post("/devices", { device: OTHER }, world);
    const link = await make();
    const opened = await open(link);
    expect(opened.status).toBe(200);
    const session = {
      headers: {
        cookie: opened.headers.get("set-cookie")!.split(";")[0]!,
        "x-csrf-token": opened.body["data"].csrf as string,
      },
    };

    await world.link(OTHER);

    expect(await open(link)).toMatchObject({ status: 401, body: { errors: { code: "LINK_EXPIRED" } } });
    expect((await world.gateway.get("/links", world)).body["data"]).toEqual([]);
    expect((await world.gateway.get(`/devices/${OTHER}`, session)).body["data"].state).toBe("connected");
    const webhook = { url: receiver.url };
    expect((await world.gateway.put(`/devices/${OTHER}/webhook`, webhook, session)).status).toBe(200);
    expect((await open(await make())).status).toBe(200);
  });
});
