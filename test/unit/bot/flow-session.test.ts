import { describe, expect, it } from "vitest";
import { defineBot } from "../../../src/bot/index.ts";
import type { Bots } from "./harness.ts";
import { startBots } from "./harness.ts";

interface Session {
  visits: number;
  name?: string;
  notes: string[];
}
const session = { initial: (): Session => ({ visits: 0, notes: [] }) };
/** Says what is stored, and lets another route change it. */
const bot = (body: Parameters<typeof withFlow>[0]): Bots => ({ clinic: withFlow(body) });
const withFlow = (
  body: (
    f: import("../../../src/bot/index.ts").FlowContext<undefined, Readonly<Record<string, unknown>>, Session>,
  ) => unknown,
) =>
  defineBot({ session }, (b) => {
    const flow = b.flow("visit", body as never);
    b.keyword("go", (ctx) => ctx.start(flow));
    b.keyword("note", (ctx) => {
      ctx.session.notes.push("noted");
      ctx.reply("Noted.");
    });
    b.keyword("stored", (ctx) => ctx.reply(JSON.stringify(ctx.session)));
  });

describe("f.session", () => {
  it("counts once what the code changes, however often it runs, over kills", async () => {
    const bots = await startBots(
      bot(async (f) => {
        f.session.visits += 1;
        const name = await f.text("name", `Visit ${f.session.visits}. Your name?`);
        f.session.name = name;
        await f.text("more", `${f.session.name}, more?`);
        f.session.visits += 10;
      }),
    );
    await bots.say("go");
    await bots.kill();
    await bots.say("Ana");
    await bots.say("no");
    await bots.say("stored");
    await bots.say("go");
    expect(bots.heard()).toEqual([
      "Visit 1. Your name?",
      "Ana, more?",
      '{"visits":11,"notes":[],"name":"Ana"}',
      "Visit 12. Your name?",
    ]);
  });

  it("leaves what other routes change meanwhile, and sees it in the next turn", async () => {
    const bots = await startBots(
      bot(async (f) => {
        const held = f.session;
        await f.number("age", `${held.notes.length} notes. Your age?`);
        held.name = "held";
        f.say(`${f.session.notes.length} notes.`);
      }),
    );
    await bots.say("go");
    await bots.say("note");
    await bots.say("42");
    await bots.say("stored");
    expect(bots.heard()).toEqual([
      "0 notes. Your age?",
      "Noted.",
      "0 notes. Your age?",
      "1 notes.",
      '{"visits":0,"notes":["noted"],"name":"held"}',
    ]);
  });

  it("goes the same way in every run, though it has changed what it reads", async () => {
    const bots = await startBots(
      bot(async (f) => {
        if (f.session.name === undefined) {
          f.session.name = await f.text("name", "Your name?");
          f.say("Nice to meet you.");
        }
        await f.text("what", `What is it, ${f.session.name}?`);
        f.say(`Noted, ${f.session.name}.`);
      }),
    );
    for (const words of ["go", "Ana", "pain", "go", "cough"]) await bots.say(words);
    expect(bots.heard()).toEqual([
      "Your name?",
      "Nice to meet you.",
      "What is it, Ana?",
      "Noted, Ana.",
      "What is it, Ana?",
      "Noted, Ana.",
    ]);
  });

  it("is seen by the run that begins anew, and keeps nothing of a turn that fails", async () => {
    const bots = await startBots(
      bot(async (f) => {
        f.session.visits += 1;
        if (f.session.visits < 3) await f.again(undefined);
        const answer = await f.text("name", `Round ${f.session.visits}?`);
        f.session.name = answer;
        if (answer === "bad") throw new Error("broken");
      }),
    );
    await bots.say("go");
    await bots.say("bad");
    await bots.say("stored");
    expect(bots.heard()).toEqual([
      "Round 3?",
      "Sorry, something went wrong on our side. Please write again.",
      '{"visits":3,"notes":[]}',
    ]);
  });

  it("cannot be used in a step, nor by a bot that has none", async () => {
    const inStep = await startBots(
      bot(async (f) => {
        await f.step("count", () => void (f.session.visits += 1));
      }),
    );
    await inStep.say("go");
    expect(inStep.log.text()).toMatch(/f\.session was used inside f\.step/);
    const none = await startBots({
      clinic: (b) => {
        const flow = b.flow("visit", (f) =>
          f.say(String((f as never as { session: Session }).session.visits)),
        );
        b.keyword("go", (ctx) => ctx.start(flow));
      },
    });
    await none.say("go");
    expect(none.log.text()).toMatch(/has no `session` option/);
  });
});

describe("what else a flow can do in a chat", () => {
  it("speaks another language from where it is chosen, and keeps it", async () => {
    const bots = await startBots(
      bot(async (f) => {
        const language = await f.choice("language", "Language?", ["en", "es"]);
        f.setLocale(language);
        f.say(f.t("hello"));
        await f.confirm("sure", "sure");
        f.say(f.t("hello"));
      }),
      { locales: { en: { hello: "Hello", sure: "Sure?" }, es: { hello: "Hola", sure: "¿Seguro?" } } },
    );
    await bots.say("go");
    await bots.say("es");
    await bots.kill();
    await bots.say("sí");
    expect(bots.heard()).toEqual(["Language?\n\n1. en\n2. es", "Hola", "¿Seguro?", "Hola"]);
  });

  it("reacts once, to the message that is answered", async () => {
    const bots = await startBots(
      bot(async (f) => {
        await f.text("name", "Your name?");
        f.react("👍");
        await f.text("more", "More?");
      }),
    );
    await bots.say("go");
    const name = bots.message("Ana");
    await bots.say(name);
    await bots.say("no");
    const reactions = bots.line.sent.filter(({ draft }) => draft.kind === "reaction");
    expect(reactions).toMatchObject([{ draft: { emoji: "👍", target: { id: name.id } } }]);
  });

  it("has the bytes of a file that came in an earlier turn, in a step", async () => {
    const files = {
      read: async ({ inboxId }: { inboxId: number }) => ({
        bytes: Buffer.from(`file of ${inboxId}`),
        mimetype: "image/jpeg",
        fileName: "",
      }),
    };
    const bots = await startBots(
      bot(async (f) => {
        const photo = await f.file("photo", "A photo?");
        await f.text("what", "What is it?");
        const size = await f.step("size", async () => (await f.bytes(photo)).bytes.toString());
        f.say(size);
        const gone = { ...photo, messageId: "GONE" };
        f.say(String(await f.step("gone", () => f.bytes(gone)).catch((error: Error) => error.message)));
        await f.bytes(photo);
      }),
      { files },
    );
    await bots.say("go");
    const media = { kind: "image", mimetype: "image/jpeg", fileName: "", size: 3 } as never;
    const photo = bots.message({ type: "image", text: "", media });
    await bots.write(photo);
    await bots.settled();
    const row = await bots.rows(`SELECT id AS n FROM inbox WHERE wa_id = '${photo.id}'`);
    await bots.kill();
    await bots.say("a tooth");
    expect(bots.heard().slice(0, 2)).toEqual(["A photo?", "What is it?"]);
    expect(bots.log.text()).toMatch(/f\.bytes\(\) downloads at each run/);
    expect(row).toBeGreaterThan(0);
  });
});
