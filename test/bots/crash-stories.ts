import assistant from "../../bots/assistant.ts";
import clinic from "../../bots/clinic.ts";
import contactCard from "../../bots/contact-card.ts";
import groupHelper from "../../bots/group-helper.ts";
import leadForm from "../../bots/lead-form.ts";
import menu from "../../bots/menu.ts";
import openingHours from "../../bots/opening-hours.ts";
import orderStatus from "../../bots/order-status.ts";
import ping from "../../bots/ping.ts";
import restaurant from "../../bots/restaurant.ts";
import satisfaction from "../../bots/satisfaction.ts";
import shop from "../../bots/shop/index.ts";
import type { CrashOptions, TestBots, TestChat } from "../../src/testing/index.ts";
import { diary } from "./diary.ts";
import { kitchen } from "./kitchen.ts";
import { locales } from "./shipped.ts";

interface Story {
  bots: TestBots;
  options?: CrashOptions;
  script(chat: TestChat): Promise<unknown>;
}

const write =
  (...texts: string[]) =>
  async (chat: TestChat): Promise<void> => {
    for (const text of texts) await chat.user(text);
  };

const CRM = "https://crm.example/leads";
const ORDERS = "https://shop.example/orders";
const KITCHEN = "https://kitchen.example";
const DIARY = "https://clinic.example/diary";

/** One for each bot of `bots/`. */
export const STORIES: Record<string, Story> = {
  ping: { bots: [ping], script: write("ping", "pang", "ping") },
  assistant: {
    bots: [assistant],
    options: {
      config: { url: "https://model.example/v1", key: "k", perPersonAndDay: 2, owner: "4915099" },
      prepare: (chat) => {
        const events =
          'data: {"choices":[{"delta":{"content":"At nine."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
        chat.stub("https://model.example/v1/chat/completions", async (request) => {
          const { messages } = (await request.json()) as { messages: { content: string }[] };
          if (messages.at(-1)!.content.includes("open")) return new Response(events);
          // The person and the owner are told.
          return new Response("no", { status: 500 });
        });
      },
    },
    script: write("When do you open?", "Tell me a joke", "And another"),
  },
  clinic: {
    bots: [clinic],
    options: { config: { diaryUrl: DIARY }, prepare: (chat) => chat.stub(DIARY, diary()) },
    async script(chat) {
      for (const text of ["appointment", "2", "Ana", "Ana Mora", "1", "yes", "back", "2", "yes"])
        await chat.user(text);
      await chat.advance("25h");
      for (const text of ["move", "1", "yes"]) await chat.user(text);
      await chat.advance("2d");
    },
  },
  "contact-card": {
    bots: [contactCard],
    async script(chat) {
      await chat.user("contact");
      await chat.card("Ben", "15550002");
    },
  },
  "opening-hours": { bots: [openingHours], script: write("hours", "open?", "are you open on sunday") },
  menu: { bots: [menu], options: { locales }, script: write("hola", "1", "otro idioma", "3", "menu", "4") },
  "lead-form": {
    bots: [leadForm],
    options: { config: { crmUrl: CRM }, prepare: (chat) => chat.stub(CRM, { saved: true }) },
    script: write("quote", "Ana", "ana", "ana@sol.example", "1", "no"),
  },
  "order-status": {
    bots: [orderStatus],
    options: {
      config: { lookupUrl: "https://shop.example/{order}" },
      prepare: (chat) => chat.stub("https://shop.example/", { status: "packed" }),
    },
    script: write("order status", "order 1042"),
  },
  satisfaction: {
    bots: [satisfaction],
    options: { config: { reportTo: "491700000099" } },
    async script(chat) {
      await chat.user("thanks");
      await chat.advance("11m");
      await chat.vote("Not good 🙁");
      await chat.user("thanks");
    },
  },
  "group-helper": {
    bots: [groupHelper],
    options: { config: { enough: 2 } },
    async script(chat) {
      const group = chat.group("Neighbours", ["Ana", "Ben"]);
      await group.user("/who football");
      await group.vote("I am in");
      await group.as("Ben").vote("I am in");
      await group.user("/rules");
    },
  },
  restaurant: {
    bots: [restaurant],
    options: {
      config: { kitchenUrl: KITCHEN },
      now: "2026-05-05T10:00:00Z",
      prepare: (chat) => chat.stub(KITCHEN, kitchen().answer),
    },
    async script(chat) {
      await write("delivery", "soup", "2", "that is all", "address", "12 Harbour Street")(chat);
      await chat.advance("121m");
      await write("yes", "table", "4", "1")(chat);
    },
  },
  shop: {
    bots: [shop],
    options: {
      config: { ordersUrl: ORDERS, staff: "491700000099" },
      prepare: (chat) => chat.stub(ORDERS, { number: "P-1", status: "packed" }),
    },
    async script(chat) {
      await write("add 2 mug", "add espresso", "remove 1 mug")(chat);
      await chat.advance("3h");
      await write("checkout", "Ana Sol", "12 Harbour Street", "evening", "person", "hello?", "bot")(chat);
      await write("no", "yes", "my order")(chat);
    },
  },
};
