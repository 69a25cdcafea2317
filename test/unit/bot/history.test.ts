import { describe, expect, it } from "vitest";
import type { PastMessage } from "../../../src/bot/index.ts";
import type { Routes } from "../../../src/bot/types.ts";
import { ANA, DEVICE, onHi, startBots } from "./harness.ts";

const BEN = 4915002;
const lines = (past: readonly PastMessage[]): string =>
  past.map(({ who, kind, text }) => `${who}${kind === "text" ? "" : ` ${kind}`}: ${text}`).join("\n");

const telling = (b: Routes): void => {
  b.keyword("hello", (ctx) => ctx.reply("Hello!"));
  b.match(/^last (\d+)$/, async (ctx) => ctx.reply(lines(await ctx.history(Number(ctx.match[1])))));
};

describe("ctx.history", () => {
  it("gives what this chat's people, bots and owner wrote, oldest first, the message itself last", async () => {
    const bots = await startBots({ desk: telling });
    await bots.say("hello");
    await bots.clock.advance(1_000);
    await bots.say("nobody answers this");
    await bots.ownerTypes("I am looking into it.");
    await bots.say("hello", BEN);
    await bots.clock.advance(40 * 60_000);
    await bots.run.path.submit({
      deviceId: DEVICE,
      destinations: [{ number: String(ANA), jid: `${ANA}@s.whatsapp.net` }],
      draft: { kind: "text", text: "From the office" },
    });
    bots.heard();
    await bots.clock.advance(1_000);
    await bots.say("last 20");
    expect(bots.heard()).toEqual([
      [
        "contact: hello",
        "bot: Hello!",
        "contact: nobody answers this",
        "owner: I am looking into it.",
        "owner: From the office",
        "contact: last 20",
      ].join("\n"),
    ]);
    await bots.clock.advance(1_000);
    await bots.say("last 2");
    expect(bots.heard()[0]).toMatch(/^bot: contact: hello[^]*\ncontact: last 2$/);
  });

  it("says who, what, when and which", async () => {
    let past: PastMessage[] = [];
    const bots = await startBots({ desk: onHi(async (ctx) => void (past = await ctx.history(5))) });
    const before = bots.message("earlier");
    await bots.write(before);
    await bots.settled();
    const hi = bots.message("hi");
    await bots.write(hi);
    await bots.settled();
    expect(past).toEqual([
      {
        id: before.id,
        who: "contact",
        by: null,
        from: String(ANA),
        kind: "text",
        text: "earlier",
        at: bots.clock.now(),
      },
      {
        id: hi.id,
        who: "contact",
        by: null,
        from: String(ANA),
        kind: "text",
        text: "hi",
        at: bots.clock.now(),
      },
    ]);
  });

  it("ends with the message that is asked about, whatever has come since", async () => {
    const seen: string[] = [];
    const bots = await startBots({
      desk: (b) =>
        b.fallback(async (ctx) => {
          seen.push((await ctx.history(9)).map(({ text }) => text).join(" "));
          ctx.reply(ctx.text.toUpperCase());
        }),
    });
    await bots.write(bots.message("a"), bots.message("b"), bots.message("c"));
    await bots.settled();
    expect(seen).toEqual(["a", "a A b", "a A b B c"].map((line) => expect.stringMatching(sorted(line))));
  });

  it("leaves out what was taken back, and has what was changed as it is now", async () => {
    const bots = await startBots({ desk: telling });
    const [first, second] = [bots.message("fisrt"), bots.message("a secret")];
    await bots.write(first, second);
    await bots.settled();
    await bots.say({ type: "edit", text: "first", targetId: first.id });
    await bots.say({ type: "revoke", text: "", targetId: second.id });
    await bots.say("last 9");
    expect(bots.heard()).toEqual(["contact: first\ncontact: last 9"]);
  });

  it("is never more than 200 messages, nor 262,144 characters", async () => {
    const sizes: number[] = [];
    const bots = await startBots({
      desk: onHi(async (ctx) => {
        const past = await ctx.history(200);
        sizes.push(
          past.length,
          past.reduce((sum, { text }) => sum + text.length, 0),
        );
      }),
    });
    const long = "x".repeat(60_000);
    await bots.write(...Array.from({ length: 6 }, () => bots.message(long)));
    await bots.settled();
    await bots.say("hi");
    expect(sizes).toEqual([5, 240_002]);
    await bots.write(...Array.from({ length: 230 }, (_, index) => bots.message(`${index}`)));
    await bots.settled();
    await bots.say("hi");
    expect(sizes.slice(2)[0]).toBe(200);
  });

  it.each([0, 201, 1.5, "3", undefined])("takes no number but 1 to 200: %s", async (count) => {
    const bots = await startBots({ desk: onHi((ctx) => ctx.history(count as number)) });
    expect(await bots.say("hi")).toMatchObject({
      by: null,
      trail: [{ detail: expect.stringMatching(/^TypeError/) }],
    });
    expect(bots.log.lines.join("")).toContain("from 1 to 200");
  });

  it("is read by index, however many messages there are", async () => {
    const bots = await startBots({ desk: telling });
    const insert = `INSERT INTO inbox (device_id, chat, sender, wa_id, from_me, type, state, timestamp, received_at, body)
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
SELECT 1, 'c' || (i % 500), 's', 'w' || i, 0, 'text', 'done', 0, i, x'00' FROM n`;
    await bots.run.store.writer.commit([{ sql: insert, args: [] }]);
    await bots.say("last 5");
    expect(bots.heard()).toEqual(["contact: last 5"]);
  });
});

/** The order of what came in one millisecond is that of its arrival among itself. */
const sorted = (line: string): RegExp => new RegExp(`${line.at(-1)}$`);

describe("f.history", () => {
  it("is read in a step, and the error says so elsewhere", async () => {
    const bots = await startBots({
      desk: (b) => {
        const good = b.flow("good", async (f) => {
          const count = await f.step("count", async () => (await f.history(9)).length);
          const name = await f.text("name", `${count}?`);
          f.say(`${name} ${count}`);
        });
        const bad = b.flow("bad", { onError: { say: "Oops." } }, async (f) => void (await f.history(9)));
        b.keyword("good", (ctx) => ctx.start(good));
        b.keyword("bad", (ctx) => ctx.start(bad));
      },
    });
    await bots.say("good");
    await bots.say("Ana");
    expect(bots.heard()).toEqual(["1?", "Ana 1"]);
    await bots.say("bad");
    expect(bots.heard()).toEqual(["Oops."]);
    expect(bots.log.lines.join("")).toContain("inside f.step");
  });
});
