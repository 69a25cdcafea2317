import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeFolder } from "../_setup/folders.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { closeWorld, keepWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
let world: World;
let folder: string;
let people = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "parley-bots-"));
  world = await keepWorld({ env: { BOTS_DIR: folder } });
  await world.link(SHOP);
});

afterAll(async () => {
  await closeWorld(world);
  removeFolder(folder);
});

function write(file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

const saying = (word: string, text: string): string =>
  `export default (b) => { b.keyword(${JSON.stringify(word)}, (ctx) => ctx.reply(${JSON.stringify(text)})) }`;

interface Listed {
  id: string;
  error?: string;
  kept?: boolean;
}

async function reload(): Promise<Listed[]> {
  const answer = await world.gateway.post("/admin/bots/reload", {}, { key: world.gateway.adminToken });
  expect(answer.status).toBe(200);
  return answer.body["data"];
}

async function listed(id: string): Promise<Listed | undefined> {
  const { body } = await world.gateway.get("/bots", world);
  return body["data"].find((bot: Listed) => bot.id === id);
}

/** Somebody new writes to the shop. @returns how to read what comes back */
async function writing(text: string): Promise<{ id: string; answer(): Promise<string> }> {
  people += 1;
  const number = `4915100000${String(people).padStart(3, "0")}`;
  await world.sim.addContact(number, { name: `Person ${people}` });
  const { id } = await world.sim.sendText(number, SHOP, text);
  const answer = async () => (await world.sim.waitForMessage(number, { from: SHOP })).text ?? "";
  return { id, answer };
}

const ask = async (text: string): Promise<string> => (await writing(text)).answer();

/** Every connection of the number so far. */
async function connections(): Promise<{ opened_at: string; closed_at: string | null }[]> {
  const { body } = await world.gateway.get(`/devices/${SHOP}/audit`, world);
  return body["data"].connections;
}

describe("bots of BOTS_DIR are loaded again while the gateway runs", () => {
  it("changed, added and removed ones, with what they import and their texts, on the same connection", async () => {
    write(
      "greeter.mjs",
      `import { word } from "./_words.mjs"; import plain from "./_plain.js"; export default (b) => {
      b.keyword("hi", (ctx) => ctx.reply(word + " " + plain.text + " " + ctx.t("bye"))) }`,
    );
    write("_words.mjs", `export const word = "one";`);
    write("_plain.js", `module.exports = { text: "first" };`);
    write("locales/en.json", `{ "bye": "See you" }`);
    write("going.mjs", saying("going", "still here"));
    expect((await reload()).map(({ id }) => id)).toEqual(
      expect.arrayContaining(["going", "greeter", "ping"]),
    );
    expect(await ask("hi")).toBe("one first See you");
    expect(await ask("going")).toBe("still here");

    write("_words.mjs", `export const word = "two";`);
    write("_plain.js", `module.exports = { text: "second" };`);
    write("locales/en.json", `{ "bye": "Farewell" }`);
    write("sales/new.mjs", saying("new", "just added"));
    rmSync(join(folder, "going.mjs"));
    const ids = (await reload()).map(({ id }) => id);
    expect(ids).toContain("sales/new");
    expect(ids).not.toContain("going");
    expect(await ask("hi")).toBe("two second Farewell");
    expect(await ask("new")).toBe("just added");
    write("heard.mjs", saying("going", "somebody else"));
    await reload();
    expect(await ask("going")).toBe("somebody else");

    expect(await connections()).toEqual([expect.objectContaining({ closed_at: null })]);
  });

  it("whoever runs ends with the old code, and the next message meets the new one", async () => {
    let release!: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    const receiver = await startReceiver(async () => {
      await held;
      return "{}";
    });
    const slow = (text: string, wait: string): string =>
      `export default (b) => { b.keyword("slow", async (ctx) => { ${wait} ctx.reply("${text}"); }) }`;
    write("slow.mjs", slow("old", `await fetch("${receiver.url}", { method: "POST", body: "{}" });`));
    await reload();

    const first = await writing("slow");
    await until(() => receiver.events.length === 1);
    write("slow.mjs", slow("new", ""));
    await reload();
    expect(await ask("slow")).toBe("new");
    release();
    expect(await first.answer()).toBe("old");
  });

  it("a file that is broken now keeps its last good version, and says so until it is mended", async () => {
    write("menu-card.mjs", saying("card", "soup"));
    await reload();
    write("menu-card.mjs", "export default (b) => {");
    const broken = (await reload()).find(({ id }) => id === "menu-card");
    expect(broken).toMatchObject({ kept: true, error: expect.stringMatching(/SyntaxError/) });
    expect(JSON.stringify(broken)).not.toContain(folder);
    expect(world.gateway.output()).toMatch(/"bot":"menu-card".*its last good version stays on/);
    expect(await ask("card")).toBe("soup");

    write("menu-card.mjs", saying("card", "salad"));
    expect((await reload()).find(({ id }) => id === "menu-card")).not.toHaveProperty("error");
    expect(await ask("card")).toBe("salad");
  });

  it("kill -HUP does the same", async () => {
    write("signalled.mjs", saying("signal", "heard"));
    world.gateway.signal("SIGHUP");
    await until(async () => (await listed("signalled")) !== undefined);
    expect(await ask("signal")).toBe("heard");
    expect(await connections()).toEqual([expect.objectContaining({ closed_at: null })]);
  });

  it("a folder that is gone changes nothing, and is reported to whoever asked", async () => {
    write("stays.mjs", saying("stay", "staying"));
    await reload();
    renameSync(folder, `${folder}-away`);
    try {
      const answer = await world.gateway.post("/admin/bots/reload", {}, { key: world.gateway.adminToken });
      expect(answer.status).toBe(503);
      expect(answer.body["message"]).toMatch(/BOTS_DIR: .* is not a folder/);
      expect(await ask("stay")).toBe("staying");
    } finally {
      renameSync(`${folder}-away`, folder);
    }
  });

  it("only the operator may ask for it", async () => {
    const answer = await world.gateway.post("/admin/bots/reload", {}, world);
    expect(answer.status).toBe(401);
  });
});
