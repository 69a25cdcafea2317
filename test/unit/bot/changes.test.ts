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
