import { defineBot } from "parley";

/** First words of a conversation, and the language that they are in. */
const GREETINGS = {
  en: ["hi", "hello", "hey", "good morning"],
  es: ["hola", "buenos días"],
  pt: ["olá", "oi", "bom dia"],
  id: ["halo", "selamat pagi"],
};

/** Greets, and shows what can be chosen. Its texts are in `locales/<language>.json`: `ctx.t` and menus look there. */
export default defineBot({ enable: "bound", chats: ["dm"] }, (b) => {
  const language = b.menu("language", {
    text: "menu.which_language",
    options: {
      en: { label: "English", run: (ctx) => ctx.setLocale("en") },
      es: { label: "Español", run: (ctx) => ctx.setLocale("es") },
      pt: { label: "Português", run: (ctx) => ctx.setLocale("pt") },
      id: { label: "Bahasa Indonesia", run: (ctx) => ctx.setLocale("id") },
    },
    texts: { retry: "menu.retry", cancelled: "menu.cancelled" },
    // It was asked for, and nothing else can be meant.
    otherwise: "ask_again",
  });

  // Its state is a row in the database: the answer may come after a restart. The number, the label and the key are answers.
  const main = b.menu("main", {
    text: "menu.question",
    options: {
      delivery: { label: "menu.delivery.label", reply: "menu.delivery.text", again: true },
      visit: { label: "menu.visit.label", reply: "menu.visit.text", again: true },
      language: { label: "menu.language.label", start: language },
      person: {
        label: "menu.person.label",
        // Bots are silent in this chat for two hours, as when the owner writes by hand.
        run: (ctx) => ctx.handoff({ for: "2h", say: ctx.t("menu.person.text") }),
      },
    },
    // What is no answer goes to other routes, other bots and the webhook; the menu stays open meanwhile.
    texts: { cancelled: "menu.cancelled" },
    expire: "1h",
  });

  for (const [locale, words] of Object.entries(GREETINGS))
    b.keyword(words, (ctx) => {
      ctx.setLocale(locale);
      ctx.reply(ctx.t("menu.hello", { name: ctx.from.name || ctx.t("menu.friend") }));
      // The menu's question leaves as a message of its own, after the greeting.
      ctx.start(main);
    });

  b.keyword(["menu", "menú", "help", "ayuda", "ajuda"], (ctx) => ctx.start(main));
});
