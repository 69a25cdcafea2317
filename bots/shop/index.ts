import { defineBot, type Routes } from "parley";
import { cartText, isEmpty, MOST_PIECES, put, readWish, takeOut } from "./_cart.ts";
import { catalogueText, findProduct } from "./_catalogue.ts";
import { checkoutForm } from "./_checkout.ts";
import { config, orderState, type Config } from "./_orders.ts";
import { session, type Session } from "./_session.ts";

type Shop = Routes<Config, Session>;

const UNKNOWN = "We do not have that. Write “shop” to see what there is.";

/** A small shop: catalogue, cart, delivery details, order, and a person when the bot does not get on. */
export default defineBot({ enable: "bound", chats: ["dm"], config, session }, (b) => {
  browsing(b);
  ordering(b);
  people(b);
});

function browsing(b: Shop): void {
  b.keyword(["shop", "catalogue", "catalog"], (ctx) => ctx.reply(catalogueText()));
  b.keyword(["cart", "basket", "my cart"], (ctx) => ctx.reply(cartText(ctx.session.cart)));
  b.keyword(["empty", "empty cart"], (ctx) => {
    ctx.session.cart = {};
    ctx.cancelTimer("abandoned");
    ctx.reply(cartText({}));
  });

  b.prefix("add", (ctx) => {
    const wish = readWish(ctx.match);
    const product = wish && findProduct(wish.what);
    if (!wish || !product) return ctx.reply(UNKNOWN);
    if (!put(ctx.session.cart, product, wish.pieces))
      return ctx.reply(`We send 1 to ${MOST_PIECES} of a thing. More? Write “person”.`);
    // Set again by each change: it counts from the last one.
    ctx.after(ctx.config.remindAfterMinutes * 60_000, "abandoned");
    return ctx.reply(`${cartText(ctx.session.cart)}\n\nWrite “checkout” to order.`);
  });

  b.prefix("remove", (ctx) => {
    const wish = readWish(ctx.match);
    const product = wish && findProduct(wish.what);
    if (!wish || !product) return ctx.reply(UNKNOWN);
    // "remove espresso" means all of it, "remove 1 espresso" one piece.
    takeOut(ctx.session.cart, product, /^\d/.test(ctx.match) ? wish.pieces : null);
    if (isEmpty(ctx.session.cart)) ctx.cancelTimer("abandoned");
    return ctx.reply(cartText(ctx.session.cart));
  });

  b.timer("abandoned", (ctx) => {
    if (isEmpty(ctx.session.cart)) return;
    ctx.reply(`You still have something in your cart.\n\n${cartText(ctx.session.cart)}`);
    ctx.reply("Write “checkout” to order, or “empty” to leave it.");
  });
}

function ordering(b: Shop): void {
  const checkout = checkoutForm(b);

  b.keyword(["checkout", "buy", "order now"], (ctx) => {
    const { cart, name } = ctx.session;
    if (isEmpty(cart)) return ctx.reply(cartText(cart));
    // The form reminds by itself.
    ctx.cancelTimer("abandoned");
    // What is known is not asked again.
    return ctx.start(checkout, name === null ? {} : { name });
  });

  // Heard before the form, whatever it asks just now. With an empty cart there is nothing here to cancel: other bots may
  // have something, and forms know the word by themselves.
  b.interrupt(["cancel", "stop"], (ctx) => {
    if (isEmpty(ctx.session.cart)) return ctx.next();
    ctx.leave("All right, nothing was ordered. Your cart is kept: “cart” shows it, “empty” empties it.");
  });

  b.keyword(["my order", "my orders", "last order"], async (ctx) => {
    const last = ctx.session.orders.at(-1);
    if (last === undefined) return ctx.reply("You have not ordered anything yet. Write “shop” to begin.");
    const state = await orderState(ctx, last.number);
    return ctx.reply(
      state === null
        ? `I cannot look up ${last.number} at the moment. Please try again later, or write “person”.`
        : `Your order ${last.number}: ${state}.`,
    );
  });
}

/** A person takes over, and gives the chat back. */
function people(b: Shop): void {
  b.interrupt(["person", "human", "agent"], (ctx) => {
    const { staff } = ctx.config;
    if (staff !== undefined) ctx.sendTo(staff, `${ctx.from.name || "Somebody"} would like to talk to you.`);
    ctx.handoff({ for: "2h", say: "One moment, a person will write to you. Write “bot” to get me back." });
  });

  b.interrupt(
    ["bot", "back to the bot"],
    (ctx) => ctx.reply("Here I am again. Please go on where we were."),
    {
      endsHandoff: true,
    },
  );
}
