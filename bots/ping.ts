import { defineBot } from "parley";

/** Says that the number is answering: `ping` → `pong`. */
export default defineBot({ enable: "bound" }, (b) => {
  b.keyword("ping", (ctx) => ctx.reply("pong"));
});
