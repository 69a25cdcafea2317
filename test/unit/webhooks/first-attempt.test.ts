import type { ServerResponse } from "node:http";
import { Webhook } from "standardwebhooks";
import { describe, expect, it, vi } from "vitest";
import type { Answerer } from "../../../src/model/answerer.ts";
import { clock, gateway, receiver, status, storeWithNumber, type Gateway, type Receiver } from "./gateway.ts";
import { rawRows } from "../store/rows.ts";

async function started(
  options: Parameters<typeof gateway>[1] = {},
): Promise<{ parley: Gateway; shop: Receiver }> {
  const [store, shop] = await Promise.all([storeWithNumber(), receiver()]);
  return { parley: await gateway(store, options), shop };
}

/** Answers texts that begin with "bot". */
const bot: Answerer = {
  name: "bots",
  ignoresTakeover: false,
  async answer({ message }) {
    if (!message.text.startsWith("bot")) return { kind: "pass", trail: [] };
    const replies = [{ jid: message.chat, draft: { kind: "text" as const, text: "from the bot" } }];
    return { kind: "answer", by: "bot:test", route: null, replies, trail: [] };
  },
};

const decided = (parley: Gateway, count: number) =>
  vi.waitFor(async () => expect(await parley.decisions()).toHaveLength(count));

const texts = async (parley: Gateway): Promise<string[]> => (await parley.sent()).map(({ text }) => text);

