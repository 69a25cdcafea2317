import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runFork } from "../../src/app/fork-process.ts";
import { nothingSaid, type Incoming } from "../../src/model/messages.ts";
import type { ForkAsked } from "../../src/path/fork.ts";
import type { Happened } from "../../src/path/happened.ts";
import { fork } from "../../src/testing/fork/fork.ts";

const CHAT = "4915100000001@s.whatsapp.net";
const BEGUN = Date.UTC(2026, 0, 5, 10);

/** `Hello` was answered with `Hi Ana!`, `prices` with nothing. */
const HAPPENED: Happened[] = [came(1, "Hello"), left(1, "Hi Ana!"), came(2, "prices")];

function came(id: number, text: string): Happened {
  const message = { ...nothingSaid(), type: "text", text, id: `3A${id}`, pushName: "Ana", fromMe: false };
  return {
    kind: "came",
    at: BEGUN + id * 1000,
    id,
    message: { ...message, poll: null, media: null } as unknown as Incoming,
    mergedInto: null,
    by: null,
  };
}

function left(answers: number, text: string): Happened {
  const draft = { kind: "text", text, quote: null } as never;
  return {
    kind: "left",
    at: BEGUN + answers * 1000 + 1,
    id: answers,
    draft,
    waId: "3EB0",
    origin: "bot:shop",
    answers,
  };
}

/** A folder of bots, and what is asked of them. */
function asked(files: Record<string, string>, more: Partial<ForkAsked> = {}): ForkAsked {
  const path = mkdtempSync(join(tmpdir(), "parley-fork-test-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  mkdirSync(join(path, "sub"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return {
    chat: CHAT,
    happened: HAPPENED,
    bots: [{ id: "shop", priority: 50, config: null }],
    folders: [{ from: "folder", path }],
    more: [],
    settings: { takeoverMinutes: 30, botTimeoutMs: 5000 },
    ...more,
  };
}

const bot = (routes: string): string => `export default (b) => { ${routes} };`;
const SHOP = bot(`
  b.keyword("hello", (ctx) => ctx.reply("Welcome, " + ctx.from.name + "!"));
  b.keyword("prices", (ctx) => ctx.reply("Mugs are 9."));
  b.keyword("thanks", (ctx) => ctx.reply("Any time."));`);

it("what was answered then stands beside what is answered now, and the conversation goes on", async () => {
  const told: unknown[] = [];
  const forked = await fork(asked({ "shop.mjs": SHOP }, { more: ["thanks", { after: "20m" }] }), (turns) =>
    told.push(turns),
  );
  expect(forked.turns).toMatchObject([
    {
      said: ["Hello"],
      before: [{ who: "bot", text: "Hi Ana!" }],
      now: [{ who: "bot", text: "Welcome, Ana!" }],
    },
    { said: ["prices"], before: [], now: [{ text: "Mugs are 9." }] },
    { said: ["thanks"], before: null, now: [{ text: "Any time." }] },
    { who: "time", said: ["20m"], before: null, now: [] },
  ]);
  expect(forked).toMatchObject({ bots: [{ id: "shop", from: "folder" }], troubles: [] });
  expect(forked.story).toContain("bot: Any time.");
  // Before any bot was asked.
  expect(told).toMatchObject([
    [{ now: null, before: [{ text: "Hi Ana!" }] }, { now: null }, { before: null }, {}],
  ]);
});

it("the order of the number counts, not that of the files", async () => {
  const files = {
    "shop.mjs": SHOP,
    "first.mjs": `export default { priority: 90, routes(b) { b.keyword("hello", (ctx) => ctx.reply("Me first.")); } };`,
  };
  const bots = [
    { id: "first", priority: 1, config: null },
    { id: "shop", priority: 2, config: null },
  ];
  const forked = await fork(asked(files, { bots }), () => undefined);
  expect(forked.turns[0]!.now).toEqual([{ who: "bot", text: "Me first." }]);
});

it.each([
  ["fetch", "await fetch('https://crm.example/x')", /asked for GET https:\/\/crm\.example\/x/],
  ["ctx.fetch", "await ctx.fetch('https://crm.example/y')", /asked for GET https:\/\/crm\.example\/y/],
])("nothing leaves: %s", async (_what, code, trouble) => {
  const files = { "shop.mjs": bot(`b.keyword("hello", async (ctx) => { ${code}; ctx.reply("done"); });`) };
  const forked = await fork(asked(files), () => undefined);
  expect(forked.troubles).toEqual([expect.stringMatching(trouble)]);
  expect(forked.turns[0]!.now).toEqual([]);
});

it("a file that cannot be read is named, without the place of the folder", async () => {
  const wanted = asked({ "shop.mjs": "export default (b) => {" });
  const failed = fork(wanted, () => undefined);
  await expect(failed).rejects.toThrow(/The bot “shop” cannot be read/);
  await expect(failed).rejects.not.toThrow(wanted.folders[0]!.path);
});

it("in a process of its own it gets nothing of the gateway's, starts no program, and ends by its limit", async () => {
  process.env["SECRET_OF_THE_GATEWAY"] = "s3cret";
  onTestFinished(() => void delete process.env["SECRET_OF_THE_GATEWAY"]);
  const files = {
    "shop.mjs": `import childProcess from "node:child_process";
${bot(`
  b.keyword("hello", (ctx) => {
    let program = "refused";
    try { childProcess.execSync("true"); program = "ran"; } catch {}
    ctx.reply(String(process.env.SECRET_OF_THE_GATEWAY) + " " + program);
  });
  b.keyword("loop", () => { for (;;); });`)}`,
  };
  const forked = await runFork(asked(files));
  expect(forked.turns[0]!.now).toEqual([{ who: "bot", text: "undefined refused" }]);

  const endless = await runFork(asked(files, { more: ["loop"] }), 1000);
  expect(endless.troubles).toEqual([expect.stringContaining("within 1 s")]);
  expect(endless.turns[0]).toMatchObject({ before: [{ text: "Hi Ana!" }], now: null });
});
