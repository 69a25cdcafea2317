import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Call } from "./renamed.ts";
import { openScriptedShop, scriptOf, type ScriptedShop } from "./scripts.ts";
import { closeShop, SHOP, SHOP_SITE } from "./shop.ts";

/** Scripts as the documentation of other gateways writes them run after renaming what docs/migrating.md says, and nothing else. */

let shop: ScriptedShop;
beforeAll(async () => {
  shop = await openScriptedShop();
});
afterAll(() => closeShop(shop));

describe("a script for WAHA", () => {
  const waha = scriptOf("WAHA", () => shop);
  const session = { session: SHOP };

  it("sends", async () => {
    const customer = await shop.newCustomer();
    const chatId = `${customer}@c.us`;
    const quoted = await shop.received(customer);
    const to = { ...session, chatId };
    const file = (name: string) => ({
      file: { mimetype: "image/png", url: `${SHOP_SITE}/${name}`, filename: name },
    });
    const text = await waha.run(
      "POST /api/sendText",
      {},
      { ...to, text: "Hi there!", reply_to: `false_${chatId}_${quoted}` },
    );
    expect(await shop.sim.waitForMessage(customer, { id: text.id })).toMatchObject({
      text: "Hi there!",
      quoted: { id: quoted },
    });
    const image = await waha.run("POST /api/sendImage", {}, { ...to, ...file("menu.png"), caption: "Look" });
    const kinds = [
      image,
      await waha.run("POST /api/sendVideo", {}, { ...to, ...file("tour.mp4"), caption: "Watch" }),
      await waha.run("POST /api/sendVoice", {}, { ...to, ...file("hello.ogg"), convert: false }),
      await waha.run("POST /api/sendFile", {}, { ...to, ...file("menu.pdf"), caption: "Read" }),
      await waha.run("POST /api/sendSticker", {}, { ...to, ...file("menu.png") }),
      await waha.run(
        "POST /api/sendPoll",
        {},
        {
          ...to,
          poll: { name: "How are you?", options: ["Good", "Not bad"], multipleAnswers: false },
        },
      ),
      await waha.run(
        "POST /api/sendLocation",
        {},
        { ...to, latitude: 38.89, longitude: -77.09, title: "Office" },
      ),
      await waha.run(
        "POST /api/sendContactVcard",
        {},
        {
          ...to,
          contacts: [
            {
              fullName: "John Doe",
              organization: "Company",
              phoneNumber: "+91 11111 11111",
              whatsappId: "911111111111",
            },
          ],
        },
      ),
      await waha.run("POST /api/forwardMessage", {}, { ...to, messageId: `true_${chatId}_${text.id}` }),
    ];
    const arrived = await Promise.all(kinds.map(({ id }) => shop.sim.waitForMessage(customer, { id })));
    expect(arrived).toMatchObject([
      { kind: "image", text: "Look" },
      { kind: "video", text: "Watch" },
      { kind: "voice" },
      { kind: "document", text: "Read" },
      { kind: "sticker" },
      { kind: "poll", text: "How are you?" },
      { kind: "location", location: { name: "Office" } },
      { kind: "contacts" },
      { text: "Hi there!", forwarded: 1 },
    ]);
    expect(await shop.sim.mediaOf(customer, kinds[3]!.id)).toMatchObject({ fileName: "menu.pdf" });
  });

  it("changes what it sent, reacts, reads and types", async () => {
    const customer = await shop.newCustomer();
    const chatId = `${customer}@c.us`;
    const came = await shop.received(customer);
    await waha.run(
      "PUT /api/reaction",
      {},
      { ...session, messageId: `false_${chatId}_${came}`, reaction: "👍" },
    );
    await waha.run("POST /api/sendSeen", {}, { ...session, chatId });
    await waha.run("POST /api/startTyping", {}, { ...session, chatId });
    await waha.run("POST /api/stopTyping", {}, { ...session, chatId });
    const { id } = await waha.run("POST /api/sendText", {}, { ...session, chatId, text: "Helo" });
    const message = { ...session, chatId, messageId: `true_${chatId}_${id}` };
    const path = "/api/{session}/chats/{chatId}/messages/{messageId}";
    await waha.run(`PUT ${path}`, message, { text: "Hello", linkPreview: true });
    await waha.run(`DELETE ${path}`, message);
    await waha.run("GET /api/{session}/chats", { ...session, limit: "10" });
    const { data } = await waha.run("GET /api/{session}/chats/{chatId}/messages", {
      ...session,
      chatId,
      limit: "10",
    });
    expect(data.map((row: { id: string }) => row.id)).toContain(came);
  });

  it("looks after people, groups and the session", async () => {
    const customer = await shop.newCustomer();
    await shop.received(customer);
    const other = await shop.newCustomer();
    const { data } = await waha.run("GET /api/contacts/check-exists", { ...session, phone: customer });
    expect(data).toMatchObject([{ number: customer, exists: true }]);
    await waha.run("GET /api/{session}/lids/{lid}", { ...session, lid: data[0].lid });
    const made = await waha.run("POST /api/{session}/groups", session, {
      name: "Group name",
      participants: [{ id: `${customer}@c.us` }],
    });
    const group = { ...session, groupId: made.data.id };
    const path = "/api/{session}/groups/{groupId}";
    await waha.run("GET /api/{session}/groups", session);
    await waha.run(`PUT ${path}/subject`, group, { subject: "Regulars" });
    const added = await waha.run(`POST ${path}/participants/add`, group, {
      participants: [{ id: `${other}@c.us` }],
    });
    expect(added.results).toEqual([{ number: other, status: true }]);
    await waha.run(`GET ${path}/invite-code`, group);
    expect((await waha.run(`GET ${path}`, group)).data).toMatchObject({ name: "Regulars" });
    await waha.run("PUT /api/{session}/profile/name", session, { name: "The shop" });
    expect((await waha.run("GET /api/sessions/{session}", session)).data).toMatchObject({
      state: "connected",
    });
    expect(await waha.run("GET /api/{session}/auth/qr", session)).toMatchObject({ state: "connected" });
  });

  it("needs every row of the page", () => {
    expect([...waha.used].toSorted()).toEqual([...waha.rows.keys()].toSorted());
    expect(waha.rows.size).toBeGreaterThanOrEqual(20);
  });
});

