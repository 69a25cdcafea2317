// oxlint-disable vitest/expect-expect -- the chat expects
import { afterEach, describe, expect, it } from "vitest";
import { defineBot } from "../../src/bot/index.ts";
import shop from "../../bots/shop/index.ts";
import { createTestChat, type AnyBot, type TestChat, type TestChatOptions } from "../../src/testing/index.ts";

const ORDERS = "https://shop.example/orders";
const STAFF = "491700000099";

const open: TestChat[] = [];
afterEach(async () => {
  for (const chat of open.splice(0)) await chat.close();
});

interface ShopChat extends TestChat {
  /** Writes, and expects exactly these answers. */
  says(text: string, ...answers: (string | RegExp)[]): Promise<void>;
  atStaff(): string[];
}

async function shopChat(options: TestChatOptions = {}): Promise<ShopChat> {
  const chat = await createTestChat({ shop }, options);
  open.push(chat);
  return {
    ...chat,
    async says(text, ...answers) {
      await chat.user(text);
      for (const answer of answers) await chat.expect(answer);
      await chat.expectNothing();
    },
    atStaff: () => chat.transcripts()[`${STAFF}@s.whatsapp.net`] ?? [],
  };
}

const cartOf = async (chat: TestChat): Promise<unknown> =>
  ((await chat.session("shop")) as { cart: unknown } | null)?.cart;

