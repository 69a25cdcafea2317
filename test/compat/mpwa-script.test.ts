import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openScriptedShop, scriptOf, type ScriptedShop } from "./scripts.ts";
import { closeShop, SHOP, SHOP_SITE } from "./shop.ts";

let shop: ScriptedShop;
beforeAll(async () => {
  shop = await openScriptedShop();
});
afterAll(() => closeShop(shop));

describe("a script for MPWA", () => {
  const mpwa = scriptOf("an MPWA-style gateway", () => shop);
  const methods = ["POST", "GET"] as const;

  /** What arrived at a phone for each call, in the order of the calls. */
  const arrived = (number: string, answers: Record<string, any>[]) =>
    Promise.all(answers.map(({ id }) => shop.sim.waitForMessage(number, { id })));

  it("sends what is the same here, as it is", async () => {
    const number = await shop.newCustomer();
    const msgid = await shop.received(number);
    const to = { sender: SHOP, number };
    const quotes = { quoted: { id: msgid } };
    for (const method of methods) {
      const files = { ...to, footer: "Sent by the shop", full: 1 };
      const answers = [
        await mpwa.runAsWritten(`${method} /send-message`, {
          ...files,
          message: `Hello by ${method} & more`,
          msgid,
        }),
        await mpwa.runAsWritten(`${method} /send-media`, {
          ...files,
          media_type: "image",
          caption: "Look",
          url: `${SHOP_SITE}/menu.png`,
          msgid,
        }),
        await mpwa.runAsWritten(`${method} /send-media`, {
          ...files,
          media_type: "document",
          url: `${SHOP_SITE}/menu.pdf`,
        }),
        await mpwa.runAsWritten(`${method} /send-poll`, {
          ...to,
          name: "Which colour?",
          option: method === "GET" ? "red,blue,yellow" : ["red", "blue", "yellow"],
          countable: "1",
        }),
      ];
      const [text, image, file, poll] = await arrived(number, answers);
      expect(text).toMatchObject({ text: `Hello by ${method} & more`, ...quotes });
      expect(image).toMatchObject({ kind: "image", text: "Look", ...quotes });
      expect(file).toMatchObject({ kind: "document", media: { fileName: "menu.pdf" } });
      expect(poll!.poll).toMatchObject({
        name: "Which colour?",
        options: ["red", "blue", "yellow"],
        selectable: 1,
      });
    }
  });

  it("sends to several at once, in one call", async () => {
    const numbers = [await shop.newCustomer(), await shop.newCustomer()];
    const { results } = await mpwa.runAsWritten("POST /send-message", {
      sender: SHOP,
      number: numbers.join("|"),
      message: "To both",
    });
    for (const [index, number] of numbers.entries())
      expect(await shop.sim.waitForMessage(number, { id: results[index].id })).toMatchObject({
        text: "To both",
      });
  });

  it("sends stickers, places and people by either method", async () => {
    const number = await shop.newCustomer();
    const to = { sender: SHOP, number, full: 1 };
    for (const method of methods) {
      const answers = [
        await mpwa.runAsWritten(`${method} /send-sticker`, { ...to, url: `${SHOP_SITE}/menu.png` }),
        await mpwa.runAsWritten(`${method} /send-location`, {
          ...to,
          latitude: "24.121231",
          longitude: "55.1121221",
        }),
        await mpwa.runAsWritten(`${method} /send-vcard`, { ...to, name: "Cara", phone: "6281222000000" }),
      ];
      const [sticker, place, card] = await arrived(number, answers);
      expect(sticker).toMatchObject({ kind: "sticker" });
      expect(place!.location).toMatchObject({ latitude: 24.121231, longitude: 55.1121221 });
      expect(card!.contacts).toMatchObject([
        { name: "Cara", vcard: expect.stringContaining("waid=6281222000000") },
      ]);
    }
  });

  it("posts in a channel, whose address it turns into an id once", async () => {
    const { link, id } = await shop.sim.addChannel({ name: "Shop news", admins: [SHOP] });
    const registered = await shop.gateway.post(
      "/channels",
      { api_key: shop.key, sender: SHOP, channel: link },
      {},
    );
    expect(registered.body.data).toMatchObject({ id });
    for (const method of methods) {
      const post = { sender: SHOP, url: registered.body.data.id, message: `News by ${method}`, footer: "x" };
      const sent = await mpwa.runAsWritten(`${method} /send-text-channel`, post);
      expect(await shop.sim.waitForPost(id, { text: `News by ${method}` })).toMatchObject({ id: sent.id });
    }
  });

  it("checks numbers, and makes and shows users", async () => {
    const number = await shop.newCustomer();
    const asked = { sender: SHOP, number };
    for (const method of methods) {
      expect((await mpwa.runAsWritten(`${method} /check-number`, asked)).data).toMatchObject([
        { number, exists: true },
      ]);
      const user = { username: `shop-${method}`, password: "12345678", email: "a@b.example", expire: "30" };
      const made = await mpwa.runAsWritten(`${method} /create-user`, user, shop.gateway.adminToken);
      expect(made).toMatchObject({ account: { name: `shop-${method}` }, api_key: expect.any(String) });
      expect((await mpwa.runAsWritten(`${method} /info-user`, { username: "shop" })).data).toMatchObject({
        id: shop.account,
      });
    }
  });

  it("looks after the device, to its end", async () => {
    const device = { sender: SHOP };
    expect(await mpwa.runAsWritten("POST /generate-qr", { device: SHOP, force: true })).toMatchObject({
      state: "connected",
    });
    for (const method of methods)
      expect((await mpwa.runAsWritten(`${method} /info-devices`, { number: SHOP })).data).toMatchObject({
        device: SHOP,
        state: "connected",
      });
    await mpwa.runAsWritten("POST /logout-device", device);
    expect((await mpwa.runAsWritten("POST /info-devices", { number: SHOP })).data).toMatchObject({
      state: "unlinked",
    });
    await mpwa.runAsWritten("POST /delete-device", device);
    expect((await shop.gateway.get(`/devices/${SHOP}`, { key: shop.key })).status).toBe(404);
  });

  it("needs every row of the page", () => {
    expect([...mpwa.used].toSorted()).toEqual([...mpwa.rows.keys()].toSorted());
    expect(mpwa.rows.size).toBeGreaterThanOrEqual(20);
  });
});