describe("a message that no bot answers", () => {
  it("is posted, signed, and the answer is the reply", async () => {
    const { parley, shop } = await started({ before: [bot] });
    const { secret } = await parley.configure(shop.url, { headers: { "X-Shop": "s3cret" } });
    shop.answer(status(200, { message: "We open at nine." }));

    const message = await parley.receive({ text: "When do you open?" });
    await decided(parley, 1);

    const [post] = shop.posts;
    expect(post!.event).toMatchObject({
      message: "When do you open?",
      from: "15550001",
      id: message.id,
      pushName: "Ana",
    });
    expect(post!.headers).toMatchObject({
      "content-type": "application/json",
      "accept-encoding": "identity",
      "x-shop": "s3cret",
    });
    expect(new Webhook(secret!).verify(post!.body, post!.headers as Record<string, string>)).toEqual(
      post!.event,
    );
    const [reply] = await parley.sent();
    expect(reply).toMatchObject({ text: "We open at nine.", jid: message.chat, quotes: null });
    expect(await parley.decisions()).toMatchObject([
      { by: "webhook", trail: [{ by: "webhook", outcome: "answered", detail: "HTTP 200" }] },
    ]);
    expect(await parley.deliveries()).toMatchObject([
      {
        id: post!.headers["webhook-id"],
        device: "4930555",
        messageId: message.id,
        type: "text",
        url: shop.url,
        state: "delivered",
        nextAt: null,
        attempts: [{ statusCode: 200, error: null, answer: '{"message":"We open at nine."}' }],
        reply: { understood: true, ignored: [], ids: [reply!.id] },
      },
    ]);
  });

  it("reads the answer by its charset; one that is no text in it is on the record and reaches nobody", async () => {
    const { parley, shop } = await started();
    await parley.configure(shop.url);
    const inLatin1 = (type: string) => (response: ServerResponse) => {
      response.writeHead(200, { "content-type": type });
      response.end(Buffer.from('{"message":"café"}', "latin1"));
    };
    shop.answer(inLatin1("application/json; charset=ISO-8859-1"), inLatin1("application/json"));

    await parley.receive();
    await decided(parley, 1);
    await parley.receive();
    await decided(parley, 2);

    expect(await texts(parley)).toEqual(["café"]);
    expect(
      (await parley.deliveries()).map(({ reply, attempts }) => [
        attempts[0]!.answer,
        reply!.understood,
        reply!.ignored,
      ]),
    ).toEqual([
      [expect.stringContaining("caf"), false, ["the answer is not valid text in utf-8"]],
      ['{"message":"café"}', true, []],
    ]);
  });

  it("gets several replies in order, quoting where asked", async () => {
    const { parley, shop } = await started();
    await parley.configure(shop.url);
    shop.answer(status(200, [{ text: "one", quoted: true }, "two", { odd: "shape" }, "three"]));

    const message = await parley.receive();
    await decided(parley, 1);

    const sent = await parley.sent();
    expect(sent.map(({ text, quotes }) => [text, quotes])).toEqual([
      ["one", message.id],
      ["two", null],
      ["three", null],
    ]);
    const [delivery] = await parley.deliveries();
    expect(delivery!.reply).toEqual({
      understood: true,
      ignored: [expect.stringMatching(/^replies\[2\]: unknown shape/)],
      ids: sent.map(({ id }) => id),
    });
  });

  it.each([
    ["nothing", "", true],
    ["OK", "OK", false],
    ["false", "false", true],
    ["an unknown shape", { answer: "x" }, false],
  ])("and is answered with %s: delivered, nobody answered", async (_what, body, understood) => {
    const { parley, shop } = await started();
    await parley.configure(shop.url);
    shop.answer(status(200, body));

    await parley.receive();
    await decided(parley, 1);

    expect(await parley.sent()).toEqual([]);
    expect(await parley.decisions()).toMatchObject([
      { by: null, trail: [{ by: "webhook", outcome: "passed" }] },
    ]);
    expect(await parley.deliveries()).toMatchObject([{ state: "delivered", reply: { understood, ids: [] } }]);
  });

  it("in a group is answered in the group, or privately when so configured", async () => {
    const { parley, shop } = await started();
    const group = { chatKind: "group", chat: "1@g.us", chatKey: "1@g.us", participant: "900@lid" } as const;
    shop.answer(status(200, { message: "x", quoted: true }));

    await parley.configure(shop.url);
    const message = await parley.receive(group);
    await decided(parley, 1);
    await parley.configure(shop.url, { replyTo: "sender" });
    await parley.receive(group);
    await decided(parley, 2);

    expect(await parley.sent()).toMatchObject([
      { jid: "1@g.us", quotes: message.id },
      { jid: "15550001@s.whatsapp.net", quotes: null },
    ]);
  });

  it("is marked as read and shown as being answered when so configured", async () => {
    const { parley, shop } = await started();
    await parley.configure(shop.url, { read: true, typing: true });
    const message = await parley.receive();
    await decided(parley, 1);
    expect(parley.presence).toEqual([
      `read ${message.chat} ${message.id}`,
      `typing ${message.chat} true`,
      `typing ${message.chat} false`,
    ]);
  });
});

