// oxlint-disable vitest/expect-expect -- the chat expects
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineBot, fields } from "parley";
import {
  createTestChat,
  crashEverywhere,
  type TestBots,
  type TestChat,
  type TestChatOptions,
} from "parley/testing";

const open: TestChat[] = [];
afterEach(async () => {
  for (const chat of open.splice(0)) await chat.close();
});

async function chatWith(bots: TestBots, options?: TestChatOptions): Promise<TestChat> {
  const chat = await createTestChat(bots, options);
  open.push(chat);
  return chat;
}

const greeting = (says: string) => defineBot((b) => b.keyword("hi", (ctx) => ctx.reply(says)));

/** A form whose second question is another after the deploy. */
const order = (...questions: string[]) =>
  defineBot({ session: { initial: () => ({ orders: 0 }) } }, (b) => {
    const form = b.form(
      "order",
      Object.fromEntries(questions.map((name) => [name, fields.text(`Your ${name}?`)])),
      (ctx, answers) => {
        ctx.session.orders += 1;
        ctx.reply(`${ctx.session.orders}: ${Object.values(answers).join(", ")}`);
      },
    );
    b.keyword("order", (ctx) => ctx.start(form));
  });

describe("settings that do not fit", () => {
  const config = z.object({ opens: z.number(), street: z.object({ name: z.string() }) });
  const shop = defineBot({ config }, (b) => b.keyword("x", () => {}));

  it("are named, each field, and so are bots that there are not", async () => {
    const wrong = { opens: "nine", street: {} };
    await expect(createTestChat([shop], { config: wrong })).rejects.toThrow(
      /^Bot "bot": config opens: .*\nBot "bot": config street\.name: /,
    );
    await expect(createTestChat({ shop, ping: greeting("hi") }, { config: { shpo: {} } })).rejects.toThrow(
      /^config: shpo is none of the bots.* they are: ping, shop\.$/,
    );
  });

  it("of the test itself as well", async () => {
    const options = { takeOverMinutes: 5, botTimeoutMs: -1 } as TestChatOptions;
    await expect(createTestChat([greeting("hi")], options)).rejects.toThrow("takeOverMinutes");
    await expect(createTestChat([greeting("hi")], { botTimeoutMs: -1 })).rejects.toThrow(/^botTimeoutMs /);
    await expect(createTestChat([greeting("hi")], { now: "noon" })).rejects.toThrow(
      'now: "noon" is no time.',
    );
  });
});

describe("chat.deploy", () => {
  it("goes on with other code where the conversation stood", async () => {
    const chat = await chatWith([order("dish", "size")]);
    await chat.user("order");
    await chat.expect("Your dish?");

    await chat.deploy([order("dish", "street", "size")]);
    await chat.user("soup");
    await chat.expect("Your street?");
    await chat.user("Harbour");
    await chat.user("large");

    await chat.expect("Your size?");
    await chat.expect("1: soup, Harbour, large");
    expect(await chat.session()).toEqual({ orders: 1 });
  });

  it("is what runs after a kill as well, once and again", async () => {
    const chat = await chatWith([greeting("one")]);
    await chat.deploy([greeting("two")]);
    await chat.kill();
    await chat.user("hi");
    await chat.expect("two");
    await chat.deploy(() => [greeting("three")]);
    await chat.user("hi");
    await chat.expect("three");
  });

  it("switches on bots that come with it, and takes settings and texts", async () => {
    const card = defineBot({ enable: "bound", config: z.object({ card: z.string() }) }, (b) => {
      b.keyword("card", (ctx) => ctx.reply(`${ctx.t("at")} ${ctx.config.card}`));
    });
    const chat = await chatWith({ hello: greeting("one") });

    const config = { card: { card: "Harbour" } };
    await chat.deploy({ hello: greeting("two"), card }, { config, locales: { en: { at: "We are at" } } });
    await chat.user("card");
    await chat.expect("We are at Harbour");
    await chat.deploy({ hello: greeting("two"), card });
    await chat.user("card");
    await chat.expect("We are at Harbour");
    await chat.user("hi");
    await chat.expect("two");
  });

  it("leaves all as it is when the bots are none, or refuse their settings", async () => {
    const chat = await chatWith([greeting("one")]);
    const strict = defineBot({ config: z.object({ open: z.number() }) }, (b) => b.keyword("x", () => {}));

    await expect(chat.deploy([])).rejects.toThrow("needs a bot");
    await expect(chat.deploy([{} as never])).rejects.toThrow('The bot "bot" cannot be used');
    await expect(chat.deploy([strict], { config: { open: "nine" } })).rejects.toThrow(
      /^Bot "bot": config open: .*number/,
    );
    await chat.user("hi");
    await chat.expect("one");
  });

  it("is a step of a script that is killed everywhere", async () => {
    const { runs } = await crashEverywhere([order("dish")], async (chat) => {
      await chat.user("order");
      await chat.deploy([order("dish", "size")]);
      await chat.user("soup");
      await chat.user("large");
      await chat.expect("Your dish?");
      await chat.expect("Your size?");
      await chat.expect("1: soup, large");
    });
    expect(runs).toBe(19);
  }, 120_000);
});
