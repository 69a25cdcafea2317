import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../_setup/world.ts";
import { closeShop, openShop, SHOP, SHOP_SITE, type Shop } from "./shop.ts";

/**
 * How scripts in the field call a gateway. Sources: the public documentation of MPWA's HTTP surface (GET and POST for
 * every send, `|` between destinations, `option=red,blue,yellow`, `msgid`, `full`, `footer`), and what PHP's and
 * JavaScript's own functions make of a request.
 */

const FORM = "application/x-www-form-urlencoded";
let shop: Shop;
let customer: string;
beforeAll(async () => {
  shop = await openShop();
  customer = await shop.newCustomer();
});
afterAll(() => closeShop(shop));

/** Posts a body as it is. */
const post = (path: string, body: string, type?: string) =>
  shop.gateway.post(path, body, { headers: type === undefined ? {} : { "content-type": type } });

const arrived = (id: string, at = customer) => shop.sim.waitForMessage(at, { id });

/** As `http_build_query` of PHP writes it. */
function formOf(fields: Record<string, string>): string {
  return new URLSearchParams({ api_key: shop.key, sender: SHOP, ...fields }).toString();
}

/** One text to what a script has as a number. */
async function send(number: string) {
  const { status, body } = await post("/send-message", formOf({ number, message: "hi" }), FORM);
  return { status, body, numbers: (body.results ?? []).map((result: any) => result.number) };
}

describe("how a body comes", () => {
  it("PHP: CURLOPT_POSTFIELDS with http_build_query, a form", async () => {
    const form = formOf({ number: customer, message: "Größe & Preis: 100 % + Versand\nSumme 5 €" });
    const { status, body } = await post("/send-message", form, FORM);
    expect([status, body.status, body.msg]).toEqual([200, true, "Message sent successfully!"]);
    expect((await arrived(body.id)).text).toBe("Größe & Preis: 100 % + Versand\nSumme 5 €");
  });

  it("PHP: CURLOPT_POSTFIELDS with json_encode and no header, JSON that is called a form", async () => {
    const json = JSON.stringify({ api_key: shop.key, sender: SHOP, number: customer, message: "a=b&c" });
    const { body } = await post("/send-message", json, FORM);
    expect((await arrived(body.id)).text).toBe("a=b&c");
  });

  it("JavaScript: fetch with JSON.stringify and no header, JSON that is called a text", async () => {
    const json = JSON.stringify({ api_key: shop.key, sender: SHOP, number: customer, message: "hi" });
    const { body } = await post("/send-message", json, "text/plain;charset=UTF-8");
    expect((await arrived(body.id)).text).toBe("hi");
  });

  it("PHP: CURLOPT_POSTFIELDS with an array, multipart: refused, and says what to send", async () => {
    const { status, body } = await post(
      "/send-message",
      '--x\r\nContent-Disposition: form-data; name="message"\r\n\r\nhi\r\n--x--\r\n',
      "multipart/form-data; boundary=x",
    );
    expect(status).toBe(415);
    expect(body).toMatchObject({ status: false, errors: { code: "UNSUPPORTED_CONTENT_TYPE" } });
    expect(body.msg).toContain(FORM);
  });

  it("PHP: file_get_contents with a query, as urlencode writes it", async () => {
    const query = `${formOf({ number: customer, message: "Zwei Kaffee + Kuchen\nbitte" })}`;
    const { body } = await shop.gateway.get(`/send-message?${query}`);
    expect((await arrived(body.id)).text).toBe("Zwei Kaffee + Kuchen\nbitte");
  });

  it("MPWA: numbers for strings in JSON", async () => {
    const json = { api_key: shop.key, sender: Number(SHOP), number: Number(customer), message: 4711 };
    const { body } = await post("/send-message", JSON.stringify(json), "application/json");
    expect((await arrived(body.id)).text).toBe("4711");
  });

  it("MPWA: a slash at the end, fields that mean nothing here", async () => {
    const fields = { number: customer, message: "hi", footer: "sent by us", full: "1", delay: "3" };
    const { status, body } = await post("/send-message/", formOf(fields), FORM);
    expect(status).toBe(200);
    expect((await arrived(body.id)).text).toBe("hi");
  });

  it("MPWA: msgid quotes a message", async () => {
    const { id } = await shop.sim.sendText(customer, SHOP, "What does it cost?");
    let quoted: string | undefined;
    // Until the message is stored it cannot be quoted.
    await until(async () => {
      const form = formOf({ number: customer, message: "5 €", msgid: id });
      const { body } = await post("/send-message", form, FORM);
      quoted = (await arrived(body.id)).quoted?.id;
      return quoted !== undefined;
    });
    expect(quoted).toBe(id);
  });

  it.each([
    ["text", "/send-message", { message: "Your order is ready." }, "Your order is ready."],
    ["poll", "/send-poll", { name: "When?", option: ["today", "tomorrow"] }, "When?"],
  ])("MPWA: msgid quotes a %s that was sent from here", async (_, path, fields, text) => {
    const own = { api_key: shop.key, sender: SHOP, number: customer };
    const first = await post(path, JSON.stringify({ ...own, ...fields }));
    const { id } = first.body;

    const { body } = await post(
      "/send-message",
      formOf({ number: customer, message: "And?", msgid: id }),
      FORM,
    );

    expect((await arrived(body.id)).quoted).toMatchObject({
      id,
      participant: `${SHOP}@s.whatsapp.net`,
      text,
    });
    const { data } = (await shop.gateway.get(`/messages?chat=${customer}&limit=1`, { key: shop.key })).body;
    expect(data).toMatchObject([{ id: body.id, quoted: { id, from: SHOP, text } }]);
  });

  it.each([
    ["is empty", ""],
    ["is longer than any", "3EB0".repeat(100)],
  ])("MPWA: msgid that %s quotes nothing", async (_, msgid) => {
    const { status, body } = await post(
      "/send-message",
      formOf({ number: customer, message: "hi", msgid }),
      FORM,
    );
    expect(status).toBe(200);
    expect((await arrived(body.id)).quoted).toBeUndefined();
  });
});