describe("what is posted", () => {
  it("mode fallback: what no bot answered; always: everything, with who answered; off: nothing", async () => {
    const { parley, shop } = await started({ before: [bot] });
    shop.answer(status(200, { message: "from the webhook" }));
    const posted = (): unknown[] => shop.posts.map(({ event }) => [event.text, event.handled_by]);

    await parley.configure(shop.url, { mode: "off" });
    await parley.receive({ text: "off" });
    await decided(parley, 1);
    await parley.configure(shop.url, { mode: "fallback" });
    await parley.receive({ text: "bot 1" });
    await parley.receive({ text: "shop 1" });
    await decided(parley, 3);
    expect(posted()).toEqual([["shop 1", null]]);
    await parley.configure(shop.url, { mode: "always" });
    await parley.receive({ text: "bot 2" });
    await parley.receive({ text: "shop 2" });
    await decided(parley, 5);

    await vi.waitFor(() =>
      expect(posted()).toEqual([
        ["shop 1", null],
        ["bot 2", "bot:test"],
        ["shop 2", null],
      ]),
    );
    const texts = (await parley.sent()).map(({ text }) => text);
    expect(texts).toEqual(["from the bot", "from the webhook", "from the bot", "from the webhook"]);
    const handled = (await parley.deliveries()).find((delivery) => delivery.reply?.ids.length === 0);
    expect(handled).toMatchObject({
      state: "delivered",
      attempts: [{ statusCode: 200 }],
      reply: { ignored: [expect.stringMatching(/the webhook may not answer this message/)] },
    });
  });

  it("a message for the record is posted before the next one of its chat", async () => {
    const { parley, shop } = await started({ before: [bot] });
    await parley.configure(shop.url, { mode: "always" });
    shop.answer((response) => void setTimeout(() => response.end(), 60), status(200));
    await parley.receive({ text: "bot first" });
    await parley.receive({ text: "second" });
    await decided(parley, 2);
    expect(shop.posts.map(({ event }) => event.text)).toEqual(["bot first", "second"]);
  });

  it("only the events asked for; statuses never, the owner's own only with own and never answered", async () => {
    const { parley, shop } = await started();
    shop.answer(status(200, { message: "x" }));
    const one = async (change: Parameters<Gateway["receive"]>[0]): Promise<void> => {
      const before = (await parley.decisions()).length;
      await parley.receive(change);
      await decided(parley, before + 1);
    };

    await parley.configure(shop.url);
    await one({ type: "reaction", reaction: { id: "3A", emoji: "👍" } });
    await one({ fromMe: true, sender: "4930555@s.whatsapp.net" });
    await one({ chatKind: "status", chat: "status@broadcast", chatKey: "status@broadcast" });
    expect(shop.posts).toEqual([]);

    await parley.configure(shop.url, { events: ["reaction", "own"] });
    await one({ type: "text" });
    await one({ type: "reaction", text: "👍", reaction: { id: "3A", emoji: "👍" } });
    await one({ fromMe: true, sender: "4930555@s.whatsapp.net", text: "typed by hand" });
    await vi.waitFor(() => expect(shop.posts).toHaveLength(2));
    expect(shop.posts.map(({ event }) => [event.type, event.from])).toEqual([
      ["reaction", "15550001"],
      ["text", "4930555"],
    ]);
    expect((await parley.sent()).map(({ text }) => text)).toEqual(["x"]);
  });

  it("a message that is too old is posted and not answered", async () => {
    const { parley, shop } = await started();
    await parley.configure(shop.url, { replyMaxAge: 60 });
    shop.answer(status(200, { message: "late" }));
    await parley.receive({ timestamp: Math.floor(Date.now() / 1000) - 120 });
    await vi.waitFor(() => expect(shop.posts).toHaveLength(1));
    await vi.waitFor(async () => expect((await parley.deliveries())[0]?.state).toBe("delivered"));
    expect(await parley.sent()).toEqual([]);
  });
});