describe("a script for Evolution API", () => {
  const evolution = scriptOf("Evolution API", () => shop);
  const instance = { instance: SHOP };
  const run = (call: string, body: Call["body"] = {}, query: Record<string, string> = {}) =>
    evolution.run(`${call}/{instance}`, { ...instance, ...query }, body);

  it("sends", async () => {
    const number = await shop.newCustomer();
    const came = await shop.received(number);
    const quoted = { key: { id: came }, message: { conversation: "Hello" } };
    const mentions = { mentionsEveryOne: false, mentioned: [number] };
    const text = await run("POST /message/sendText", {
      number,
      text: "Hi",
      linkPreview: true,
      quoted,
      ...mentions,
    });
    expect(await shop.sim.waitForMessage(number, { id: text.id })).toMatchObject({
      text: "Hi",
      quoted: { id: came },
    });
    const media = { mimetype: "image/png", media: `${SHOP_SITE}/menu.png`, fileName: "menu.png" };
    const sent = [
      await run("POST /message/sendMedia", { number, mediatype: "image", ...media, caption: "Look" }),
      await run("POST /message/sendWhatsAppAudio", { number, audio: `${SHOP_SITE}/hello.ogg` }),
      await run("POST /message/sendSticker", { number, sticker: `${SHOP_SITE}/menu.png` }),
      await run("POST /message/sendLocation", {
        number,
        name: "Dam",
        address: "Amsterdam",
        latitude: 52.37,
        longitude: 4.89,
      }),
      await run("POST /message/sendContact", {
        number,
        contact: [
          {
            fullName: "Ann",
            wuid: "559999999999",
            phoneNumber: "+55 99 9999-9999",
            organization: "Shop",
            email: "a@b.example",
          },
        ],
      }),
      await run("POST /message/sendPoll", {
        number,
        name: "Lunch?",
        selectableCount: 1,
        values: ["Soup", "Salad"],
      }),
    ];
    const arrived = await Promise.all(sent.map(({ id }) => shop.sim.waitForMessage(number, { id })));
    expect(arrived).toMatchObject([
      { kind: "image", text: "Look" },
      { kind: "voice" },
      { kind: "sticker" },
      { kind: "location", location: { name: "Dam" } },
      { kind: "contacts" },
      { kind: "poll", text: "Lunch?" },
    ]);
  });

  it("changes what it sent, reacts, reads and types", async () => {
    const number = await shop.newCustomer();
    const remoteJid = `${number}@s.whatsapp.net`;
    const key = { remoteJid, fromMe: false, id: await shop.received(number) };
    await run("POST /message/sendReaction", { key, reaction: "🚀" });
    await run("POST /chat/markMessageAsRead", { readMessages: [key] });
    await run("POST /chat/sendPresence", { number, options: { delay: 1200, presence: "composing", number } });
    const { id } = await run("POST /message/sendText", { number, text: "Helo" });
    const own = { remoteJid, fromMe: true, id };
    await run("POST /chat/updateMessage", { number, text: "Hello", key: own });
    await run("DELETE /chat/deleteMessageForEveryone", { id, remoteJid, fromMe: true });
    const { data } = await run("POST /chat/findMessages", { where: { key: { remoteJid } } });
    expect(data.map((row: { id: string }) => row.id)).toContain(key.id);
  });

  it("looks after people, groups and the instance", async () => {
    const number = await shop.newCustomer();
    const other = await shop.newCustomer();
    expect((await run("POST /chat/whatsappNumbers", { numbers: [number] })).data).toMatchObject([
      { exists: true },
    ]);
    const made = await run("POST /group/create", {
      subject: "Team",
      description: "Ours",
      participants: [number],
    });
    const groupJid = { groupJid: made.data.id };
    await run("GET /group/fetchAllGroups", {}, { getParticipants: "false" });
    await run("POST /group/updateGroupSubject", { subject: "Regulars" }, groupJid);
    const changed = await run(
      "POST /group/updateParticipant",
      { action: "add", participants: [other] },
      groupJid,
    );
    expect(changed.results).toEqual([{ number: other, status: true }]);
    await run("GET /group/inviteCode", {}, groupJid);
    expect((await run("GET /group/findGroupInfos", {}, groupJid)).data).toMatchObject({ name: "Regulars" });
    await run("DELETE /group/leaveGroup", {}, groupJid);
    const { id } = await shop.sim.addGroup({ subject: "Open", creator: number, members: [number] });
    const inviteCode = (await shop.sim.group(id)).inviteLink.split("/").at(-1)!;
    expect(await run("GET /group/acceptInviteCode", {}, { inviteCode })).toMatchObject({
      id,
      state: "joined",
    });

    await run("POST /chat/updateProfileName", { name: "The shop" });
    await run("POST /webhook/set", { url: "https://shop.example/hook", enabled: true, events: ["message"] });
    expect((await run("GET /instance/connectionState")).data).toMatchObject({ state: "connected" });
    expect(await run("GET /instance/connect")).toMatchObject({ state: "connected" });
    await run("DELETE /instance/logout");
  });

  it("needs every row of the page", () => {
    expect([...evolution.used].toSorted()).toEqual([...evolution.rows.keys()].toSorted());
    expect(evolution.rows.size).toBeGreaterThanOrEqual(20);
  });
});