describe("how numbers are written", () => {
  it.each([
    ["copied from a contact", (n: string) => `+${n.slice(0, 2)} ${n.slice(2, 5)} ${n.slice(5)}`],
    [
      "with dashes and brackets",
      (n: string) => `+${n.slice(0, 2)} (${n.slice(2, 5)}) ${n.slice(5, 8)}-${n.slice(8)}`,
    ],
    ["with dots", (n: string) => `${n.slice(0, 2)}.${n.slice(2, 5)}.${n.slice(5)}`],
    ["with 00 before the country code", (n: string) => `00${n}`],
    ["as a WhatsApp id", (n: string) => `${n}@s.whatsapp.net`],
    ["as an id of whatsapp-web.js", (n: string) => `${n}@c.us`],
    ["with a line break of a spreadsheet", (n: string) => `${n}\r\n`],
  ])("%s", async (_habit, write) => {
    const { status, body, numbers } = await send(write(customer));
    expect([status, numbers]).toEqual([200, [customer]]);
    await arrived(body.id);
  });

  it("a plus in a query that nobody encoded is a space, and the number is the same", async () => {
    const query = `api_key=${shop.key}&sender=+${SHOP}&number=+${customer}&message=hi`;
    const { body } = await shop.gateway.get(`/send-message?${query}`);
    expect(body.results).toMatchObject([{ number: customer, state: "sent" }]);
  });

  it("MPWA: several destinations, the same one twice, a | at the end", async () => {
    const other = await shop.newCustomer();
    const { status, body, numbers } = await send(`${customer}| +${other} |${customer}|`);
    expect([status, numbers]).toEqual([200, [customer, other]]);
    for (const { number, id } of body.results) await arrived(id, number);
  });

  it("leading zeros: a number without its country code is refused before anything is sent", async () => {
    const before = (await shop.sim.messages(customer)).length;
    const { status, body } = await send(`${customer}|0151 00000001`);
    expect(status).toBe(400);
    expect(body).toMatchObject({
      status: false,
      msg: "Invalid parameters!",
      errors: { code: "INVALID_PARAMETERS" },
    });
    expect(body.errors.fields.number[0]).toMatch(/0151 00000001.*country code/);
    expect(await shop.sim.messages(customer)).toHaveLength(before);
  });

  it("the Brazilian ninth digit stays as it was written: none is added, none is taken away", async () => {
    const withNine = "5511987654321";
    const without = "551187654321";
    await shop.sim.addContact(withNine);
    await shop.sim.addContact(without);
    const first = await send("+55 (11) 9 8765-4321");
    const second = await send("+55 (11) 8765-4321");
    expect([first.numbers, second.numbers]).toEqual([[withNine], [without]]);
    await arrived(first.body.id, withNine);
    await arrived(second.body.id, without);
    expect(await shop.sim.messages(withNine)).toHaveLength(1);
    expect(await shop.sim.messages(without)).toHaveLength(1);
  });
});

