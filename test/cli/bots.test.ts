import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { command, runCommand } from "../_setup/command.ts";
import { closeWorld, keepWorld, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function temporaryBots(): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-bots-"));
  folders.push(folder);
  return folder;
}

describe("npm run parley -- bots new", () => {
  it("makes a bot from each template, and a test of it that passes", { timeout: 180_000 }, async () => {
    const env = { BOTS_DIR: temporaryBots() };
    for (const template of ["hello", "menu", "form"]) {
      const said = await command({ env }, "bots", "new", `sales/${template}`, "--template", template);
      expect(said).toMatch(
        new RegExp(`made .*sales/${template}\\.mjs\\nmade .*sales/${template}\\.test\\.mjs\\n`),
      );
    }
    expect(await command({ env }, "bots", "test")).toMatch(/Tests .*3 passed/);

    for (const template of ["hello", "menu", "form"]) {
      const file = join(env.BOTS_DIR, `sales/${template}.mjs`);
      writeFileSync(file, readFileSync(file, "utf8").replaceAll(/Hello|9 to 18|Thank you/g, "Wrong"));
    }
    const failed = await runCommand({ env }, "bots", "test");
    expect(failed.text).toMatch(/Tests .*3 failed/);
    expect(failed.code).toBe(1);
  });

  it("overwrites nothing", async () => {
    const env = { BOTS_DIR: temporaryBots() };
    writeFileSync(join(env.BOTS_DIR, "mine.js"), "module.exports = () => {};");
    writeFileSync(join(env.BOTS_DIR, "other.test.mjs"), "// mine");
    for (const id of ["mine", "other"]) {
      const { code, text } = await runCommand({ env }, "bots", "new", id);
      expect(text).toMatch(/is there already; nothing was changed\. Choose another id\.\n$/);
      expect(code).toBe(1);
    }
    expect(existsSync(join(env.BOTS_DIR, "mine.mjs"))).toBe(false);
    expect(readFileSync(join(env.BOTS_DIR, "other.test.mjs"), "utf8")).toBe("// mine");
  });

  it.each([
    ["../out", "cannot be the id of a bot"],
    ["_hidden", "cannot be the id of a bot"],
    ["sales/index", "cannot be the id of a bot"],
    ["Menü", "cannot be the id of a bot"],
  ])("refuses the id %s and says what one may be", async (id, why) => {
    const env = { BOTS_DIR: temporaryBots() };
    const { code, text } = await runCommand({ env }, "bots", "new", id);
    expect([code, text]).toEqual([1, expect.stringContaining(why)]);
  });

  it("names the templates when it is given another, and how to begin a test when there is none", async () => {
    const env = { BOTS_DIR: temporaryBots() };
    const unknown = await runCommand({ env }, "bots", "new", "a", "--template", "shop");
    expect(unknown.text).toContain("There is no template “shop”. There are: hello, menu, form.");
    const none = await runCommand({ env }, "bots", "test", "nobody");
    expect(none.text).toContain("npm run parley -- bots new");
    expect(none.code).toBe(1);
  });
});

