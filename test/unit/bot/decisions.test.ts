import { describe, expect, it } from "vitest";
import { createDecisions } from "../../../src/pipeline/decisions.ts";
import { sentencesOf } from "../../../src/cli/why.ts";
import { DEVICE, jid } from "../outbox/harness.ts";
import { witness } from "../pipeline/harness.ts";
import { ANA, bot, startBots } from "./harness.ts";

const shop = bot((b) => {
  const order = b.form("order", { name: b.fields.text("Name?") }, (ctx, { name }) =>
    ctx.reply(`Thanks ${name}`),
  );
  b.keyword("order", (ctx) => ctx.start(order));
  b.keyword("pass", (ctx) => ctx.next());
  b.keyword("fail", () => Promise.reject(new Error("no")));
});

describe("decisions in store", () => {
  it("are listed newest first, by message, chat, page and number, and say what was understood", async () => {
    const bots = await startBots({ shop });
    for (const words of ["order", "Ana", "else"]) {
      await bots.clock.advance(1000);
      await bots.say(words);
    }
    await bots.clock.advance(1000);
    await bots.say("order", ANA + 1);
    const { list } = createDecisions(bots.run.store);

    const all = await list({ deviceId: DEVICE, limit: 10 });
    expect(all.total).toBe(4);
    expect(all.decisions.map(({ chat, type, by, route }) => [chat, type, by, route])).toEqual([
      [String(ANA + 1), "text", "bot:shop", "keyword:order"],
      [String(ANA), "text", null, null],
      [String(ANA), "text", "bot:shop", "form:order"],
      [String(ANA), "text", "bot:shop", "keyword:order"],
    ]);
    const understood = all.decisions[2]!;
    expect(understood.trail).toEqual([
      { by: "bot:shop", outcome: "answered", route: "form:order", detail: "name answered; complete" },
    ]);
    expect((await list({ deviceId: DEVICE, message: understood.messageId, limit: 10 })).decisions).toEqual([
      understood,
    ]);
    expect((await list({ deviceId: DEVICE, chats: [jid(ANA)], limit: 10 })).total).toBe(3);
    expect((await list({ deviceId: DEVICE + 1, limit: 10 })).total).toBe(0);
    const [first] = (await list({ deviceId: DEVICE, limit: 1 })).decisions;
    const rest = await list({ deviceId: DEVICE, limit: 2, before: first!.messageId });
    expect(rest.decisions).toEqual(all.decisions.slice(1, 3));
    const older = await list({ deviceId: DEVICE, limit: 10, before: new Date(understood.at).toISOString() });
    expect(older.decisions).toEqual(all.decisions.slice(3));
    await expect(list({ deviceId: DEVICE, limit: 10, before: "nonsense" })).rejects.toMatchObject({
      code: "INVALID_PARAMETERS",
      details: { fields: { before: [expect.stringContaining("the id of a record")] } },
    });
  });

  it("of a chat hold those made while only its LID was known", async () => {
    const bots = await startBots({ shop });
    await bots.say({ text: "order", chatKey: "77@lid", sender: "77@lid", lid: "77@lid", number: null });
    await bots.run.store.writer.commit([
      {
        sql: "INSERT INTO lid_map (device_id, lid_user, pn_user, seen_at) VALUES (?, '77', ?, 0)",
        args: [DEVICE, String(ANA)],
      },
    ]);
    const { list } = createDecisions(bots.run.store);
    expect((await list({ deviceId: DEVICE, chats: [jid(ANA)], limit: 10 })).total).toBe(1);
    expect((await list({ deviceId: DEVICE, chats: [jid(ANA + 1)], limit: 10 })).total).toBe(0);
  });
});

describe("why a message was answered or not", () => {
  it("is said in sentences: who answered, who was asked before, who was not, and what held it back", async () => {
    const webhook = witness();
    const bots = await startBots(
      {
        shop,
        z: bot((b) => b.keyword("pass", (ctx) => ctx.reply("z")), { limits: { repliesPerChat: "1/min" } }),
      },
      { webhook: webhook.answerer },
    );
    const why = async (words: string) => {
      const message = bots.message(words);
      await bots.write(message);
      await bots.settled();
      const { decisions } = await createDecisions(bots.run.store).list({
        deviceId: DEVICE,
        message: message.id,
        limit: 1,
      });
      return sentencesOf({ ...decisions[0]!, message_id: message.id, at: "" });
    };

    await why("order");
    expect(await why("Ana")).toEqual([
      "bot:shop answered (form:order, name answered; complete).",
      "The webhook got the message.",
    ]);
    expect(await why("pass")).toEqual([
      "bot:shop passed it on (keyword:pass).",
      "bot:z answered (keyword:pass).",
      "The webhook got the message.",
    ]);
    expect(await why("pass")).toEqual([
      "bot:shop passed it on (keyword:pass).",
      "bot:z was not asked (keyword:pass, it had reached its limit of answers in this chat).",
      "Nobody answered.",
    ]);
    expect(await why("fail")).toEqual([
      expect.stringMatching(/^bot:shop failed \(keyword:fail, Error at decisions\.test\.ts:\d+\)\.$/),
      "Nobody answered.",
    ]);
    expect(await why("something")).toEqual(["No bot has a route for the message.", "Nobody answered."]);
    await bots.ownerTypes("me");
    expect((await why("order"))[0]).toBe("A person has taken over the chat: bots pause there.");

    const alone = await startBots({ shop });
    const hi = bots.message("order");
    await alone.write(hi);
    await alone.settled();
    const { decisions } = await createDecisions(alone.run.store).list({ deviceId: DEVICE, limit: 1 });
    expect(sentencesOf({ ...decisions[0]!, message_id: hi.id, at: "" })).toEqual([
      "bot:shop answered (keyword:order, order begun).",
      "The webhook was not asked.",
    ]);
  });

  it("names listeners, which answer nothing and take no bot's place", () => {
    const trail = [{ by: "listeners", outcome: "forwarded" }];
    const decision = {
      message_id: "3A",
      chat: "1",
      type: "text",
      by: null,
      route: null,
      guard: null,
      at: "",
    };
    expect(sentencesOf({ ...decision, trail })).toEqual([
      "No bot has a route for the message.",
      "Listeners got the message.",
      "Nobody answered.",
    ]);
  });
});
