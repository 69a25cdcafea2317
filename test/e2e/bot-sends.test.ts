import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { removeFolder } from "../_setup/folders.ts";
import { closeWorld, keepWorld, until, type World } from "../_setup/world.ts";
import { png } from "../unit/media/samples.ts";

/** What bots say of their messages, and do with messages, as it goes over the wire. */

const SHOP = "31600000001";
const BEN = "4915100000002";

const BOT = `import { defineBot } from "parley";
export default defineBot({ enable: "all", session: { initial: () => ({ said: "" }) } }, (b) => {
  b.keyword("later", (ctx) => {
    ctx.reply("Later, @" + ctx.from.number, { sendAt: "4s", expires: "1h", quote: true, mentions: [ctx.from.number] });
    ctx.reply("Now");
  });
  b.keyword("once", (ctx) => {
    ctx.image({ bytes: Buffer.from("${png(40, 20).toString("base64")}", "base64") }, { viewOnce: true });
  });
  b.keyword("say", (ctx) => { ctx.session.said = ctx.reply("Wrng"); });
  b.keyword("fix", (ctx) => { ctx.edit(ctx.session.said, "Right"); });
  b.keyword("take back", (ctx) => { ctx.delete(ctx.session.said); });
  b.match(/^pass this on/, (ctx) => { ctx.forward(ctx.message.id, "${BEN}"); });
  b.keyword("signs", (ctx) => {
    ctx.markRead();
    ctx.typing();
    ctx.reply("Seen");
  });
  b.keyword("nothing", (ctx) => { ctx.reply("Plain"); });
});`;

let world: World;
let folder: string;
let people = 0;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "parley-bot-sends-"));
  writeFileSync(join(folder, "sender.ts"), BOT);
  world = await keepWorld({ env: { BOTS_DIR: folder } });
  await world.link(SHOP);
  await world.sim.addContact(BEN, { name: "Ben" });
});
afterAll(async () => {
  await closeWorld(world);
  removeFolder(folder);
});

async function newPerson(): Promise<string> {
  const number = String(4915100000100 + people++);
  await world.sim.addContact(number, { name: "Ana" });
  return number;
}

const ask = (person: string, text: string) => world.sim.sendText(person, SHOP, text);
const listed = async (person: string, text: string): Promise<Record<string, any> | undefined> => {
  const { gateway, key } = world;
  const { body } = await gateway.get(`/messages?sender=${SHOP}&chat=${person}`, { key });
  return body.data.find(({ message }: { message: string }) => message.startsWith(text));
};

it("a reply with sendAt waits and then arrives, with its quote and its mention", async () => {
  const { sim, gateway, key } = world;
  const ana = await newPerson();
  const { id } = await ask(ana, "later");
  const later = await sim.waitForMessage(ana, { text: `Later, @${ana}` }, 60_000);
  expect(later).toMatchObject({ quoted: { id }, mentions: [`${ana}@s.whatsapp.net`] });
  // What was said after it has left before it, because it waited for its time.
  expect((await sim.messages(ana)).map(({ text }) => text)).toEqual(["Now", later.text]);
  const { send_at: sendAt, by } = (await listed(ana, "Later"))!;
  expect(later.at).toBeGreaterThanOrEqual(Date.parse(sendAt));
  expect(by).toBe("bot:sender");
  const states = async (): Promise<string[]> => {
    const { body } = await gateway.get(`/messages/${later.id}`, { key });
    return body.data.history.map(({ state }: { state: string }) => state);
  };
  await until(async () => (await states()).includes("sent"));
  expect((await states()).slice(0, 3)).toEqual(["scheduled", "queued", "sent"]);
});

it("a picture with viewOnce can be opened once", async () => {
  const ana = await newPerson();
  await ask(ana, "once");
  const picture = await world.sim.waitForMessage(ana, { kind: "image" });
  expect(picture).toMatchObject({ viewOnce: true });
  expect((await world.sim.mediaOf(ana, picture.id)).bytes.length).toBeGreaterThan(0);
});

it("an edit changes the phone's message, and a deletion takes it away, by the id of an earlier turn", async () => {
  const { sim } = world;
  const ana = await newPerson();
  await ask(ana, "say");
  const { id } = await sim.waitForMessage(ana, { text: "Wrng" });
  await ask(ana, "fix");
  expect(await sim.waitForMessage(ana, { kind: "edit" })).toMatchObject({ text: "Right", target: id });
  await ask(ana, "take back");
  expect(await sim.waitForMessage(ana, { kind: "revoke" })).toMatchObject({ target: id });
  const stanzas = await sim.stanzas({ number: SHOP, tag: "message", direction: "in" });
  expect(stanzas.flatMap(({ attrs }) => attrs["edit"] ?? [])).toEqual(["1", "7"]);
});

it("a message that is handed on arrives marked as forwarded", async () => {
  const ana = await newPerson();
  await ask(ana, "pass this on: we close at six");
  expect(await world.sim.waitForMessage(BEN, { text: "pass this on: we close at six" })).toMatchObject({
    forwarded: 1,
    from: SHOP,
  });
  expect(await world.sim.messages(ana)).toEqual([]);
});

it("markRead gives a read receipt and typing is seen, where the bot asks for them", async () => {
  const { sim } = world;
  const ana = await newPerson();
  const receipts = async (): Promise<string[]> =>
    (await sim.stanzas({ contact: ana, tag: "receipt", direction: "out" }))
      .filter(({ attrs }) => attrs["type"] === "read")
      .map(({ attrs }) => attrs["id"]!);
  const typed = async (): Promise<string[]> =>
    (await sim.stanzas({ contact: ana, tag: "chatstate", direction: "out" })).flatMap(
      ({ children }) => children,
    );
  await ask(ana, "nothing");
  await sim.waitForMessage(ana, { text: "Plain" });
  expect([await receipts(), await typed()]).toEqual([[], []]);

  const { id } = await ask(ana, "signs");
  await sim.waitForMessage(ana, { text: "Seen" });
  await until(async () => (await receipts()).length === 1);
  expect(await receipts()).toEqual([id]);
  await until(async () => (await typed()).length === 2);
  expect(await typed()).toEqual(["composing", "paused"]);
});