describe("the other sends", () => {
  it("MPWA: a poll by GET, options separated by commas", async () => {
    const query = formOf({ number: customer, name: "Colour?", option: "red,blue,yellow", countable: "1" });
    const { body } = await shop.gateway.get(`/send-poll?${query}`);
    expect((await arrived(body.id)).poll).toMatchObject({
      options: ["red", "blue", "yellow"],
      selectable: 1,
    });
  });

  it.each(["option[]=red&option[]=blue", "option%5B0%5D=red&option%5B1%5D=blue", "option=red&option=blue"])(
    "PHP: a poll as a form, %s",
    async (options) => {
      const form = `${formOf({ number: customer, name: "Colour?", countable: "0" })}&${options}`;
      const { body } = await post("/send-poll", form, FORM);
      expect((await arrived(body.id)).poll).toMatchObject({ options: ["red", "blue"], selectable: 0 });
    },
  );

  it("MPWA: a file as a form, its caption a name", async () => {
    const url = shop.really(`${SHOP_SITE}/menu.pdf`);
    const form = formOf({ number: customer, media_type: "pdf", url, caption: "Menu" });
    const { body } = await post("/send-media", form, FORM);
    expect(body).toMatchObject({ status: true, msg: "Message sent successfully!" });
    expect((await arrived(body.id)).media).toMatchObject({ fileName: "Menu.pdf" });
  });

  it("MPWA: a voice note by GET", async () => {
    const url = shop.really(`${SHOP_SITE}/hello.ogg`);
    const query = formOf({ number: customer, media_type: "audio", url, ptt: "vn" });
    const { body } = await shop.gateway.get(`/send-media?${query}`);
    expect(await arrived(body.id)).toMatchObject({ kind: "voice", media: { ptt: true } });
  });
});

describe("what scripts look for in an answer", () => {
  it("status is a boolean, and msg and message say the same", async () => {
    const wrong = await post("/send-message", "{}", "application/json");
    expect(wrong.body).toMatchObject({ status: false, msg: "Invalid data!", message: "Invalid data!" });
    const nobody = await post(
      "/send-message",
      formOf({ sender: "4900000000", number: customer, message: "x" }),
      FORM,
    );
    expect(nobody.body).toMatchObject({
      status: false,
      msg: "Invalid data!",
      errors: { fields: { sender: [expect.any(String)] } },
    });
    const missing = await post("/send-message", formOf({ number: customer }), FORM);
    expect(missing.body).toMatchObject({ status: false, msg: "Invalid parameters!" });
  });

  it("generate-qr of a number that is linked", async () => {
    const { body } = await post(
      "/generate-qr",
      JSON.stringify({ api_key: shop.key, device: SHOP, force: true }),
    );
    expect(body).toMatchObject({ status: true, message: "Device already connected!" });
  });
});
