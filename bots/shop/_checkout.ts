import { fields, type Context, type Form, type Message, type Routes } from "parley";
import { cartText, isEmpty, sumsOf } from "./_cart.ts";
import { placeOrder, type Config, type Delivery } from "./_orders.ts";
import type { Session } from "./_session.ts";

type ShopContext = Context<Message, null, Config, Session>;

const TIMES = { morning: "9 to 12", afternoon: "12 to 17", evening: "17 to 20" };

const questions = {
  name: fields.text("Who is it for? Your name, please.", { min: 2, max: 80 }),
  address: fields.text("Where shall we deliver to? Street, number and town.", {
    min: 8,
    max: 300,
    retry: "That is a little short for an address.",
  }),
  time: fields.choice("When suits you?", TIMES),
  note: fields.text("A note for the driver? Write “no” if there is none.", {
    max: 500,
    skip: ["no", "none"],
  }),
  confirm: fields.confirm(
    (ctx, { name, address, time, note }: Delivery) => {
      const { cart } = ctx.session as Session;
      return [
        cartText(cart),
        "",
        `For: ${name}`,
        `To: ${address}`,
        `Between ${TIMES[time as keyof typeof TIMES]}`,
        ...(note === null ? [] : [`Note: ${note}`]),
        "",
        "Shall we send it? (yes / no)",
      ].join("\n");
    },
    { retry: "Please write “yes” to order, “no” to leave it." },
  ),
};

export type Checkout = Form<typeof questions>;

/** Delivery details, a summary, and the order. */
export function checkoutForm(b: Routes<Config, Session>): Checkout {
  return b.form("checkout", questions, order, {
    remind: "20m",
    expire: "6h",
    texts: {
      reminder: "Your order is not placed yet.",
      cancelled: "All right, nothing was ordered. Your cart is kept.",
      expired: "We have put your order aside. Your cart is kept: write “checkout” to go on.",
    },
  });
}

async function order(ctx: ShopContext, delivery: Delivery): Promise<void> {
  const { cart } = ctx.session;
  if (isEmpty(cart)) return void ctx.reply(cartText(cart));
  const { total } = sumsOf(cart);
  let number: string;
  try {
    const key = ctx.idempotencyKey("order");
    // Placed once: after a crash the stored number is given back instead of ordering again.
    number = await ctx.step("order", (signal) => placeOrder(ctx, cart, delivery, key, signal));
  } catch (error) {
    ctx.log.error({ err: error }, "an order could not be placed");
    return void ctx.reply(
      "We cannot take orders at the moment. Your cart is kept: write “checkout” to try again.",
    );
  }
  ctx.session.orders = [...ctx.session.orders, { number, total, at: ctx.now() }].slice(-20);
  ctx.session.cart = {};
  ctx.session.name = delivery.name;
  ctx.cancelTimer("abandoned");
  ctx.reply(`Thank you, ${delivery.name}! Your order is ${number}. Write “my order” to see how it is going.`);
  if (ctx.config.staff !== undefined) ctx.sendTo(ctx.config.staff, `Order ${number}, ${total / 100} €`);
}
