import { defineBot } from "parley";
import { z } from "zod";

/** Where to find us. A number may have its own card: `PUT /devices/{number}/bots` with `config: {"card": "…"}`. */
const CARD = ["Parley Coffee", "12 Harbour Street", "mail@coffee.example", "+49 30 5550100"].join("\n");

const config = z.object({ card: z.string().trim().min(1).default(CARD) });

export default defineBot({ enable: "bound", config }, (b) => {
  b.keyword(["contact", "address", "where are you"], (ctx) => ctx.reply(ctx.config.card, { quote: true }));

  // Somebody shared a contact of the address book with us.
  b.on("contact", (ctx) => {
    const names = ctx.message.contacts.map((contact) => contact.name).join(", ");
    ctx.reply(`Thank you, we noted ${names}.`);
  });
});