describe("hold", () => {
  it("keeps the chat with the webhook, over a restart, until the time is up", async () => {
    const time = clock();
    const [store, shop] = await Promise.all([storeWithNumber(time.now), receiver()]);
    let parley = await gateway(store, { before: [bot] });
    await parley.configure(shop.url);
    shop.answer(status(200, { message: "Your name?", hold: 600 }), status(200, { message: "Thanks." }));
    await parley.receive({ text: "book a table" });
    await parley.receive({ text: "botham" });
    await decided(parley, 2);
    await parley.receive({ text: "bot elsewhere", chat: "2@lid", chatKey: "2@lid", sender: "2@lid" });
    await decided(parley, 3);
    expect(await texts(parley)).toEqual(["Your name?", "Thanks.", "from the bot"]);

    await parley.stop();
    parley = await gateway(store, { before: [bot] });
    await parley.receive({ text: "bot after the restart" });
    await decided(parley, 4);
    expect((await texts(parley)).at(-1)).toBe("Thanks.");
    time.forward(601_000);
    await parley.receive({ text: "bot when it is over" });
    await decided(parley, 5);
    expect((await texts(parley)).at(-1)).toBe("from the bot");
  });

  it("lasts through silence and failures, and posts each message once; hold: 0 ends it", async () => {
    const { parley, shop } = await started({ before: [bot] });
    await parley.configure(shop.url, { mode: "always" });
    const steps = [{ hold: 600 }, "", { status: 500 }, { message: "bye", hold: 0 }];
    shop.answer(...steps.map((step) => (step === steps[2] ? status(500) : status(200, step))), status(200));
    for (const text of ["start", "bot 1", "bot 2", "bot 3", "bot 4"]) await parley.receive({ text });
    await decided(parley, 5);
    await vi.waitFor(() => expect(shop.posts).toHaveLength(5));

    expect(shop.posts.map(({ event }) => [event.text, event.handled_by])).toEqual([
      ["start", null],
      ["bot 1", null],
      ["bot 2", null],
      ["bot 3", null],
      ["bot 4", "bot:test"],
    ]);
    expect(await texts(parley)).toEqual(["bye", "from the bot"]);
  });

  it("ends with the webhook", async () => {
    const { parley, shop } = await started({ before: [bot] });
    await parley.configure(shop.url);
    shop.answer(status(200, { hold: 600 }));
    await parley.receive({ text: "start" });
    await decided(parley, 1);
    await parley.configure(shop.url, { enabled: false });
    await parley.receive({ text: "bot" });
    await decided(parley, 2);
    expect(await texts(parley)).toEqual(["from the bot"]);
  });

  it("ends for good when the webhook is deleted", async () => {
    const [store, shop] = await Promise.all([storeWithNumber(), receiver()]);
    let parley = await gateway(store, { before: [bot] });
    await parley.configure(shop.url);
    shop.answer(status(200, { hold: 600 }));
    await parley.receive({ text: "start" });
    await decided(parley, 1);
    await parley.webhooks.remove(1);
    await parley.configure(shop.url);
    await parley.receive({ text: "bot 1" });
    await decided(parley, 2);
    await parley.stop();
    parley = await gateway(store, { before: [bot] });
    await parley.receive({ text: "bot 2" });
    await decided(parley, 3);
    expect(await texts(parley)).toEqual(["from the bot", "from the bot"]);
  });

  it("is renewed by every answer that says so, and a shorter one shortens it", async () => {
    const time = clock();
    const [store, shop] = await Promise.all([storeWithNumber(time.now), receiver()]);
    const parley = await gateway(store, { before: [bot] });
    await parley.configure(shop.url);
    const steps = [{ hold: 60 }, { message: "still mine", hold: 60 }, { message: "nearly done", hold: 5 }];
    shop.answer(...steps.map((step) => status(200, step)), status(200, { message: "not asked" }));
    for (const [index, text] of ["start", "bot 1", "bot 2", "bot 3"].entries()) {
      await parley.receive({ text });
      await decided(parley, index + 1);
      time.forward(50_000);
    }
    expect(await texts(parley)).toEqual(["still mine", "nearly done", "from the bot"]);
  });

  it("of a group holds the group, for whoever writes there", async () => {
    const { parley, shop } = await started({ before: [bot] });
    const group = { chatKind: "group", chat: "1@g.us", chatKey: "1@g.us" } as const;
    await parley.configure(shop.url, { replyTo: "sender" });
    shop.answer(status(200, { hold: 600 }), status(200, { message: "to you alone" }));
    await parley.receive({ ...group, participant: "900@lid" });
    await parley.receive({ ...group, participant: "901@lid", sender: "2@lid", text: "bot" });
    await parley.receive({ text: "bot" });
    await decided(parley, 3);
    expect((await parley.sent()).map(({ jid, text }) => [jid, text]).toSorted()).toEqual([
      ["15550001@s.whatsapp.net", "from the bot"],
      ["2@lid", "to you alone"],
    ]);
  });

  it("is not taken by an answer to a message that was answered already", async () => {
    const { parley, shop } = await started({ before: [bot] });
    await parley.configure(shop.url, { mode: "always" });
    shop.answer(status(200, { hold: 600 }));
    await parley.receive({ text: "bot 1" });
    await decided(parley, 1);
    await vi.waitFor(async () => expect(await parley.deliveries()).toMatchObject([{ state: "delivered" }]));
    await parley.receive({ text: "bot 2" });
    await decided(parley, 2);
    expect(await texts(parley)).toEqual(["from the bot", "from the bot"]);
  });

  it("holds nothing that the webhook is not told of", async () => {
    const { parley, shop } = await started({ before: [bot] });
    await parley.configure(shop.url);
    shop.answer(status(200, { hold: 600 }));
    await parley.receive({ text: "start" });
    await decided(parley, 1);
    await parley.receive({ type: "reaction", text: "bot", reaction: { id: "3A", emoji: "bot" } });
    await decided(parley, 2);
    expect(await texts(parley)).toEqual(["from the bot"]);
    expect(shop.posts).toHaveLength(1);
  });

  it("taken by a late reply begins with it", async () => {
    const { parley, shop } = await started({ before: [bot], random: () => 0 });
    await parley.configure(shop.url);
    shop.answer(
      status(503),
      status(200, { message: "Your name?", hold: 600 }),
      status(200, { message: "Thanks." }),
    );
    await parley.receive({ text: "start" });
    await vi.waitFor(async () => expect(await texts(parley)).toEqual(["Your name?"]));
    await parley.receive({ text: "botham" });
    await decided(parley, 2);
    expect(await texts(parley)).toEqual(["Your name?", "Thanks."]);
  });
});

