import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { repositoryRoot } from "../src/config.ts";
import { removeFolder } from "./_setup/folders.ts";
import { openWorld, until } from "./_setup/world.ts";

const ROOT = repositoryRoot();
const README = readFileSync(join(ROOT, "README.md"), "utf8");
const NUMBER = "31600000001";
const CONTACT = "31600000002";
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) removeFolder(folder);
});

/** The text between the fences of the first block that holds `marker`. */
function block(language: string, marker: string, page = README): string {
  const blocks = [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, "gm"))];
  const found = blocks.map((match) => match[1] ?? "").find((text) => text.includes(marker));
  if (found === undefined) throw new Error(`There is no ${language} block with ${marker}.`);
  return found;
}

/** A folder with the bot of a block, under the name that its first line gives. */
function botsFolder(code: string): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-readme-"));
  folders.push(folder);
  const name = /^\/\/ (\S+)\n/.exec(code)?.[1] ?? "";
  writeFileSync(join(folder, basename(name)), code);
  return folder;
}

async function bash(script: string, env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)("bash", ["-c", script], { env: { ...process.env, ...env } });
  return stdout;
}

describe("README.md", () => {
  it("has a smallest bot that answers", async () => {
    const world = await openWorld({ env: { BOTS_DIR: botsFolder(block("js", "bot.keyword")) } });
    await world.link(NUMBER);
    const contact = await world.sim.addContact(CONTACT);

    await contact.sendText(NUMBER, "hello");

    expect((await contact.waitForMessage({ from: NUMBER })).text).toBe("Hello! You wrote “hello”.");
  });

  it("has a curl line that sends", async () => {
    const world = await openWorld();
    await world.link(NUMBER);
    const contact = await world.sim.addContact(CONTACT);

    const curl = block("sh", "curl ").replace("http://127.0.0.1:3000", world.gateway.url);
    const answer = await bash(curl, { API_KEY: world.key });

    expect(JSON.parse(answer)).toMatchObject({ status: true, state: "sent" });
    expect((await contact.waitForMessage({ from: NUMBER })).text).toBe("Hello from Parley");
  });
});

describe("docs/bots.md", () => {
  it("has a bot that does what the page says", async () => {
    const page = readFileSync(join(ROOT, "docs/bots.md"), "utf8");
    const world = await openWorld({ env: { BOTS_DIR: botsFolder(block("js", "routes(bot)", page)) } });
    await world.link(NUMBER);
    const contact = await world.sim.addContact(CONTACT, { name: "Ana" });

    await contact.sendText(NUMBER, "Book!");
    await contact.waitForMessage({ text: "For how many, Ana?" });
    await contact.sendText(NUMBER, "20 people");
    await contact.sendText(NUMBER, "4 people");
    await contact.waitForMessage({ text: "A table for 4. See you!" });

    expect(await contact.messages({ from: NUMBER })).toHaveLength(2);
  });
});

describe("docs/simulator.md", () => {
  it("has commands that link a number and let a contact write", async () => {
    const page = readFileSync(join(ROOT, "docs/simulator.md"), "utf8");
    const world = await openWorld();
    const first = block("sh", "sim()", page).replace("http://127.0.0.1:4101", world.sim.controlUrl);
    const define = first.split("\n")[0] ?? "";

    await bash(first);
    const asking = { device: NUMBER, method: "code" };
    const ask = async () => (await world.gateway.post("/generate-qr", asking, { key: world.key })).body;
    await until(async () => (await ask())["state"] === "code");
    const { code } = await ask();
    const link = block("sh", "enterPairingCode", page).replace("ABCD-1234", code);
    expect(JSON.parse(await bash(`${define}\n${link}`))).toMatchObject({ result: { device: 1 } });
    await until(async () => (await ask())["state"] === "connected");
    await world.bindBots(NUMBER, "menu");

    const lines = (await bash(`${define}\n${block("sh", "sendText", page)}`)).trim().split("\n");
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ result: { text: "Hello Ana!", from: NUMBER } });
  });
});
