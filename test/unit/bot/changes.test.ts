import { expect, it } from "vitest";
import { onHi, startBots } from "./harness.ts";

it("a bot edits what it said and takes it back, in the order of its calls", async () => {
  const ids: string[] = [];
  const bots = await startBots({
    talk: onHi((ctx) => {
      ids.push(ctx.reply("Wrng"), ctx.edit(ids[0] ?? "first", "Right"));
      ids.push(ctx.delete(ids[0]!));
    }),
  });
  const hi = bots.message("hi");
  await bots.say(hi);
  const sent = bots.line.sent.map(({ waId, draft }) => ({ waId, ...draft }));
  expect(sent).toMatchObject([
    { waId: ids[0], kind: "text", text: "Wrng" },
    { waId: ids[1], kind: "edit", of: "text", text: "Right", target: { chat: hi.chat, fromMe: true } },
    { waId: ids[2], kind: "revoke", target: { id: ids[0], chat: hi.chat, fromMe: true, participant: null } },
  ]);
});

it("says what is wrong with an id or a text", async () => {
  const errors: string[] = [];
  const bots = await startBots({
    talk: onHi((ctx) => {
      for (const wrong of [
        () => ctx.edit("not an id", "x"),
        () => ctx.edit("3EB0", " "),
        () => ctx.delete(undefined as never),
      ])
        try {
          wrong();
        } catch (error) {
          errors.push((error as Error).message);
        }
    }),
  });
  await bots.say("hi");
  expect(errors).toEqual([
    "ctx.edit() takes the id of a message, as ctx.reply() returns it.",
    "ctx.edit() got a blank text; WhatsApp has no blank messages.",
    "ctx.delete() takes the id of a message, as ctx.reply() returns it.",
  ]);
  expect(bots.line.sent).toEqual([]);
});

it("hands on what came and what it sent, marked as forwarded, and quotes a message by its id", async () => {
  const ids: string[] = [];
  const bots = await startBots({
    talk: onHi((ctx) => {
      if (ids.length === 0) ids.push(ctx.reply("Ours", { mentions: ["4915100000009"] }));
      else {
        ctx.forward(ctx.message.id, "4915100000007");
        ctx.forward(ids[0]!, "4915100000008", { mentions: ["4915100000006"] });
        ctx.reply("So you said", { quote: first.id });
        ctx.reply("So we said", { quote: ids[0]! });
        ctx.reply("Nobody said", { quote: "3EB0AAAA" });
      }
    }),
  });
  const first = bots.message("hi");
  await bots.say(first);
  await bots.say(bots.message("Hi"));
  const [, ...sent] = bots.line.sent;
  const to = (number: string) => sent.find(({ jid }) => jid.startsWith(number))!.draft;
  expect(to("4915100000007")).toEqual({ kind: "text", text: "Hi", forwarded: 1 });
  expect(to("4915100000008")).toEqual({
    kind: "text",
    text: "Ours",
    forwarded: 1,
    mentions: ["4915100000006@s.whatsapp.net"],
  });
  const replies = sent.filter(({ jid }) => jid === first.chat).map(({ draft }) => draft);
  expect(replies).toMatchObject([
    { text: "So you said", quote: { id: first.id, fromMe: false } },
    { text: "So we said", quote: { id: ids[0], fromMe: true } },
    { kind: "text", text: "Nobody said" },
  ]);
  expect(replies[2]).not.toHaveProperty("quote");
});

it("sends nothing when the message that it hands on is not known", async () => {
  const bots = await startBots({
    talk: onHi((ctx) => {
      ctx.reply("On its way");
      ctx.forward("3EB0AAAA", "4915100000007");
    }),
  });
  const decision = await bots.say("hi");
  expect(bots.line.sent).toEqual([]);
  expect(JSON.stringify(decision)).toContain("failed");
});