describe("after a crash between the post and the commit", () => {
  it("the same event comes again under the same id, and is answered once", async () => {
    const [store, shop] = await Promise.all([storeWithNumber(), receiver()]);
    const first = await gateway(store);
    await first.configure(shop.url);
    // The receiver has the event and has not answered when the process goes.
    shop.answer(() => undefined);
    await first.receive({ text: "once" });
    await vi.waitFor(() => expect(shop.posts).toHaveLength(1));
    await first.stop();
    expect(await first.decisions()).toEqual([]);
    expect(await first.deliveries()).toEqual([]);

    shop.answer(status(200, { message: "answer" }));
    const second = await gateway(store);
    await decided(second, 1);

    expect(shop.posts).toHaveLength(2);
    expect(shop.posts[1]!.headers["webhook-id"]).toBe(shop.posts[0]!.headers["webhook-id"]);
    expect(shop.posts[1]!.headers["webhook-id"]).toMatch(/^msg_[0-9a-f]{32}$/);
    expect(shop.posts[1]!.body).toBe(shop.posts[0]!.body);
    expect(await second.sent()).toHaveLength(1);
    expect((await second.deliveries())[0]!.attempts).toHaveLength(1);
  });
});

/** Ways of giving no answer. */
const SILENT: [string, (response: ServerResponse) => void, RegExp][] = [
  ["hangs", () => undefined, /No complete answer within 1000 ms/],
  [
    "drips",
    (response: ServerResponse) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(" "), 50);
      response.on("close", () => clearInterval(drip));
    },
    /No complete answer within 1000 ms/,
  ],
  ["hangs up", (response: ServerResponse) => void response.destroy(), /No answer/],
];

const told = ({ posts }: Receiver): unknown[] => posts.map(({ event }) => event.text);

