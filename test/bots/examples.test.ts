// oxlint-disable vitest/expect-expect -- the chat expects
import { afterEach, describe, expect, it } from "vitest";
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
import {
  createTestChat,
  type TestBots,
  type TestChat,
  type TestChatOptions,
} from "../../src/testing/index.ts";
import { diary } from "./diary.ts";
import { kitchen } from "./kitchen.ts";
import { locales } from "./shipped.ts";

const open: TestChat[] = [];
afterEach(async () => {
  for (const chat of open.splice(0)) await chat.close();
});

async function chatWith(bots: TestBots, options: TestChatOptions = {}): Promise<TestChat> {
  const chat = await createTestChat(bots, { locales, ...options });
  open.push(chat);
  return chat;
}

/** Writes, and expects exactly these answers. */
async function says(chat: TestChat, text: string, ...answers: (string | RegExp)[]): Promise<void> {
  await chat.user(text);
  for (const answer of answers) await chat.expect(answer);
  await chat.expectNothing();
}

describe("ping", () => {
  it("answers", async () => {
    await says(await chatWith([ping]), "Ping!", "pong");
  });
});

describe("clinic", () => {
  const DIARY = "https://clinic.example/diary";
  const start = async (taken: string[] = []): Promise<TestChat> => {
    const chat = await chatWith([clinic], { config: { diaryUrl: DIARY }, now: "2026-05-05T08:00:00Z" });
    chat.stub(DIARY, diary(taken));
    return chat;
  };
  const times = (...list: string[]): string =>
    `Which time?\n\n${list.map((at, index) => `${index + 1}. ${at}`).join("\n")}`;
  const [NINE, TEN, FRIDAY] = ["2026-05-07 at 09:00", "2026-05-07 at 10:00", "2026-05-08 at 09:00"];

  it("books, reminds twice, and reminds of the time that it was moved to", async () => {
    const chat = await start();
    await says(chat, "appointment", "What is it about?\n\n1. A check-up\n2. Pain");
    await says(chat, "2", "Your full name?");
    await says(chat, "Ana Mora", times(NINE, TEN, FRIDAY));
    await says(chat, "1", `Shall I book ${NINE}?`);
    await says(chat, "no", times(NINE, TEN, FRIDAY));
    await says(chat, "1", `Shall I book ${NINE}?`);
    await chat.kill();
    await says(chat, "yes", `Done: ${NINE}.`);

    await chat.advance("26h");
    await chat.expect(`Ana Mora, we expect you on ${NINE}. Write “move” if you cannot come.`);
    await says(chat, "move", times(TEN, FRIDAY));
    await says(chat, "2", `Shall I book ${FRIDAY}?`);
    await says(chat, "yes", `Moved to ${FRIDAY}.`);
    await chat.kill();
    await chat.advance("23h");
    await chat.expect(`Ana Mora, we expect you on ${FRIDAY}. Write “move” if you cannot come.`);
    await chat.advance("25h");
    await chat.expect(`Ana Mora, we expect you on ${FRIDAY}. Write “move” if you cannot come.`);
    await chat.expectNothing();
  });

  it("offers other times when somebody was faster", async () => {
    const chat = await start(["2026-05-07T09:00"]);
    for (const text of ["appointment", "1", "Ben Roy", "1"]) await chat.user(text);
    await chat.expect(/about/);
    await chat.expect(/name/);
    await chat.expect(times(NINE, TEN, FRIDAY));
    await chat.expect(`Shall I book ${NINE}?`);
    await says(chat, "yes", "Somebody was faster.", times(TEN, FRIDAY));
  });

  it("leaves it to a person when nothing is free", async () => {
    const full = await chatWith([clinic], { config: { diaryUrl: DIARY } });
    full.stub(DIARY, []);
    for (const text of ["appointment", "1"]) await full.user(text);
    await full.expect(/about/);
    await full.expect(/name/);
    await says(full, "Ben Roy", "Nothing is free. We will call you.");
  });
});

