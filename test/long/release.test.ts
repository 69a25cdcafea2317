import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from "vitest";
import { buildCli } from "../../src/build/cli.ts";
import { makeRelease } from "../../src/build/release.ts";
import { repositoryRoot } from "../../src/config.ts";
import { startSimulator } from "../../src/simulator/index.ts";
import { whenBuilt } from "../_setup/build.ts";
import { createClient } from "../_setup/client.ts";
import { removeFolder } from "../_setup/folders.ts";
import { freePort } from "../_setup/free-port.ts";
import { certificatesOfTests } from "../_setup/gateways-again.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { runtimeProgram } from "../_setup/runtimes.ts";
import { scanning } from "../_setup/scanning.ts";
import { until } from "../_setup/world.ts";
import { install } from "../deploy/installed.ts";

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
  const { key } = await asked.createAccount();
  const owner = await sim.addNumber(SHOP);
  await sim.addContact(ANA);
  const isLinked = scanning(owner);
  await until(async () => isLinked((await asked.post("/generate-qr", { device: SHOP }, { key })).body));
  await asked.put(`/devices/${SHOP}/webhook`, { url: hook.url, mode: "always" }, { key });
  await asked.put(`/devices/${SHOP}/bots`, { bots: [{ id: "ping", enabled: true }] }, { key });
  const sent = await asked.post("/send-message", { sender: SHOP, number: ANA, message: "before" }, { key });
  expect(sent.status).toBe(200);
  await sim.sendText(ANA, SHOP, "ping");
  await sim.waitForMessage(ANA, { from: SHOP, text: "pong" });
  await until(() => hook.events.length > 0);
  const shown = async (): Promise<unknown[]> =>
    Promise.all(
      ["/account", "/api-keys", `/devices/${SHOP}/webhook`, `/devices/${SHOP}/bots`].map(async (path) => {
        const { status, body } = await asked.get(path, { key });
        expect(status, path).toBe(200);
        return body["data"] as unknown;
      }),
    );
  const secrets = hook.events[0]!.headers["webhook-signature"];
  expect(secrets).toMatch(/^v1,/);
  const [account, keys, webhook] = (await shown()) as Record<string, unknown>[];
  before.kill("SIGTERM");
  expect((await once(before, "close"))[0]).toBe(0);

  isPresent = true;
  const installed = await install(tarball, join(folder, "after"));
  const gateway = await installed.start({ ...env, PARLEY_ADMIN_TOKEN: token });
  onTestFinished(() => void gateway.child.kill("SIGKILL"));
  await sim.waitOnline(SHOP);
  const [accountNow, keysNow, webhookNow, botsNow] = (await shown()) as Record<string, unknown>[];
  expect(accountNow).toMatchObject({ id: account!["id"], name: account!["name"], plan: account!["plan"] });
  expect(keysNow).toHaveLength((keys as unknown as unknown[]).length);
  expect(webhookNow).toMatchObject({ url: webhook!["url"], mode: "always" });
  expect(JSON.stringify(botsNow)).toContain('"ping"');
  // What was sent and received before is there, and the session goes on without a scan.
  const { body } = await asked.get(`/messages?sender=${SHOP}&chat=${ANA}`, { key });
  expect(JSON.stringify(body["data"])).toContain("before");
  await sim.sendText(ANA, SHOP, "ping");
  await until(async () => (await sim.messages(ANA)).filter(({ text }) => text === "pong").length === 2);
  expect(await sim.violations()).toEqual([]);
  expect(await gateway.stop()).toBe(0);
});