describe("receivers that misbehave", () => {
  it.each([
    [
      "redirects",
      status(302, "", { location: "http://127.0.0.1:1/" }),
      /HTTP 302; redirects are not followed/,
    ],
    ["fails", status(500, { message: "never sent" }), /HTTP 500/],
    ["fails, compressed", status(503, "x", { "content-encoding": "gzip" }), /compressed/],
  ])(
    "one that %s gets nothing sent, its event is retried, and the chat goes on",
    async (_how, behaviour, why) => {
      const { parley, shop } = await started();
      await parley.configure(shop.url, { timeoutMs: 3000 });
      shop.answer(behaviour, status(200, { message: "well again" }));
      await parley.receive({ text: "first" });
      await parley.receive({ text: "second" });
      await decided(parley, 2);

      expect((await parley.sent()).map(({ text }) => text)).toEqual(["well again"]);
      const [second, first] = await parley.deliveries();
      expect(second!.state).toBe("delivered");
      expect(first).toMatchObject({
        state: "retrying",
        reply: null,
        attempts: [{ error: expect.stringMatching(why) }],
      });
      expect(first!.nextAt! - first!.attempts[0]!.at).toBeGreaterThanOrEqual(4000);
    },
  );

  it.each(SILENT)(
    "one that %s is told again before it is told what comes next in the chat, over a restart, while other chats go on",
    async (_how, behaviour, why) => {
      const time = clock();
      const [store, shop] = await Promise.all([storeWithNumber(time.now), receiver()]);
      const parley = await gateway(store, { before: [bot] });
      await parley.configure(shop.url, { timeoutMs: 1000, mode: "always" });
      shop.answer(behaviour, status(200, { message: "well again" }));
      await parley.receive({ text: "first" });
      await parley.receive({ text: "second" });
      await parley.receive({ text: "bot third" });
      await parley.receive({ text: "elsewhere", chat: "2@lid", chatKey: "2@lid", sender: "2@lid" });
      // What the chat says next waits for the second attempt, and so does the bot.
      await decided(parley, 2);
      await vi.waitFor(() => expect(told(shop)).toContain("elsewhere"));
      const [first] = (await parley.deliveries()).filter(({ attempts }) => attempts[0]?.statusCode === null);
      expect(first).toMatchObject({ state: "retrying", attempts: [{ error: expect.stringMatching(why) }] });
      expect((await parley.sent()).map(({ text }) => text)).toEqual(["well again"]);
      expect(new Set(told(shop))).toEqual(new Set(["first", "elsewhere"]));
      await parley.stop();
      shop.posts.length = 0;

      time.forward(6_000);
      const again = await gateway(store, { before: [bot] });
      await again.receive({ text: "fourth" });
      await decided(again, 5);
      await vi.waitFor(() => expect(shop.posts).toHaveLength(4));
      expect(told(shop)).toEqual(["first", "second", "bot third", "fourth"]);
    },
  );

  it("what an earlier run has left is told before a message is asked about, and its answer leaves before a bot's to what follows", async () => {
    const time = clock();
    const [store, shop] = await Promise.all([storeWithNumber(time.now), receiver()]);
    const parley = await gateway(store, { before: [bot] });
    await parley.configure(shop.url, { timeoutMs: 1000, mode: "always" });
    const [, hangs] = SILENT[0]!;
    shop.answer(hangs, status(200, {}), status(200, { message: "two is answered" }), status(200, {}));
    await parley.receive({ text: "bot one" });
    await vi.waitFor(async () => expect((await parley.deliveries())[0]?.attempts).toHaveLength(1));
    await parley.stop();

    time.forward(6_000);
    const again = await gateway(store, { before: [bot] });
    await Promise.all([again.receive({ text: "two" }), again.receive({ text: "bot three" })]);
    await decided(again, 3);
    await vi.waitFor(async () =>
      expect((await again.sent()).map(({ text }) => text)).toEqual([
        "from the bot",
        "two is answered",
        "from the bot",
      ]),
    );
    await vi.waitFor(() => expect(told(shop)).toEqual(["bot one", "bot one", "two", "bot three"]));
  });

  it.each([
    ["too long", status(200, `"${"x".repeat(1024 * 1024)}"`), /larger than/],
    ["compressed", status(200, "x", { "content-encoding": "gzip" }), /compressed/],
  ])("an answer that is %s is no reply, and the event is delivered", async (_how, behaviour, why) => {
    const { parley, shop } = await started();
    await parley.configure(shop.url);
    shop.answer(behaviour);
    await parley.receive();
    await decided(parley, 1);
    expect(await parley.sent()).toEqual([]);
    expect(await parley.deliveries()).toMatchObject([
      {
        state: "delivered",
        attempts: [{ statusCode: 200 }],
        reply: { understood: false, ignored: [expect.stringMatching(why)] },
      },
    ]);
  });

  it.each([400, 401, 404, 422])("HTTP %i ends it", async (code) => {
    const { parley, shop } = await started();
    await parley.configure(shop.url);
    shop.answer(status(code, { message: "no" }));
    await parley.receive();
    await decided(parley, 1);
    expect(await parley.deliveries()).toMatchObject([
      { state: "dead", nextAt: null, attempts: [{ statusCode: code }] },
    ]);
    expect(await parley.decisions()).toMatchObject([
      { by: null, trail: [{ outcome: "failed", detail: `HTTP ${code}` }] },
    ]);
  });

  it("HTTP 410 switches the webhook off, for good", async () => {
    const [store, shop] = await Promise.all([storeWithNumber(), receiver()]);
    const parley = await gateway(store);
    await parley.configure(shop.url);
    shop.answer(status(410));
    await parley.receive();
    await parley.receive();
    await decided(parley, 2);
    expect(shop.posts).toHaveLength(1);
    expect(await parley.deliveries()).toMatchObject([{ state: "disabled" }]);
    await parley.stop();
    expect(await (await gateway(store)).webhooks.get(1)).toMatchObject({ enabled: false });
  });

  it("a connection that ends just when the next event is posted costs no attempt, and nothing overtakes it", async () => {
    const { parley, shop } = await started();
    await parley.configure(shop.url);
    const used = new WeakSet<object>();
    const cut: ServerResponse[] = [];
    shop.answer((response) => {
      if (!used.has(response.socket!)) return void (used.add(response.socket!), response.end());
      cut.push(response);
      response.socket!.resetAndDestroy();
    });
    const texts: string[] = [];
    while (cut.length < 2) {
      texts.push(`text ${texts.length}`);
      await parley.receive({ text: texts.at(-1)! });
      await decided(parley, texts.length);
    }

    const told = shop.posts.map(({ event }) => event.text);
    expect([...new Set(told)]).toEqual(texts);
    expect(told).toHaveLength(texts.length + cut.length);
    for (const delivery of await parley.deliveries())
      expect(delivery).toMatchObject({ state: "delivered", attempts: [{ error: null }] });
  });

  it("one chat's hanging webhook does not make other chats wait", async () => {
    const { parley, shop } = await started();
    await parley.configure(shop.url, { timeoutMs: 30_000 });
    shop.answer((response, { event }) => {
      if (event.text !== "hang") response.end(JSON.stringify({ message: `re ${String(event.text)}` }));
    });
    await parley.receive({ text: "hang" });
    await parley.receive({ text: "other", chat: "2@lid", chatKey: "2@lid", sender: "2@lid" });
    await vi.waitFor(async () => expect((await parley.sent()).map(({ text }) => text)).toEqual(["re other"]));
  });
});

describe("what is kept", () => {
  it("is sealed, and nothing of it is logged", async () => {
    const [store, shop] = await Promise.all([storeWithNumber(), receiver()]);
    const parley = await gateway(store);
    const { secret } = await parley.configure(shop.url, { headers: { authorization: "Bearer hush-token" } });
    shop.answer(status(200, { message: "private-answer" }), status(500, "private-trouble"));
    await parley.receive({ text: "private-question" });
    await parley.receive({ text: "private-question" });
    await decided(parley, 2);

    const tables = ["webhooks", "deliveries", "delivery_attempts", "decisions", "outbox"];
    const dump: string[] = [parley.logged()];
    for (const table of tables) {
      for (const row of await rawRows(store, `select * from ${table}`, [])) {
        for (const value of Object.values(row)) {
          dump.push(value instanceof ArrayBuffer ? Buffer.from(value).toString("latin1") : String(value));
        }
      }
    }
    expect(dump.join("\n")).not.toMatch(/private-|hush-token/);
    expect(dump.join("\n")).not.toContain(secret!.slice(6));
  });
});