describe("npm run parley -- bots, against a gateway", () => {
  let world: World;
  let botsDir: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    botsDir = mkdtempSync(join(tmpdir(), "parley-bots-"));
    writeFileSync(
      join(botsDir, "greeter.mjs"),
      `const config = { "~standard": { version: 1, vendor: "test", validate: (value) =>
        typeof value.name === "string" || value.name === undefined ? { value } : { issues: [{ message: "must be a text", path: ["name"] }] } } };
      export default { enable: "bound", priority: 40, config, routes(b) {
        b.keyword("ping", (ctx) => ctx.reply("from " + (ctx.config.name ?? "nobody"))); } };`,
    );
    world = await keepWorld({ env: { BOTS_DIR: botsDir } });
    await world.link(SHOP);
    await world.sim.addContact(ANA, { name: "Ana" });
    env = { PORT: String(world.gateway.port), DATA_DIR: world.gateway.dataDir, BOTS_DIR: botsDir };
  });

  afterAll(async () => {
    await closeWorld(world);
    rmSync(botsDir, { recursive: true, force: true });
  });

  let since = 0;
  async function ask(text: string): Promise<string> {
    await world.sim.sendText(ANA, SHOP, text);
    const message = await world.sim.waitForMessage(ANA, { from: SHOP, since });
    since = message.seq;
    return message.text ?? "";
  }

  it("bind switches a bot on, off, before others and with settings, at once, and leaves the others", async () => {
    expect(await command({ env }, "bots", "bind", SHOP, "ping")).toBe(
      `ping answers at +${SHOP}, with priority 50.\n`,
    );
    expect(await ask("ping")).toBe("pong");
    const config = '{"name":"Berlin"}';
    await command({ env }, "bots", "bind", SHOP, "greeter", "--config", config);
    expect(await ask("ping")).toBe("from Berlin");
    // What is not said stays as it is.
    await command({ env }, "bots", "bind", SHOP, "greeter", "--priority", "90");
    expect(await ask("ping")).toBe("pong");
    expect(await command({ env }, "bots", "bind", SHOP, "ping", "--off")).toBe(`ping is off at +${SHOP}.\n`);
    expect(await ask("ping")).toBe("from Berlin");
    await command({ env }, "bots", "bind", SHOP, "greeter", "--config", "none", "--priority", "own");
    expect(await ask("ping")).toBe("from nobody");
  });

  it.each([
    [["greeter", "--config", '{"name":5}'], /Bot "greeter": config .*name.*must be a text/],
    [["greeter", "--config", "{name:"], /--config must be a JSON object in single quotes/],
    [["greeter", "--priority", "101"], /--priority must be a whole number from 0/],
    [["nobody"], /There is no bot with this id/],
  ])("bind %j is refused with the reason, and changes nothing", async (args, why) => {
    const path = `/devices/${SHOP}/bots`;
    const before = await world.gateway.get(path, world);
    const { code, text } = await runCommand({ env }, "bots", "bind", SHOP, ...args);
    expect(text).toMatch(why);
    expect(code).toBe(1);
    expect((await world.gateway.get(path, world)).body).toEqual(before.body);
  });

  it("routes shows who is asked in which order, and who hides whom", async () => {
    await command({ env }, "bots", "bind", SHOP, "ping", "--priority", "60");
    await command({ env }, "bots", "bind", SHOP, "greeter", "--priority", "20");
    const lines = (await command({ env }, "bots", "routes", SHOP)).split("\n");
    expect(lines.slice(0, 3)).toEqual([
      "PRIORITY  BOT      KIND     PATTERN  CHATS",
      "20        greeter  keyword  ping     dm",
      "60        ping     keyword  ping     dm",
    ]);
    expect(lines.join("\n")).toContain(
      '! ping (keyword:ping) is asked only when greeter (keyword:ping) passes: both take "ping".',
    );
    expect(await command({ env }, "bots", "routes")).toMatch(/^No bot is on where nothing is bound\./);
  });

  it("reload loads what is new, and names what is broken", async () => {
    await command({ env }, "bots", "new", "fresh");
    expect(await command({ env }, "bots", "reload")).toMatch(/^Loaded again: .*fresh, greeter/);
    expect(await command({ env }, "bots", "list")).toMatch(/^fresh +50 +where bound +hi, hello$/m);
    writeFileSync(join(botsDir, "fresh.mjs"), "export default (b) => {");
    const broken = await runCommand({ env }, "bots", "reload");
    expect(broken.text).toMatch(/✗ fresh: SyntaxError.* Its last good version goes on\.\n/);
    expect(broken.code).toBe(1);
    expect(await command({ env }, "bots", "list")).toMatch(/^fresh .*hi, hello \(its last good version/m);
  });
});
