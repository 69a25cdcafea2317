import { defineBot } from "parley";

/** Greets, and shows what else can be written. */
const MENU = ["What can we do for you? Write one of these words:", "• hours", "• contact", "• ping"].join(
  "\n",
);

export default defineBot({ enable: "bound", chats: ["dm"] }, (b) => {
  b.keyword(["hi", "hello", "hey", "good morning"], (ctx) => {
    const name = ctx.from.name || "there";
    // Two replies arrive as two messages, in this order.
    ctx.reply(`Hello ${name}!`);
    ctx.reply(MENU);
  });

  b.keyword(["menu", "help"], (ctx) => ctx.reply(MENU));
});