describe("restaurant", () => {
  const KITCHEN = "https://kitchen.example";
  const start = async (made = kitchen()) => {
    const chat = await chatWith([restaurant], {
      config: { kitchenUrl: KITCHEN },
      now: "2026-05-05T10:00:00Z",
    });
    chat.stub(KITCHEN, made.answer);
    return chat;
  };
  const dishes = (lines: string, ready = "\n3. That is all"): string =>
    `${lines}What would you like?\n\n1. Soup\n2. Fish${ready}`;

  it("fills a cart that can be corrected, delivers, and asks afterwards", async () => {
    const made = kitchen();
    const chat = await start(made);
    await says(chat, "delivery", dishes("", ""));
    await says(chat, "soup", "5 €. How many?");
    await says(chat, "2", dishes("2 × Soup: 10 €\n"));
    await says(chat, "2", "12 €. How many?");
    await chat.kill();
    await says(chat, "3", dishes("2 × Soup: 10 €\n3 × Fish: 36 €\n"));
    await says(chat, "Fish", "12 €. How many?");
    await says(chat, "back", dishes("2 × Soup: 10 €\n3 × Fish: 36 €\n"));
    await says(chat, "Fish", "12 €. How many?");
    await says(chat, "0", dishes("2 × Soup: 10 €\n"));
    await says(chat, "that is all", "Share where you are, or write “address”.");
    await chat.location({ latitude: 52.5, longitude: 13.4 });
    await chat.expect("Thank you! Please pay here: https://pay.example/1");
    expect([...made.orders.values()]).toMatchObject([
      { to: { latitude: 52.5 }, dishes: [{ id: "soup", count: 2 }], from: expect.stringMatching(/^\d+$/) },
    ]);
    await chat.kill();
    await chat.advance("121m");
    await chat.expect("Did you like it?");
    await says(chat, "yes", "Thank you!");
  });

  it.each([
    [2, /Please pay here/, 1],
    [9, "Our kitchen does not answer. Somebody will call you.", 0],
  ])(
    "goes on when the kitchen was away %i times, or leaves it to a person",
    async (outages, said, orders) => {
      const made = kitchen({ outages });
      const chat = await start(made);
      for (const text of ["food", "1", "1", "3", "address", "12 Harbour Street"]) await chat.user(text);
      await chat.advance("3m");
      expect(chat.replies().at(-1)?.text).toMatch(said);
      expect(made.orders.size).toBe(orders);
    },
  );

  it("books a table, another one when somebody was faster, and a waiter comes at a word", async () => {
    const chat = await start(kitchen({ taken: 1 }));
    await says(chat, "table", "For how many?");
    await says(chat, "4", "When?\n\n1. 2026-05-05 at 18:00\n2. 2026-05-05 at 20:00");
    await says(chat, "1", "Somebody was faster.", "When?\n\n1. 2026-05-05 at 20:00");
    await says(chat, "1", "A table for 4. See you!");
    await chat.advance("12h");
    await chat.expect("Did you like it?");
    await says(chat, "no", "We are sorry. Somebody will write to you.");
    await chat.advance("1h");
    await says(chat, "waiter", "One moment.");
    await chat.user("table");
    await chat.expectSilence("takeover");
  });
});

describe("contact-card", () => {
  it("quotes the question, and takes the number's own card", async () => {
    const chat = await chatWith([contactCard]);
    await chat.user("Where are you?");
    const card = await chat.expect(/^Parley Coffee\n12 Harbour Street/);
    expect(card.about).not.toBeNull();

    await says(await chatWith([contactCard], { config: { card: "Shop 2" } }), "contact", "Shop 2");
  });

  it("notes a contact that is shared", async () => {
    const chat = await chatWith([contactCard]);
    await chat.card("Ben", "15550002");
    await chat.expect("Thank you, we noted Ben.");
  });
});

describe("opening-hours", () => {
  // A Monday, 10:00 UTC: 11:00 in Berlin, 02:00 in Los Angeles.
  it("knows the hours of a day, and whether it is open now, in the shop's zone", async () => {
    const chat = await chatWith([openingHours]);
    await says(chat, "hours", /^Our opening hours:\nMonday: 09:00–18:00\n[^]*Thursday: 09:00–20:00/);
    await says(chat, "Are you open on sunday?", "On Sunday we are closed.");
    await says(chat, "and are you open on tuesday", "On Tuesday we are open from 09:00 to 18:00.");
    await says(chat, "open now?", "Yes, until 18:00.");
    await chat.advance("7h");
    await says(chat, "open?", "Not now. On Monday we are open from 09:00 to 18:00.");
  });

  it("has other hours on another number", async () => {
    const config = { timeZone: "America/Los_Angeles", hours: { Monday: ["09:00", "17:00"] } };
    const chat = await chatWith([openingHours], { config });
    await says(chat, "open", "Not now. On Monday we are open from 09:00 to 17:00.");
    await says(chat, "hours", "Our opening hours:\nMonday: 09:00–17:00");
  });

  it.each([
    ["a zone that is none", { timeZone: "Mars/Olympus" }, /timeZone: is no time zone/],
    ["a time that is none", { hours: { Monday: ["9", "17:00"] } }, /hours.Monday.0: must be a time/],
    ["a day that is none", { hours: { Funday: ["09:00", "17:00"] } }, /hours/],
  ])("refuses %s", async (_, config, problem) => {
    const refused = await createTestChat([openingHours], { config }).catch((error: unknown) => error);
    expect(JSON.stringify((refused as { details?: unknown; fields?: unknown }) ?? "")).toMatch(problem);
  });
});

