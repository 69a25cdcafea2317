import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from "vitest";
import { buildCli } from "../../src/build/cli.ts";
import { makeRelease } from "../../src/build/release.ts";
import { repositoryRoot } from "../../src/config.ts";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { whenBuilt } from "../_setup/build.ts";
import { createClient, type GatewayClient } from "../_setup/client.ts";
import { removeFolder } from "../_setup/folders.ts";
import { freePort } from "../_setup/free-port.ts";
import { certificatesOfTests } from "../_setup/gateways-again.ts";
import { startReceiver, type Receiver } from "../_setup/receiver.ts";
import { runtimeProgram } from "../_setup/runtimes.ts";
import { scanning } from "../_setup/scanning.ts";
import { until } from "../_setup/world.ts";
import { install, MOST_BYTES } from "../deploy/installed.ts";

/** The version from which there must be a way: until there is a release, a commit. */
const BEFORE = "a7ea3a5";
const SHOP = "31600000001";
const ANA = "4915100000001";
const root = repositoryRoot();

let folder: string;
let tarball: string;
beforeAll(async () => {
  await whenBuilt(inject("serverEntry"));
  folder = mkdtempSync(join(tmpdir(), "parley-release-"));
  const output = join(folder, "output");
  cpSync(dirname(dirname(inject("serverEntry"))), output, { recursive: true });
  await buildCli(root, output);
  ({ file: tarball } = await makeRelease(root, output, folder));
});
afterAll(() => removeFolder(folder));

/** Builds an earlier version, with the packages that it names. @returns its entry */
function buildBefore(): string {
  const sources = join(folder, "before");
  mkdirSync(sources);
  const archive = execFileSync("git", ["archive", BEFORE], { cwd: root, maxBuffer: 1024 ** 3 });
  execFileSync("tar", ["-x", "-C", sources], { input: archive });
  execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: sources, stdio: "pipe" });
  execFileSync("npm", ["run", "build"], { cwd: sources, stdio: "pipe" });
  return join(sources, ".output/server/index.mjs");
}

it.each(["node-20", "node-22", "node-24"] as const)(
  "the package that npm installs runs on %s: accounts, a backup and its restore",
  { timeout: 600_000 },
  async (name) => {
    const prefix = join(folder, name);
    const installed = await install(tarball, prefix, await runtimeProgram(name));
    // What docs/operations/install.md copies from there.
    const files = readdirSync(join(prefix, "lib/node_modules/parley/systemd"));
    expect(files.toSorted()).toEqual(["parley", "parley.service"]);
    const env = { DATA_DIR: join(prefix, "data"), PORT: String(await freePort()) };
    const gateway = await installed.start(env);
    await installed.parley(env, "accounts", "create", "shop");
    await installed.parley(env, "backup", join(prefix, "one.tar"));
    expect(await gateway.stop()).toBe(0);
    await installed.parley(env, "restore", "--force", join(prefix, "one.tar"));
    const again = await installed.start(env);
    expect(await installed.parley(env, "accounts", "list")).toContain("shop");
    expect(await again.stop()).toBe(0);
  },
);

/** A gateway's own answers about what it has, which an upgrade may add to. */
const SHOWN = [
  "/account",
  "/api-keys",
  `/devices/${SHOP}`,
  `/devices/${SHOP}/webhook`,
  `/devices/${SHOP}/bots`,
  `/messages?sender=${SHOP}&limit=100`,
  `/deliveries?device=${SHOP}&limit=100`,
  `/chats?device=${SHOP}`,
] as const;
type Shown = Record<(typeof SHOWN)[number], any>;

const readAll = async (asked: GatewayClient, key: string): Promise<Shown> =>
  Object.fromEntries(
    await Promise.all(
      SHOWN.map(async (path) => {
        const { status, body } = await asked.get(path, { key });
        expect(status, path).toBe(200);
        return [path, body["data"]];
      }),
    ),
  ) as Shown;

/** Same ones, in their order: what is known of each may have become more, and receipts come late. */
const withoutNews = (list: Record<string, unknown>[], ...fields: string[]): unknown[] =>
  list.map((one) => fields.map((field) => one[field]));

interface Before {
  key: string;
  secret: string;
  shown: Shown;
}

/** What a customer has by the time of the upgrade: settings, messages, deliveries, and somebody in the middle of a form. */
async function liveBefore(asked: GatewayClient, sim: Simulator, hook: Receiver): Promise<Before> {
  const { key } = await asked.createAccount();
  const owner = await sim.addNumber(SHOP);
  await sim.addContact(ANA, { name: "Ana" });
  const isLinked = scanning(owner);
  await until(async () => isLinked((await asked.post("/generate-qr", { device: SHOP }, { key })).body));
  const put = await asked.put(`/devices/${SHOP}/webhook`, { url: hook.url, mode: "always" }, { key });
  const secret = put.body["secret"] as string;
  const calls = { calls: "reject", calls_text: "Please write." };
  expect((await asked.patch(`/devices/${SHOP}`, calls, { key })).status).toBe(200);
  const bots = [
    { id: "ping", enabled: true },
    { id: "lead-form", enabled: true, config: { crmUrl: hook.url } },
  ];
  expect((await asked.put(`/devices/${SHOP}/bots`, { bots }, { key })).status).toBe(200);
  const sent = await asked.post("/send-message", { sender: SHOP, number: ANA, message: "before" }, { key });
  expect(sent.status).toBe(200);
  await sim.sendText(ANA, SHOP, "ping");
  await sim.waitForMessage(ANA, { from: SHOP, text: "pong" });
  await sim.sendText(ANA, SHOP, "quote");
  await sim.waitForMessage(ANA, { from: SHOP, text: "What is your name?" });
  await sim.sendText(ANA, SHOP, "Ana");
  await sim.waitForMessage(ANA, { from: SHOP, text: "Thank you. Which e-mail address may we write to?" });
  await until(() => hook.events.length === 3);
  new Webhook(secret).verify(hook.events[0]!.text, hook.events[0]!.headers as Record<string, string>);
  const delivered = async (): Promise<boolean> =>
    (await asked.get(`/deliveries?device=${SHOP}&state=delivered`, { key })).body["data"].length === 3;
  await until(delivered);
  return { key, secret, shown: await readAll(asked, key) };
}

