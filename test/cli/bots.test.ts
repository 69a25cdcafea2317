import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { repositoryRoot } from "../../src/config.ts";
import { command, runCommand } from "../_setup/command.ts";
import { removeFolder } from "../_setup/folders.ts";
import { runGateway } from "../_setup/gateway.ts";
import { closeWorld, keepWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) removeFolder(folder);
});

function temporaryBots(): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-bots-"));
  folders.push(folder);
  return folder;
}

describe("npm run parley -- bots new", () => {
  it(
    "makes a bot from each template, and a test that passes until the bot says something else",
    { timeout: 180_000 },
    async () => {
      const env = { BOTS_DIR: temporaryBots() };
      for (const template of ["hello", "menu", "form", "flow"]) {
        const said = await command({ env }, "bots", "new", `sales/${template}`, "--template", template);
        expect(said).toMatch(
          new RegExp(`made .*sales/${template}\\.mjs\\nmade .*sales/${template}\\.test\\.mjs\\n`),
        );
      }
      // One that says something else than its test expects, beside those that are as they were made.
      for (const end of [".mjs", ".test.mjs"]) {
        const text = readFileSync(join(env.BOTS_DIR, `sales/hello${end}`), "utf8");
        const wrong =
          end === ".mjs" ? text.replaceAll("Hello", "Wrong") : text.replaceAll("hello.mjs", "wrong.mjs");
        writeFileSync(join(env.BOTS_DIR, `sales/wrong${end}`), wrong);
      }

      const tested = await runCommand({ env }, "bots", "test");
      expect(tested.text).toMatch(/Tests .*1 failed.* 4 passed/);
      expect(tested.text).toMatch(/FAIL .*sales\/wrong\.test\.mjs/);
      expect(tested.code).toBe(1);
    },
  );

  it("overwrites nothing", async () => {
    const env = { BOTS_DIR: temporaryBots() };
    writeFileSync(join(env.BOTS_DIR, "mine.js"), "module.exports = () => {};");
    writeFileSync(join(env.BOTS_DIR, "other.test.mjs"), "// mine");
    for (const id of ["mine", "other"]) {
      const { code, text } = await runCommand({ env }, "bots", "new", id);
      expect(text).toMatch(/already exists; nothing was changed\. Choose another id\.\n$/);
      expect(code).toBe(1);
    }
    expect(existsSync(join(env.BOTS_DIR, "mine.mjs"))).toBe(false);
    expect(readFileSync(join(env.BOTS_DIR, "other.test.mjs"), "utf8")).toBe("// mine");
  });

  it.each([
    ["../out", "is not a valid bot id"],
    ["_hidden", "is not a valid bot id"],
    ["sales/index", "is not a valid bot id"],
    ["Menü", "is not a valid bot id"],
  ])("refuses the id %s and says what one may be", async (id, why) => {
    const env = { BOTS_DIR: temporaryBots() };
    const { code, text } = await runCommand({ env }, "bots", "new", id);
    expect([code, text]).toEqual([1, expect.stringContaining(why)]);
  });

  it("names the templates when it is given another, and how to begin a test when there is none", async () => {
    const env = { BOTS_DIR: temporaryBots() };
    const unknown = await runCommand({ env }, "bots", "new", "a", "--template", "shop");
    expect(unknown.text).toContain("There is no template “shop”. There are: hello, menu, form, flow.");
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
    world = await keepWorld({ env: { BOTS_DIR: botsDir, BOTS_STRICT: "1" } });
    await world.link(SHOP);
    await world.sim.addContact(ANA, { name: "Ana" });
    env = { PORT: String(world.gateway.port), DATA_DIR: world.gateway.dataDir, BOTS_DIR: botsDir };
  });

  afterAll(async () => {
    await closeWorld(world);
    removeFolder(botsDir);
  });

  let since = 0;
  async function ask(text: string): Promise<string> {
    await world.sim.sendText(ANA, SHOP, text);
    const message = await world.sim.waitForMessage(ANA, { from: SHOP, since });
    since = message.seq;
    return message.text ?? "";
  }

  it("new prints commands that work as they stand", { timeout: 180_000 }, async () => {
    const said = await command({ env }, "bots", "new", "sales/typed");
    const commands = said.match(/(?<=^ {2}).+$/gm) ?? [];
    expect(commands.map((line) => line.replace(/^.*npm run /, ""))).toEqual([
      "parley -- bots test sales/typed",
      "dev",
      "parley -- bots reload",
      `parley -- bots bind ${SHOP} sales/typed`,
    ]);
    for (const line of commands) {
      const typed = line.endsWith(" dev") ? `${line} -- --help` : line;
      // Nothing is set but what stands in the line.
      await promisify(execFile)("sh", ["-c", typed], {
        cwd: repositoryRoot(),
        env: { PATH: process.env["PATH"], HOME: botsDir },
      });
    }
    expect(await ask("hi")).toBe("Hello Ana!");
    await command({ env }, "bots", "bind", SHOP, "sales/typed", "--off");
    rmSync(join(botsDir, "sales"), { recursive: true });
  });

  it("a bot of the folder may be written in TypeScript, and is read anew", async () => {
    const save = (says: string) =>
      writeFileSync(
        join(botsDir, "typed.ts"),
        `import { defineBot } from "parley";
const says: string = "${says}";
export default defineBot((b) => b.keyword("typed", (ctx) => ctx.reply(says)));`,
      );
    for (const says of ["one", "two"]) {
      save(says);
      expect(await command({ env }, "bots", "reload")).toMatch(/^Loaded again: .*\btyped\b/);
      expect(await ask("typed")).toBe(says);
    }
    rmSync(join(botsDir, "typed.ts"));
    await command({ env }, "bots", "reload");
  });

  it("chats take and give-back: bots are silent in a chat until it is handed back", async () => {
    writeFileSync(
      join(botsDir, "desk.mjs"),
      `let count = 0; export default (b) => b.keyword("desk", (ctx) => ctx.reply("desk " + ++count));`,
    );
    await command({ env }, "bots", "reload");
    expect(await command({ env }, "chats", "take", SHOP, ANA, "--minutes", "5")).toMatch(
      new RegExp(`^Bots of .* pause in ${ANA}.* until \\d{4}-`),
    );
    const { id } = await world.sim.sendText(ANA, SHOP, "desk");
    await until(async () => {
      const { body } = await world.gateway.get(`/devices/${SHOP}/decisions?message=${id}`, {
        key: world.key,
      });
      expect(body.data[0]).toMatchObject({ by: null, guard: "takeover" });
      return true;
    });
    expect(await command({ env }, "chats", "give-back", SHOP, ANA)).toMatch(/^Bots of .* answer again in /);
    expect(await ask("desk")).toBe("desk 1");
    rmSync(join(botsDir, "desk.mjs"));
    await command({ env }, "bots", "reload");
  });

  it("record and replay work beside the gateway, on what people wrote", async () => {
    const rosa = "4915100000077";
    await world.sim.addContact(rosa, { name: "Rosa Berger" });
    const write = async (text: string) => {
      await world.sim.sendText(rosa, SHOP, text);
      const message = await world.sim.waitForMessage(rosa, { from: SHOP, since });
      since = message.seq;
      return message.text;
    };
    const file = join(botsDir, "told.mjs");
    const save = (says: string) =>
      writeFileSync(
        file,
        `export default { enable: "bound", routes(b) {
          const form = b.form("call", { number: b.fields.text("Which number?") },
            (ctx, { number }) => ctx.reply(${says} + number));
          b.keyword("call me", (ctx) => ctx.start(form)); } };`,
      );
    save(`ctx.from.name + ", we call "`);
    await command({ env }, "bots", "reload");
    await command({ env }, "bots", "bind", SHOP, "told");
    await write("call me");
    expect(await write("Rosa, +49 170 555 1234")).toBe("Rosa Berger, we call Rosa, +49 170 555 1234");

    const story = join(botsDir, "told.story.yaml");
    expect(await command({ env }, "bots", "record", rosa, "--out", story)).toContain(
      "told.story.yaml: 4 lines",
    );
    const text = readFileSync(story, "utf8");
    expect(text).toMatch(/bots:\n {2}- told\n/);
    expect(text).toContain("person: Ana Lima\n");
    expect(text).toContain("- bot: Ana Lima, we call Ana, +49 170 000 0001\n");
    expect(text).not.toMatch(/Rosa|Berger|555|1234/);
    expect(await command({ env }, "bots", "replay", story)).toMatch(
      /✓ .*told\.story\.yaml\n\n1 story: answered as before/,
    );
    expect(await command({ env }, "bots", "replay", "--chat", rosa)).toContain(
      "1 conversation: answered as before",
    );

    save(`"Thank you: "`);
    const changed = await runCommand({ env }, "bots", "replay", "--since", "1h", "--device", SHOP);
    expect(changed.text).toContain("-bot: Rosa Berger, we call Rosa, +49 170 555 1234\n");
    expect(changed.text).toContain("+bot: Thank you: Rosa, +49 170 555 1234\n");
    expect(changed.text).toMatch(/\d+ conversations?: \d+ as before, \d+ differs?/);
    expect(changed.code).toBe(1);
    const again = await runCommand({ env }, "bots", "record", rosa, "--out", story);
    expect([again.code, again.text]).toEqual([1, expect.stringContaining("already exists")]);

    await command({ env }, "bots", "bind", SHOP, "told", "--off");
    rmSync(file);
    rmSync(story);
    await command({ env }, "bots", "reload");
  });

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
    expect(await command({ env }, "bots", "routes")).toMatch(/^No bot is on at a number without bindings\./);
  });

  it("reload loads what is new, and names what is broken", async () => {
    await command({ env }, "bots", "new", "fresh");
    expect(await command({ env }, "bots", "reload")).toMatch(/^Loaded again: .*fresh, greeter/);
    expect(await command({ env }, "bots", "list")).toMatch(/^fresh +50 +where bound +hi, hello$/m);
    writeFileSync(join(botsDir, "fresh.mjs"), "export default (b) => {");
    const broken = await runCommand({ env }, "bots", "reload");
    expect(broken.text).toMatch(/✗ fresh: SyntaxError.* Its last good version stays on\.\n/);
    expect(broken.code).toBe(1);
    expect(await command({ env }, "bots", "list")).toMatch(/^fresh .*hi, hello \(last good version/m);
    rmSync(join(botsDir, "fresh.mjs"));
  });

  it("check says what a new version does to open conversations, and --strict does not let it run", async () => {
    const lead = (options: string): void =>
      writeFileSync(
        join(botsDir, "lead.mjs"),
        `export default (b) => { const { text } = b.fields;
        const form = b.form("lead", { name: text("Your name?", ${options}), born: text("Born?") }, (ctx, { name }) => ctx.reply("Thank you, " + name));
        b.keyword("lead", (ctx) => ctx.start(form)); };`,
      );
    lead("{}");
    await command({ env }, "bots", "reload");
    expect(await ask("lead")).toBe("Your name?");
    expect(await ask("Ana")).toBe("Born?");
    const says = 'lead: 1 open, 1 is asked "name" again';

    lead("{ pattern: /\\s/ }");
    const build = ["--build", inject("serverEntry")];
    expect(await command({ env }, "bots", "check", ...build)).toBe(`${says}\n`);
    expect(await runCommand({ env }, "bots", "check", "--strict", ...build)).toMatchObject({ code: 3 });
    const refused = await runCommand({ env }, "bots", "reload");
    expect(refused).toMatchObject({
      code: 1,
      text: expect.stringContaining(`does not fit the stored data: ${says}`),
    });
    const { body } = await world.gateway.get("/bots", world);
    expect(body["data"]).toContainEqual(
      expect.objectContaining({ id: "lead", kept: true, error: expect.stringContaining(says) }),
    );
    await world.gateway.stop();
    const { code, stderr } = await runGateway({
      dataDir: world.gateway.dataDir,
      env: { ...env, BOTS_STRICT: "1" },
    });
    expect(stderr).toContain(
      `The bots do not fit the stored data, and --strict (BOTS_STRICT) refuses that: ${says}`,
    );
    expect(code).toBe(3);

    await world.gateway.restart({ BOTS_STRICT: "" });
    await world.online(SHOP);
    expect(await ask("in May")).toBe("Your name?");
    expect(await ask("Ana Mora")).toBe("Thank you, Ana Mora");
  });
});