describe("menu", () => {
  it("greets, and takes numbers, labels and keys; what is no answer is the webhook's", async () => {
    const chat = await chatWith([menu], { webhook: (event) => `webhook: ${String(event.text)}` });
    await says(
      chat,
      "Hi!",
      "Hello Ana!",
      /^What can we do for you\?\n\n1\. Delivery\n2\. How to find us\n3\./,
    );
    await says(chat, "1", /^We deliver within two days/);
    await says(chat, "how to find us", /^12 Harbour Street/);
    await says(chat, "Do you deliver on Sundays?", "webhook: Do you deliver on Sundays?");
    await says(chat, "delivery", /^We deliver/);
    await says(chat, "cancel", "All right. Write “menu” whenever you need it.");
    await says(chat, "1", "webhook: 1");
  });

  it("speaks the language of the greeting, or the one that is chosen, also after a restart", async () => {
    const chat = await chatWith([menu]);
    await says(chat, "¡Hola!", "¡Hola, Ana!", /^¿En qué podemos ayudarle\?\n\n1\. Envíos/);
    await says(chat, "envíos", /^Enviamos en dos días/);
    await says(
      chat,
      "otro idioma",
      /^¿Qué idioma habla\?\n\n1\. English\n2\. Español\n3\. Português\n4\. Bahasa Indonesia$/,
    );
    await chat.user("3");
    await chat.kill();
    await says(chat, "ajuda", /^Em que podemos ajudar\?\n\n1\. Entregas/);
  });

  it("hands over to a person for two hours", async () => {
    const chat = await chatWith([menu]);
    await says(chat, "menu", /^What can we/);
    await says(chat, "4️⃣", "One moment, a person will write to you.");
    await chat.user("menu");
    await chat.expectSilence("takeover");
    await chat.advance("121m");
    await says(chat, "menu", /^What can we/);
  });
});

describe("lead-form", () => {
  const CRM = "https://crm.example/leads";
  const config = { crmUrl: CRM, crmToken: "t0ken" };

  async function answer(chat: TestChat): Promise<void> {
    await says(chat, "quote", "What is your name?");
    await says(chat, "Ana Sol", "Thank you. Which e-mail address may we write to?");
    await says(chat, "ana", "That does not look like an e-mail address.", /^Thank you. Which e-mail/);
    await says(chat, "Ana@Sol.example", /^What are you interested in\?\n\n1\. Coffee for the office/);
    await says(chat, "machine", /^Anything else/);
    await says(chat, "no", "Thank you, Ana Sol. We will write to ana@sol.example within a day.");
  }

  it("asks, corrects, and tells the CRM", async () => {
    const chat = await chatWith([leadForm], { config });
    const requests: Request[] = [];
    chat.stub(CRM, (request) => (requests.push(request.clone()), new Response(null, { status: 201 })));

    await answer(chat);

    const [request, ...more] = requests;
    expect(more).toEqual([]);
    expect(request!.headers.get("authorization")).toBe("Bearer t0ken");
    expect(request!.headers.get("idempotency-key")).toMatch(/^\S{16,}$/);
    expect(await request!.json()).toEqual({
      name: "Ana Sol",
      email: "ana@sol.example",
      interest: "machine",
      message: null,
      from: "491700000002",
    });
  });

  it("tries again under the same key while the CRM is away, also after a restart, and then no more", async () => {
    const chat = await chatWith([leadForm], { config });
    const keys: (string | null)[] = [];
    let status = 503;
    chat.stub(CRM, (request) => {
      keys.push(request.headers.get("idempotency-key"));
      return new Response(null, { status });
    });
    await answer(chat);
    expect(keys).toHaveLength(1);

    await chat.kill();
    await chat.advance("10m");
    expect(keys).toHaveLength(2);
    status = 200;
    await chat.advance("10m");
    await chat.advance("2h");

    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    await chat.expectNothing();
  });

  it("reminds once, can be cancelled, and is no bot without an address", async () => {
    const chat = await chatWith([leadForm], { config });
    await says(chat, "quote", "What is your name?");
    await chat.advance("16m");
    await chat.expectReminder("Are you still there?");
    await chat.expect("What is your name?");
    await chat.advance("3h");
    await says(chat, "cancel", "All right, cancelled.");

    const bare = await chatWith([leadForm], { webhook: () => "the webhook" });
    await says(bare, "quote", "the webhook");
  });
});