/** Everything is as it was, as far as anybody can see. */
function compare(before: Shown, now: Shown): void {
  const [account, , device, webhook, bots] = SHOWN;
  for (const path of [account, webhook]) expect(now[path], path).toMatchObject(before[path]);
  const bound = (list: { id: string; enabled: boolean; config: unknown }[]): unknown[] =>
    list.filter(({ enabled }) => enabled).map(({ id, config }) => ({ id, config }));
  expect(bound(before[bots])).toHaveLength(2);
  expect(bound(now[bots])).toEqual(bound(before[bots]));
  // It is connected since the restart; and what was not known of it may be known now.
  const known = Object.entries(before[device] as object).filter(([, value]) => value !== null);
  expect(now[device]).toMatchObject({ ...Object.fromEntries(known), since: expect.any(String) });
  expect(withoutNews(now["/api-keys"], "id", "name", "permissions")).toEqual(
    withoutNews(before["/api-keys"], "id", "name", "permissions"),
  );
  const lists = {
    [SHOWN[5]]: ["id", "direction", "chat", "text", "timestamp"],
    [SHOWN[6]]: ["id", "type", "state", "message_id", "attempts"],
    [SHOWN[7]]: ["chat", "name", "number"],
  };
  for (const [path, fields] of Object.entries(lists)) {
    const was = before[path as keyof Shown] as Record<string, unknown>[];
    expect(was.length, path).toBeGreaterThan(0);
    expect(withoutNews(now[path as keyof Shown], ...fields), path).toEqual(withoutNews(was, ...fields));
  }
}

it(`keeps everything of a data folder that a build of ${BEFORE} has made`, { timeout: 600_000 }, async () => {
  const { certificates, caFile } = certificatesOfTests();
  const sim = await startSimulator({ certificates, port: await freePort() });
  onTestFinished(() => sim.stop());
  const hook = await startReceiver();
  const env = {
    DATA_DIR: join(folder, "data"),
    PORT: String(await freePort()),
    NODE_ENV: "production",
    ALLOW_PRIVATE_NETWORK: "1",
    WHATSAPP_WS_URL: sim.wsUrl,
    WHATSAPP_NOISE_ROOT: sim.noiseRoot,
    WHATSAPP_CA_FILE: caFile,
  };
  const url = `http://127.0.0.1:${env.PORT}`;
  const token = "an-operators-token-of-this-test";
  let isPresent = false;
  // The answers of before were documented otherwise.
  const asked = createClient(
    url,
    () => token,
    () => isPresent,
  );
  const before = spawn(process.execPath, [buildBefore()], {
    env: { PATH: process.env["PATH"], ...env, PARLEY_ADMIN_TOKEN: token },
    stdio: ["ignore", "ignore", "inherit"],
  });
  onTestFinished(() => void before.kill("SIGKILL"));
  await until(async () => (await fetch(`${url}/health/ready`).catch(() => null))?.ok === true);
  const { key, secret, shown } = await liveBefore(asked, sim, hook);
  before.kill("SIGTERM");
  expect((await once(before, "close"))[0]).toBe(0);

  isPresent = true;
  const installed = await install(tarball, join(folder, "after"));
  const gateway = await installed.start({ ...env, PARLEY_ADMIN_TOKEN: token });
  onTestFinished(() => void gateway.child.kill("SIGKILL"));
  await sim.waitOnline(SHOP);
  await until(async () => (await asked.get(`/devices/${SHOP}`, { key })).body["data"].state === "connected");
  compare(shown, await readAll(asked, key));
  const { body: dialogues } = await asked.get(`/devices/${SHOP}/dialogues`, { key });
  expect(dialogues["data"]).toMatchObject([{ bot: "lead-form" }]);

  // The session goes on without a scan, the form where it was, and what is posted has the same signature.
  const posted = hook.events.length;
  await sim.sendText(ANA, SHOP, "ana@example.com");
  await until(async () => (await sim.messages(ANA)).some(({ text }) => text?.includes("interested in")));
  await until(() => hook.events.length > posted);
  const { text, headers } = hook.events[posted]!;
  new Webhook(secret).verify(text, headers as Record<string, string>);
  // Whom it knew by name before, it knows now.
  const { body: people } = await asked.get(`/contacts?sender=${SHOP}`, { key });
  expect(JSON.stringify(people["data"])).toContain("Ana");
  expect(await sim.violations()).toEqual([]);
  expect(await gateway.stop()).toBe(0);
});

it(
  "npm run release -- --dry makes a package of the right size, and starts it on each Node",
  { timeout: 600_000 },
  () => {
    const written = execFileSync("npm", ["run", "-s", "release", "--", "--dry", "--quick"], {
      cwd: root,
      encoding: "utf8",
    });
    const [, file] = /✓ (release\/parley-\S+\.tgz), /.exec(written)!;
    expect(statSync(join(root, file!)).size).toBeLessThan(MOST_BYTES);
    for (const node of ["node-20", "node-22", "node-24"]) expect(written).toContain(`✓ starts on ${node} `);
    const [sum] = readFileSync(join(root, "release/SHA256SUMS"), "utf8").split("  ");
    expect(written).toContain(`sha256 ${sum}`);
  },
);
