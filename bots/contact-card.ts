import { defineBot } from "parley";

/** Where to find us. A number may have its own card: `PUT /devices/{number}/bots` with `config: {card: "…"}`. */
const CARD = ["Parley Coffee", "12 Harbour Street", "mail@coffee.example", "+49 30 5550100"].join("\n");

export default defineBot({ enable: "bound" }, (b) => {
  b.keyword(["contact", "address", "where are you"], (ctx) => {
    const { card } = ctx.config;
    ctx.reply(typeof card === "string" ? card : CARD, { quote: true });
  });

  // Somebody shared a contact of the address book with us.
  b.on("contact", (ctx) => {
    const names = ctx.message.contacts.map((contact) => contact.name).join(", ");
    ctx.reply(`Thank you, we noted ${names}.`);
  });
});