describe("order-status", () => {
  const config = { lookupUrl: "https://shop.example/orders/{order}" };

  it("finds the number in the question, and says what the shop says", async () => {
    const chat = await chatWith([orderStatus], { config });
    chat.stub("https://shop.example/orders/1042", {
      status: "shipped",
      tracking: "https://parcel.example/9",
      carrier: "ignored",
    });
    await says(chat, "Where is my order?", "Write the order’s number, for instance: order 1042");
    await says(chat, "order #1042", "Your order 1042 is on its way.\nhttps://parcel.example/9");
  });

  it.each([
    ["an order that is not there", () => new Response(null, { status: 404 }), /^We have no order 77777/],
    ["a shop that is down", () => new Response("oops", { status: 500 }), /^I cannot look that up/],
    ["a shop that cannot be reached", () => new Error("ECONNREFUSED"), /^I cannot look that up/],
    ["a shop that answers nonsense", () => ({ status: "eaten" }), /^I cannot look that up/],
  ])("has a kind word for %s", async (_, answer, said) => {
    const chat = await chatWith([orderStatus], { config });
    chat.stub("https://shop.example/orders/", answer);
    await says(chat, "order 77777", said);
  });

  it("leaves the question to the webhook when it does not know where to look", async () => {
    const chat = await chatWith([orderStatus], { webhook: () => "the webhook" });
    await says(chat, "order 1042", "the webhook");
    await says(chat, "order status", "the webhook");
  });
});

describe("satisfaction", () => {
  const STAFF = "491700000099";
  const atStaff = (chat: TestChat): string[] | undefined => chat.transcripts()[`${STAFF}@s.whatsapp.net`];

  async function ask(chat: TestChat): Promise<void> {
    await says(chat, "Thank you!", "You are welcome!");
    await chat.advance("6m");
    await says(chat, "thanks 🙏", "You are welcome!");
    await chat.advance("9m");
    await chat.expectNothing();
    await chat.advance("2m");
    await chat.expectReminder({ kind: "poll", text: "How did we do?" });
  }

  it("asks once the conversation is over, and thanks for a vote once", async () => {
    const chat = await chatWith([satisfaction], { config: { reportTo: STAFF } });
    await ask(chat);
    await chat.kill();
    await chat.vote("Great 😀");
    await chat.expect("Thank you for telling us!");
    await chat.vote("Okay 😐");
    await chat.expectNothing();
    expect(await chat.session()).toEqual({ vote: "Okay 😐", reported: true });
    expect(atStaff(chat)).toEqual(["bot: Ana: Great 😀"]);
  });

  it("calls a person when it was bad", async () => {
    const chat = await chatWith([satisfaction]);
    await ask(chat);
    await chat.vote("Not good 🙁");
    await chat.expect(/^We are sorry to hear that/);
    await chat.user("thanks");
    await chat.expectSilence("takeover");
  });
});

describe("group-helper", () => {
  it("speaks only when it is asked", async () => {
    const chat = await chatWith([groupHelper]);
    const group = chat.group("Neighbours", ["Ana", "Ben"]);
    await group.user("hello everybody, the rules are fine");
    await group.user({ text: "@491700000003 hi", mentions: ["491700000003"] });
    await group.expectNothing();
    await group.user("/rules");
    await group.expect(/^Be kind/);
    await group.user({ text: "@491700000001 what can you do?", mentions: ["491700000001"] });
    await group.expect("I know /rules and /who.");
    await chat.user("/rules");
    await chat.expectNothing();
  });

  it("asks who is in, and calls them when there are enough, once", async () => {
    const chat = await chatWith([groupHelper], { config: { enough: 2 } });
    const group = chat.group("Neighbours", ["Ana", "Ben", "Cem"]);
    await group.user("/who");
    await group.expect(/^Write what for/);
    await group.user("/who football on Friday");
    await group.expect({ kind: "poll", text: "Who is in? football on Friday" });
    await group.vote("I am in");
    await group.as("Ben").vote("Not this time");
    await group.expectNothing();
    await group.as("Ben").vote("I am in");
    const { text, mentions } = await group.expect(/^We are 2 for football on Friday: /);
    expect(mentions.toSorted()).toEqual(["491700000002", "491700000003"]);
    expect(text).toContain("@491700000002");
    await group.as("Cem").vote("I am in");
    await group.expectNothing();
  });

  it("keeps quiet when somebody calls it all the time", async () => {
    const chat = await chatWith([groupHelper]);
    const group = chat.group("Neighbours", ["Ana"]);
    for (let count = 0; count < 8; count++) await group.user("/rules");
    expect(group.replies()).toHaveLength(6);
    await group.expect(/^Be kind/);
  });
});
