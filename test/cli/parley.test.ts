import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { repositoryRoot } from "../../src/config.ts";
import { createAuthenticator } from "../../src/demo/authenticator.ts";
import { readTerminalQr } from "./terminal-qr.ts";
import { programFile } from "../_setup/program-file.ts";
import { openWorld, until, type World } from "../_setup/world.ts";

const NUMBER = "31600000001";
const started: ChildProcess[] = [];

afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});

interface Command {
  /** Everything written so far. */
  text(): string;
  ended: Promise<number | null>;
  child: ChildProcess;
}

/** `npm run parley -- …` against the gateway of the world, as an operator on the same machine calls it. */
function parley(world: World, ...args: string[]): Command {
  const child = spawn(process.execPath, [programFile("src/cli/main.ts"), ...args], {
    cwd: repositoryRoot(),
    env: { PATH: process.env["PATH"], PORT: String(world.gateway.port), DATA_DIR: world.gateway.dataDir },
    stdio: ["pipe", "pipe", "pipe"],
  });
  started.push(child);
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const ended = once(child, "close").then(([code]) => code as number | null);
  return { text: () => text, ended, child };
}

async function said(world: World, ...args: string[]): Promise<string> {
  const command = parley(world, ...args);
  const code = await command.ended;
  if (code !== 0) throw new Error(`parley ${args.join(" ")} ended with ${code}: ${command.text()}`);
  return command.text();
}

/** The operator's own view of the account's keys. */
async function keysOf(world: World, account: string): Promise<{ id: string; name: string }[]> {
  const { body } = await world.gateway.get(`/admin/accounts/${account}/api-keys`, {
    key: world.gateway.adminToken,
  });
  return body["data"];
}

async function removeAccount(world: World): Promise<void> {
  await world.gateway.delete(`/admin/accounts/${world.account}`, { key: world.gateway.adminToken });
}

describe("npm run parley -- link", () => {
  it("makes the first account, shows a QR code that a phone can scan, and ends when the number is linked", async () => {
    const world = await openWorld({ again: true });
    await removeAccount(world);
    const owner = await world.sim.addNumber(NUMBER);

    const command = parley(world, "link", `+${NUMBER.slice(0, 2)} ${NUMBER.slice(2)}`);
    await until(() => command.text().includes("Scan it with the phone of +31600000001"));
    await owner.scan(readTerminalQr(command.text()));

    expect(await command.ended).toBe(0);
    expect(command.text()).toContain("✓ +31600000001 is linked.");
    expect(await world.sim.online(NUMBER)).toBe(true);
    const key = /\n {2}(\S+)\n/.exec(command.text())?.[1] ?? "";
    const account = await world.gateway.get("/account", { key });
    expect(account.body["data"]).toMatchObject({ name: "default", plan: "pro" });
    // The command's own key is gone again.
    expect((await keysOf(world, account.body["data"].id)).length).toBe(1);
  });

  it("walks through the passkey: shows what to run, asks again for what cannot be read, and links", async () => {
    const world = await openWorld({ again: true, env: { PASSKEY_LINKING: "1" } });
    const owner = await world.sim.addNumber(NUMBER);
    const browser = createAuthenticator();
    await world.sim.requirePasskey(NUMBER, browser.passkey);

    const command = parley(world, "link", NUMBER);
    await until(() => command.text().includes("Scan it with the phone of +31600000001"));
    const scan = owner.scan(readTerminalQr(command.text()));
    await until(() => command.text().includes("paste it here, and press Enter:"));
    const request = JSON.parse(/\}\)\((\{.*\})\);/.exec(command.text())![1]!);
    command.child.stdin!.write("{half of it\n");
    await until(() => command.text().includes("This is not the whole line."));
    command.child.stdin!.write(`${JSON.stringify(browser.assert(request, { rpId: "example.com" }))}\n`);
    await until(() => command.text().includes("Run the lines once more"));
    await world.sim.expectViolation("passkey_assertion");
    command.child.stdin!.write(`${JSON.stringify(browser.assert(request))}\n`);

    await scan;
    expect(await command.ended).toBe(0);
    expect(command.text()).toContain("✓ +31600000001 is linked.");
  });

  it("says what WhatsApp wants when a passkey is asked for and the gateway takes none", async () => {
    const world = await openWorld({ again: true });
    const owner = await world.sim.addNumber(NUMBER);
    await world.sim.requirePasskey(NUMBER, createAuthenticator().passkey);

    const command = parley(world, "link", NUMBER);
    await until(() => command.text().includes("Scan it with the phone of +31600000001"));
    owner.scan(readTerminalQr(command.text())).catch(() => undefined);

    expect(await command.ended).toBe(1);
    expect(command.text()).toContain("Set PASSKEY_LINKING=1, restart");
  });

  it("shows the new code as soon as the one on the screen no longer holds", async () => {
    const world = await openWorld({ again: true });
    const owner = await world.sim.addNumber(NUMBER);

    const command = parley(world, "link", NUMBER);
    await until(() => command.text().includes("Scan it with"));
    await world.gateway.post("/generate-qr", { device: NUMBER, force: "1" }, { key: world.key });
    await until(() => command.text().split("Scan it with").length > 2);
    await owner.scan(readTerminalQr(command.text()));

    expect(await command.ended).toBe(0);
  });

  it("links by a code that the owner types", async () => {
    const world = await openWorld({ again: true });
    const owner = await world.sim.addNumber(NUMBER);

    const command = parley(world, "link", NUMBER, "--code");
    await until(() => /^ {2}\w{4}-\w{4}$/m.test(command.text()));
    await owner.enterPairingCode(/^ {2}(\w{4}-\w{4})$/m.exec(command.text())?.[1] ?? "");

    expect(await command.ended).toBe(0);
    expect(command.text()).toContain("is linked");
  });

  it("says so when the phone of another number scanned", async () => {
    const world = await openWorld({ again: true });
    const owner = await world.sim.addNumber(NUMBER);
    await world.sim.addNumber("31600000009");

    const command = parley(world, "link", NUMBER);
    await until(() => command.text().includes("Scan it with"));
    await owner.scanAs("31600000009", readTerminalQr(command.text()));

    expect(await command.ended).toBe(1);
    expect(command.text()).toContain(
      "The code was scanned with the phone of +31600000009, not the phone of +31600000001.",
    );
  });

  it("leaves no key behind when it is interrupted", async () => {
    const world = await openWorld({ again: true });
    await world.sim.addNumber(NUMBER);

    const command = parley(world, "link", NUMBER);
    await until(() => command.text().includes("Scan it with"));
    command.child.kill("SIGINT");

    expect(await command.ended).toBe(1);
    expect(await keysOf(world, world.account)).toHaveLength(1);
  });
});

