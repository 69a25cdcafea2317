import { deflateSync } from "node:zlib";
import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import { describe, expect, it } from "vitest";
import type { HistoryChat, HistoryOptions } from "../../src/simulator/types.ts";
import { command } from "../_setup/command.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { scanning } from "../_setup/scanning.ts";
import { openWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";
const PICTURE = Buffer.from("ffd8ffe000104a46494600010100000100010000ffd9", "hex");
const ON = { IMPORT_HISTORY: "on", RETENTION_DAYS: "60" };
const DAY = 86_400;
const ago = (seconds: number): number => Math.floor(Date.now() / 1000) - seconds;

const chat = (...messages: HistoryChat["messages"]): HistoryChat => ({ with: ANA, messages });

async function open(history: HistoryOptions, env: Record<string, string> = ON): Promise<World> {
  const world = await openWorld({ again: true, env });
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben" });
  await world.link(SHOP, { history });
  return world;
}

type Listed = Record<string, any>;

async function listOf({ gateway, key }: World, path = "/messages"): Promise<Listed[]> {
  const { status, body } = await gateway.get(`${path}?sender=${SHOP}&limit=100`, { key });
  expect(status).toBe(200);
  return body.data;
}

const imported = async (world: World): Promise<string[]> =>
  (await listOf(world)).filter((one) => one["imported"]).map(({ id }) => id);

const untilImported = (world: World, ...ids: string[]): Promise<void> =>
  until(async () => (await imported(world)).toSorted().join() === ids.toSorted().join(), 20_000);

/** Somebody writes and is answered by a bot: whatever came before has been handled. */
async function exchange({ sim }: World): Promise<void> {
  const before = (await sim.messages(ANA, { from: SHOP })).length;
  await sim.sendText(ANA, SHOP, "ping");
  await until(async () => (await sim.messages(ANA, { from: SHOP })).length > before);
}

const settled = ({ sim }: World): Promise<void> => until(async () => (await sim.pending(SHOP)) === 0);

describe("with IMPORT_HISTORY=on", () => {
  it("linking shows what was written before, which is answered by nobody and told to nobody", async () => {
    const world = await open({
      pairs: "known",
      chats: [
        chat(
          { id: "H1", text: "ping", timestamp: ago(3 * DAY) },
          { id: "H2", text: "we have tea", fromMe: true, timestamp: ago(3 * DAY - 60) },
        ),
      ],
      recent: [
        { with: BEN, messages: [{ id: "H3", text: "the sign", image: PICTURE, timestamp: ago(2 * DAY) }] },
      ],
    });
    const { gateway, sim, key } = world;
    const hook = await startReceiver();
    await gateway.put(`/devices/${SHOP}/webhook`, { url: hook.url, mode: "always" }, { key });
    await world.bindBots(SHOP, "ping");
    await untilImported(world, "H1", "H2", "H3");

    expect(await listOf(world)).toMatchObject([
      { id: "H3", chat: BEN, from: BEN, direction: "in", type: "image", message: "the sign", name: "Ben" },
      {
        id: "H2",
        chat: ANA,
        from: SHOP,
        direction: "out",
        message: "we have tea",
        by: "phone",
        imported: true,
      },
      { id: "H1", chat: ANA, from: ANA, direction: "in", message: "ping", name: "Ana", imported: true },
    ]);
    expect(await listOf(world, "/chats")).toMatchObject([
      { chat: BEN, name: "Ben", unread: 0, unanswered: false, last: { id: "H3" } },
      { chat: ANA, name: "Ana", unread: 0, unanswered: false, last: { id: "H2" } },
    ]);
    const one = await gateway.get("/messages/H1", { key });
    expect(one.body.data).toMatchObject({ imported: true, origin: "contact", state: null, history: [] });
    const trace = await gateway.get("/messages/H1/trace", { key });
    expect(trace.body.data).toMatchObject({ outcome: "silent", silence: { reason: "imported" } });
    const [{ media }] = (await listOf(world)) as [Listed];
    const file = await fetch(media.url);
    expect(Buffer.from(await file.arrayBuffer()).equals(PICTURE)).toBe(true);

    await exchange(world);
    expect((await gateway.get(`/devices/${SHOP}/decisions`, { key })).body.data).toHaveLength(1);
    await until(() => hook.events.length === 1);
    expect(hook.events[0]!.body).toMatchObject({ message: "ping", from: ANA });
    await gateway.post(`/chats/${ANA}/read`, { sender: SHOP }, { key });
    await settled(world);
    const written = await sim.transcript({ number: SHOP, direction: "to_contact" });
    expect(new Set(written.map(({ to }) => to))).toEqual(new Set([ANA]));
    expect((await sim.messages(ANA, { from: SHOP })).map(({ text }) => text)).toEqual(["pong"]);
    expect(await sim.messages(BEN)).toEqual([]);
    const receipts = await sim.stanzas({ number: SHOP, device: 1, tag: "receipt", direction: "in" });
    const read = receipts.filter(({ attrs }) => attrs["type"] === "read").map(({ attrs }) => attrs["id"]);
    expect(read.filter((id) => id?.startsWith("H"))).toEqual([]);
    expect((await gateway.get(`/devices/${SHOP}/audit`, { key })).body.data).toMatchObject({
      lost: 0,
      received: 1,
    });
  });

  it("groups, files of history, edits, and what is too old or has disappeared", async () => {
    const world = await open({});
    const { sim } = world;
    const { id: group } = await sim.addGroup({ subject: "Regulars", members: [SHOP, ANA, BEN] });
    const chats: HistoryChat[] = [
      chat(
        { id: "TOO OLD", text: "a year ago", timestamp: ago(365 * DAY) },
        { id: "BEYOND RETENTION", text: "two months", timestamp: ago(61 * DAY) },
        { id: "WITHIN", text: "not yet two months", timestamp: ago(59 * DAY) },
        { id: "GONE", text: "for an hour", expiration: 3_600, timestamp: ago(2 * DAY) },
        { id: "STILL", text: "for a week", expiration: 7 * DAY, timestamp: ago(DAY) },
        { id: "EDITED", text: "tea, please", edited: true },
      ),
      {
        with: group,
        messages: [
          { id: "G1", text: "who comes?", from: ANA },
          { id: "G2", text: "all of us", fromMe: true },
        ],
      },
    ];
    await sim.sendHistory(SHOP, { type: "recent", chats, pieces: 2, inline: false });
    await untilImported(world, "WITHIN", "STILL", "EDITED", "G1", "G2");
    const all = new Map((await listOf(world)).map((one) => [one["id"], one]));
    expect(all.get("EDITED")).toMatchObject({ type: "text", message: "tea, please" });
    expect(all.get("STILL")).toHaveProperty("expires_at");
    expect(all.get("G1")).toMatchObject({ chat: group, from: ANA, name: "Ana", direction: "in" });
    expect(all.get("G2")).toMatchObject({ chat: group, from: SHOP, direction: "out" });

    // A file that is not there any more is left, and keeps nothing else from being imported.
    await sim.faults.mediaStatus({ direction: "download", status: 410, times: 10 });
    await sim.sendHistory(SHOP, { type: "recent", chats: [chat({ id: "LOST", text: "x" })], inline: false });
    const loads = { direction: "download", type: "md-msg-hist" } as const;
    await until(async () => (await sim.mediaRequests(loads)).some(({ status }) => status === 410));
    await sim.faults.clear();
    await sim.sendHistory(SHOP, { type: "full", chats: [chat({ id: "FULL", text: "y" })] });
    await untilImported(world, "WITHIN", "STILL", "EDITED", "G1", "G2", "FULL");
  });

  it("what has arrived or was sent is not doubled, and what arrives after all is answered", async () => {
    const world = await open({ chats: [chat({ id: "EARLY", text: "ping", timestamp: ago(1) })] });
    const { sim, gateway, key } = world;
    await world.bindBots(SHOP, "ping");
    await untilImported(world, "EARLY");
    await exchange(world);
    const sent = await gateway.post(
      "/send-message",
      { sender: SHOP, number: ANA, message: "an offer" },
      { key },
    );
    const before = await listOf(world);
    const [{ id: live }] = before.filter(({ message, id }) => message === "ping" && id !== "EARLY") as [
      Listed,
    ];
    const told: HistoryChat["messages"] = [
      { id: live, text: "told again", timestamp: ago(60) },
      { id: sent.body.id, text: "an offer", fromMe: true, timestamp: ago(60) },
      { id: "NEW", text: "told late", timestamp: ago(60) },
    ];
    await sim.sendHistory(SHOP, { type: "recent", chats: [chat(...told)], pieces: 1 });
    await untilImported(world, "EARLY", "NEW");
    const after = await listOf(world);
    expect(after).toHaveLength(before.length + 1);
    expect(after.find(({ id }) => id === live)).toMatchObject({ message: "ping" });

    // What was written since the linking is no history, whoever tells of it: it was missed, and is answered.
    const since = ago(0) + 2;
    await until(() => ago(0) > since);
    const late = { id: "SINCE", text: "hello since then", timestamp: since };
    await sim.sendHistory(SHOP, { type: "recent", chats: [chat(late)] });
    await until(async () => (await listOf(world)).some(({ id }) => id === "SINCE"));
    expect((await imported(world)).toSorted()).toEqual(["EARLY", "NEW"]);
    after.push(late);

    await sim.sendText(ANA, SHOP, "ping", { id: "EARLY" });
    await until(async () => (await sim.messages(ANA)).filter(({ text }) => text === "pong").length === 2);
    expect(await imported(world)).toEqual(["NEW"]);
    expect(await listOf(world)).toHaveLength(after.length + 1);
  });

  it("linking once more brings what was missed meanwhile, and what was there stays as it was", async () => {
    const history = { chats: [chat({ id: "H1", text: "long ago" }, { id: "H2", text: "and then" })] };
    const world = await open(history);
    const { sim, gateway, key } = world;
    await untilImported(world, "H1", "H2");
    await world.bindBots(SHOP, "ping");
    await exchange(world);
    const isDelivered = (all: Listed[]) => all.every(({ state = "delivered" }) => state === "delivered");
    await until(async () => isDelivered(await listOf(world)));
    const before = await listOf(world);
    for (const { device } of await sim.companions(SHOP)) await sim.logoutCompanion(SHOP, device);
    await until(
      async () => (await gateway.get(`/devices/${SHOP}`, { key })).body.data.state === "logged_out",
    );
    const missed = { id: "MISSED", text: "are you there?", timestamp: ago(1) };
    const isLinked = scanning(await sim.number(SHOP));
    await until(async () => isLinked((await gateway.post("/generate-qr", { device: SHOP }, { key })).body));
    await world.online(SHOP);
    const live = before.flatMap(({ id, imported: was }) => (was ? [] : [{ id, text: "told again" }]));
    await sim.sendHistory(SHOP, { type: "recent", chats: [chat(...live, missed)] });
    await untilImported(world, "H1", "H2", "MISSED");
    expect((await listOf(world)).filter(({ id }) => id !== "MISSED")).toEqual(before);
    expect(await sim.messages(ANA, { from: SHOP })).toHaveLength(1);
  });

  it("is the own phone's alone to tell", async () => {
    const world = await open({});
    const { sim } = world;
    await world.bindBots(SHOP, "ping");
    const info = { key: { id: "FORGED", remoteJid: `${BEN}@s.whatsapp.net` }, messageTimestamp: ago(DAY) };
    const message = { ...info, message: { conversation: "I never said this" } };
    const conversations = [{ id: `${BEN}@s.whatsapp.net`, messages: [{ message }] }];
    const piece = proto.HistorySync.encode({ syncType: 3, conversations }).finish();
    const historySyncNotification = { syncType: 3, initialHistBootstrapInlinePayload: deflateSync(piece) };
    const forged = { protocolMessage: { type: 5, historySyncNotification } };
    await sim.send(ANA, SHOP, { kind: "raw", bytes: proto.Message.encode(forged).finish() });
    await exchange(world);
    await sim.sendHistory(SHOP, { type: "recent", chats: [chat({ id: "TOLD", text: "by the phone" })] });
    await untilImported(world, "TOLD");
    expect((await listOf(world)).map(({ id }) => id)).not.toContain("FORGED");
  });

  it("goes with its contact and its number, and is nobody else's", async () => {
    const world = await open({
      chats: [chat({ id: "H1", text: "long ago" }), { with: BEN, messages: [{ id: "H2", text: "by Ben" }] }],
    });
    const { gateway, key } = world;
    await untilImported(world, "H1", "H2");
    const other = await gateway.createAccount("Other");
    for (const path of ["/messages/H1", "/messages/H1/trace"])
      expect((await gateway.get(path, { key: other.key })).status).toBe(404);
    expect((await gateway.get("/messages", { key: other.key })).body.data).toEqual([]);
    const only = { name: "Ben's", permissions: ["messages"], recipients: [BEN] };
    const bens = await gateway.post("/api-keys", only, { key });
    const seen = await gateway.get("/messages", { key: bens.body.api_key });
    expect((await gateway.get("/messages/H1", { key: bens.body.api_key })).status).toBe(404);
    expect(seen.body.data.map((one: Listed) => one["id"])).toEqual(["H2"]);

    await command(
      { env: gateway.operatorEnv },
      "contacts",
      "erase",
      SHOP,
      ANA,
      "--yes",
      "--account",
      world.account,
    );
    expect(await imported(world)).toEqual(["H2"]);
    expect((await gateway.delete(`/devices/${SHOP}`, { key })).status).toBe(200);
    expect((await gateway.get("/messages/H2", { key })).status).toBe(404);
  });
});

it("without IMPORT_HISTORY nothing of it is kept", async () => {
  const world = await open({ chats: [chat({ text: "long ago" })], recent: [chat({ text: "and then" })] }, {});
  await world.bindBots(SHOP, "ping");
  await exchange(world);
  await settled(world);
  expect((await listOf(world)).map(({ message }) => message).toSorted()).toEqual(["ping", "pong"]);
  expect(await imported(world)).toEqual([]);
});