describe("the shop", () => {
  it("sells: catalogue, cart, delivery, summary, order, state of the order", async () => {
    const chat = await shopChat({ config: { ordersUrl: ORDERS, staff: STAFF } });
    const placed: unknown[] = [];
    chat.stub(`${ORDERS}/P-100`, { status: "on its way" });
    chat.stub(new RegExp(`^${ORDERS}$`), async (request) => {
      placed.push(await request.json());
      return { number: "P-100" };
    });

    await chat.says("my order", /^You have not ordered anything yet/);
    await chat.says("Shop!", /^What we have today:\n1\. Espresso beans, 1 kg: 18\.90 €\n2\. Filter/);
    await chat.says("cart", /^Your cart is empty/);
    await chat.says("checkout", /^Your cart is empty/);
    await chat.says("add", /^We do not have that/);
    await chat.says("add tea", /^We do not have that/);
    await chat.says("add 2", /2 × Filter|1 × Filter/);
    await chat.says("remove filter", /^Your cart is empty/);
    await chat.says("Add 2 espresso", /^Your cart:\n2 × Espresso beans, 1 kg: 37\.80 €\nDelivery: free/);
    await chat.says("add 2 x mug", /2 × Enamel mug: 25\.00 €\nDelivery: free\nTotal: 62\.80 €/);
    await chat.says("remove 1 mug", /1 × Enamel mug/);
    await chat.says("remove mug", /^Your cart:\n2 × Espresso[^]*Total: 37\.80 €$/);
    await chat.says("add 19 espresso", /^We send 1 to 20 of a thing/);
    await chat.says("add 0 espresso", /^We send 1 to 20 of a thing/);
    await chat.says("basket", /2 × Espresso/);

    await chat.says("checkout", "Who is it for? Your name, please.");
    await chat.says("A", "Sorry, I did not understand that.", /^Who is it for/);
    await chat.says("Ana Sol", /^Where shall we deliver to/);
    await chat.says("here", "That is a little short for an address.", /^Where shall we/);
    await chat.says(
      "12 Harbour Street, Berlin",
      /^When suits you\?\n\n1\. 9 to 12\n2\. 12 to 17\n3\. 17 to 20$/,
    );
    await chat.says("tonight", "Sorry, I did not understand that.", /^When suits you/);
    await chat.says("evening", /^A note for the driver/);
    await chat.says(
      "Second floor",
      /^Your cart:[^]*For: Ana Sol\nTo: 12 Harbour Street, Berlin\nBetween 17 to 20\nNote: Second floor/,
    );
    await chat.says("perhaps", "Please write “yes” to order, “no” to leave it.", /Shall we send it/);
    await chat.says("Yes", /^Thank you, Ana Sol! Your order is P-100\./);

    expect(placed).toEqual([
      {
        cart: { espresso: 2 },
        delivery: expect.objectContaining({ name: "Ana Sol", time: "evening", note: "Second floor" }),
        total: 3780,
      },
    ]);
    expect(chat.atStaff()).toEqual(["bot: Order P-100, 37.8 €"]);
    await chat.says("cart", /^Your cart is empty/);
    await chat.says("my order", "Your order P-100: on its way.");
    // The second order does not ask for the name again.
    await chat.says("add decaf", /1 × Decaf[^]*Delivery: 4\.90 €\nTotal: 15\.80 €/);
    await chat.says("checkout", /^Where shall we deliver to/);
  });

  it("goes on after a restart in every question", async () => {
    const chat = await shopChat();
    for (const [text, answer] of [
      ["add mug", /Enamel mug/],
      ["checkout", /^Who is it for/],
      ["Ana Sol", /^Where shall/],
      ["12 Harbour Street", /^When suits/],
      ["2️⃣", /^A note/],
      ["no", /Between 12 to 17\n\nShall we send it/],
      ["👍", /^Thank you, Ana Sol! Your order is P-[A-Z0-9]{6}\./],
      ["my order", /^Your order P-[A-Z0-9]{6}: we are packing it\.$/],
    ] as const) {
      await chat.says(text, answer);
      await chat.kill();
    }
  });

  it("mentions an abandoned cart once, and not while somebody orders", async () => {
    const chat = await shopChat({ config: { remindAfterMinutes: 60 } });
    await chat.says("add mug", /Enamel mug/);
    await chat.advance("50m");
    await chat.says("add filter", /Filter/);
    await chat.advance("50m");
    await chat.expectNothing();
    await chat.kill();
    await chat.advance("11m");
    await chat.expectReminder(/^You still have something in your cart/);
    await chat.expect("Write “checkout” to order, or “empty” to leave it.");
    await chat.advance("1d");
    await chat.expectNothing();

    await chat.says("add decaf", /Decaf/);
    await chat.says("checkout", /^Who is it for/);
    await chat.advance("21m");
    await chat.expectReminder("Your order is not placed yet.");
    await chat.expect(/^Who is it for/);
    await chat.advance("2h");
    await chat.expectNothing();
    await chat.advance("5h");
    await chat.expect(/^We have put your order aside/);
    await chat.says("empty", /^Your cart is empty/);
    await chat.advance("2h");
    await chat.expectNothing();
  });

  it("can be left at any question, and keeps the cart", async () => {
    const chat = await shopChat();
    await chat.says("cancel");
    await chat.says("add mug", /Enamel mug/);
    await chat.says("checkout", /^Who is it for/);
    await chat.says("Ana Sol", /^Where shall/);
    await chat.says("Cancel!", /^All right, nothing was ordered/);
    await chat.says("cart", /1 × Enamel mug/);
    await chat.says("checkout", /^Who is it for/);
    await chat.says("Ana Sol", /^Where shall/);
    await chat.says("12 Harbour Street", /^When/);
    await chat.says("1", /^A note/);
    await chat.says("no", /Shall we send it/);
    await chat.says("no", "All right, nothing was ordered. Your cart is kept.");
    expect(await cartOf(chat)).toEqual({ mug: 1 });
  });

  it("calls a person in the middle of an order, and goes on afterwards", async () => {
    const chat = await shopChat({ config: { staff: STAFF } });
    await chat.says("add mug", /Enamel mug/);
    await chat.says("checkout", /^Who is it for/);
    await chat.says("person", /^One moment, a person will write to you/);
    expect(chat.atStaff()).toEqual(["bot: Ana would like to talk to you."]);
    await chat.says("Do you have red mugs?");
    await chat.expectSilence("takeover");
    await chat.ownerTypes("Only white ones.");
    await chat.kill();
    await chat.says("fine");
    await chat.says("bot", "Here I am again. Please go on where we were.");
    await chat.says("Ana Sol", /^Where shall we deliver to/);
  });

  it("gives the chat back by itself after two hours", async () => {
    const chat = await shopChat({ config: { remindAfterMinutes: 10_000 } });
    await chat.says("human", /^One moment/);
    await chat.advance("119m");
    await chat.says("cart");
    await chat.advance("2m");
    await chat.says("cart", /^Your cart is empty/);
  });

  it("takes no order while its own system is away, and loses nothing", async () => {
    const chat = await shopChat({ config: { ordersUrl: ORDERS } });
    let isUp = false;
    chat.stub(ORDERS, () => (isUp ? { number: "P-7" } : new Response(null, { status: 503 })));
    const order = async (...answers: RegExp[]) => {
      await chat.says("12 Harbour Street", /^When/);
      await chat.says("1", /^A note/);
      await chat.says("no", /Shall we send it/);
      await chat.says("yes", ...answers);
    };
    await chat.says("add mug", /Enamel mug/);
    await chat.says("checkout", /^Who is it for/);
    await chat.says("Ana Sol", /^Where shall/);
    await order(/^We cannot take orders at the moment/);
    expect(await cartOf(chat)).toEqual({ mug: 1 });

    isUp = true;
    await chat.says("checkout", /^Who is it for/);
    await chat.says("Ana Sol", /^Where shall/);
    await order(/^Thank you, Ana Sol! Your order is P-7/);
    isUp = false;
    await chat.says("my order", /^I cannot look up P-7/);
  });

  it("takes over carts of its first version", async () => {
    const first = defineBot({ session: { initial: () => ({ cart: ["mug"] }) } }, (b) => {
      b.prefix("add", (ctx) => {
        ctx.session.cart.push(ctx.match);
        ctx.reply("added");
      });
    });
    let bot: AnyBot = first;
    const chat = await createTestChat(() => ({ shop: bot }));
    open.push(chat);
    await chat.user("add mug");
    await chat.user("add decaf");
    bot = shop;
    await chat.kill();
    await chat.user("cart");
    expect(chat.replies().at(-1)?.text).toMatch(/^Your cart:\n1 × Decaf[^]*\n2 × Enamel mug/);
  });

  it("keeps people apart, also when all of them write at once", async () => {
    const chat = await shopChat();
    const people = await chat.parallel(20, async (person, index) => {
      await person.user(`add ${(index % 9) + 1} mug`);
      await person.expect(new RegExp(`^Your cart:\n${(index % 9) + 1} × Enamel mug`));
      await person.user("checkout");
      await person.expect(/^Who is it for/);
      await person.user(`Person ${index}`);
      await person.expect(/^Where shall/);
    });
    expect(people).toHaveLength(20);
    expect((await people[3]!.session("shop")) as { cart: unknown }).toMatchObject({ cart: { mug: 4 } });
  });
});