describe("npm run parley", () => {
  it("makes, lists and deletes keys", async () => {
    const world = await openWorld({ again: true });
    const key = /\n {2}(\S+)\n/.exec(await said(world, "keys", "create", "shop"))?.[1] ?? "";
    expect((await world.gateway.get("/account", { key })).status).toBe(200);

    const row = (await said(world, "keys", "list")).split("\n").find((line) => line.includes("shop")) ?? "";
    await said(world, "keys", "delete", row.split(/\s+/)[0] ?? "");

    expect((await world.gateway.get("/account", { key })).status).toBe(401);
  });

  it("makes and lists accounts, and asks which is meant when there are several", async () => {
    const world = await openWorld({ again: true });
    expect(await said(world, "accounts", "create", "second", "--plan", "pro")).toContain("second");
    expect(await said(world, "accounts", "list")).toMatch(/second +pro +yes/);

    const unclear = parley(world, "keys", "list");
    expect(await unclear.ended).toBe(1);
    expect(unclear.text()).toContain("--account");
    expect(await said(world, "keys", "list", "--account", "second")).toContain("BEGINS");
  });

  it("changes an account's plan, name and state, and what is not named stays", async () => {
    const world = await openWorld({ again: true });
    const { data } = (await world.gateway.get("/account", { key: world.key })).body;

    expect(await said(world, "accounts", "change", data.id, "--plan", "pro")).toContain("on the plan pro");
    expect(await said(world, "accounts", "change", data.name, "--name", "shop")).toContain("Account shop");
    const changed = (await world.gateway.get("/account", { key: world.key })).body["data"];
    expect(changed).toMatchObject({ name: "shop", plan: "pro" });
    await said(world, "accounts", "change", "shop", "--enabled", "no");
    expect(await said(world, "accounts", "list")).toMatch(/shop +pro +no/);

    const nothing = parley(world, "accounts", "change", "shop");
    expect(await nothing.ended).toBe(1);
    expect(nothing.text()).toContain("--plan, --name or --enabled");
    const wrong = parley(world, "accounts", "change", "shop", "--plan", "gold");
    expect(await wrong.ended).toBe(1);
    expect(wrong.text()).toContain("basic, pro");
  });

  it("lists numbers, says why one is as it is, and logs it out", async () => {
    const world = await openWorld({ again: true });
    await world.link(NUMBER);
    expect(await said(world, "devices", "list")).toMatch(/31600000001 +connected/);
    expect(await said(world, "devices", "why", NUMBER)).toContain("+31600000001 is connected since");
    await said(world, "devices", "logout", NUMBER);
    expect(await said(world, "devices", "list")).toMatch(/31600000001 +unlinked/);
  });

  it("lists the bots that are loaded", async () => {
    const world = await openWorld({ again: true });
    expect(await said(world, "bots", "list")).toMatch(/ping +\d+ +where bound +ping/);
  });

  it("says how to start the gateway when none runs", async () => {
    const world = await openWorld({ again: true });
    await world.gateway.stop();
    const command = parley(world, "accounts", "list");
    expect(await command.ended).toBe(1);
    expect(command.text()).toBe(
      `No Parley gateway answers at http://127.0.0.1:${world.gateway.port}. Start it with: npm start\n` +
        "If the gateway listens elsewhere, set HOST and PORT (or PUBLIC_URL) as for the gateway.\n",
    );
  });

  it("doctor finds a running gateway in order", async () => {
    const world = await openWorld({ again: true });
    const text = await said(world, "doctor");
    expect(text).toContain(`✓ gateway   runs at ${world.gateway.url}`);
    expect(text).toContain("✓ secrets");
    expect(text).not.toContain("✗");
  });
});
