import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { buildCli } from "../../src/build/cli.ts";
import { repositoryRoot } from "../../src/config.ts";
import { createAuthenticator } from "../../src/demo/authenticator.ts";
import { startSimulator } from "../../src/simulator/index.ts";
import { whenBuilt } from "../_setup/build.ts";
import { removeFolder } from "../_setup/folders.ts";
import { freePort } from "../_setup/free-port.ts";
import { certificatesOfTests } from "../_setup/gateways-again.ts";
import { until } from "../_setup/world.ts";
import { readTerminalQr } from "./terminal-qr.ts";

/** A build alone in a folder of its own: no checkout above it, no packages beside it but its own. */
let copied: string;
let folder: string;
beforeAll(async () => {
  await whenBuilt(inject("serverEntry"));
  folder = mkdtempSync(join(tmpdir(), "parley-copied-"));
  copied = join(folder, "parley");
  cpSync(dirname(dirname(inject("serverEntry"))), copied, { recursive: true });
  await buildCli(repositoryRoot(), copied);
});
afterAll(() => removeFolder(folder));

interface Run {
  text(): string;
  child: ChildProcess;
  ended: Promise<number | null>;
}

/** `node …/cli.mjs …` in a working directory that has nothing to do with it. */
function run(env: Record<string, string>, ...args: string[]): Run {
  const child = spawn(process.execPath, [join(copied, "cli.mjs"), ...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  for (const output of [child.stdout!, child.stderr!])
    output.setEncoding("utf8").on("data", (some: string) => (text += some));
  return { text: () => text, child, ended: once(child, "close").then(([code]) => code as number | null) };
}

async function said(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { ended, text } = run(env, ...args);
  const code = await ended;
  if (code !== 0) throw new Error(`parley ${args.join(" ")} ended with ${code}: ${text()}`);
  return text();
}

it("the command in a build says its version and how it is called, and is not large", async () => {
  expect(await said({}, "--version")).toBe(`${packageJson.version}\n`);
  const away = run({ PORT: "9" }, "accounts", "list");
  expect(await away.ended).toBe(1);
  expect(away.text()).toContain("Start it with: parley start");
  const bytes = readdirSync(join(copied, "server/cli"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  expect(bytes).toBeLessThan(12 * 1024 ** 2);
});

it("a build that was copied away runs a gateway, links a number with its passkey, saves and restores it, without checkout or packages", async () => {
  const { certificates, caFile } = certificatesOfTests();
  const sim = await startSimulator({ certificates, port: await freePort() });
  onTestFinished(() => sim.stop());
  const dataDir = join(folder, "data");
  const env = {
    DATA_DIR: dataDir,
    PORT: String(await freePort()),
    WHATSAPP_WS_URL: sim.wsUrl,
    WHATSAPP_NOISE_ROOT: sim.noiseRoot,
    WHATSAPP_CA_FILE: caFile,
    PASSKEY_LINKING: "1",
  };
  const url = `http://127.0.0.1:${env.PORT}`;
  const ready = (): Promise<void> =>
    until(async () => (await fetch(`${url}/health/ready`).catch(() => null))?.ok === true);
  const gateway = run(env, "start");
  await ready();

  const owner = await sim.addNumber("31600000001");
  const browser = createAuthenticator();
  await sim.requirePasskey("31600000001", browser.passkey);
  const linking = run(env, "link", "31600000001");
  await until(() => linking.text().includes("Scan it with the phone of +31600000001"));
  const scan = owner.scan(readTerminalQr(linking.text()));
  await until(() => linking.text().includes("paste it here, and press Enter:"));
  // What is to be run in the browser is part of the build.
  const request = JSON.parse(/\}\)\((\{.*\})\);/.exec(linking.text())![1]!);
  linking.child.stdin!.write(`${JSON.stringify(browser.assert(request))}\n`);
  await scan;
  expect(await linking.ended, linking.text()).toBe(0);
  expect(await said(env, "devices", "list")).toMatch(/31600000001 +connected/);
  expect(await said(env, "bots", "list")).toContain("ping");
  expect(await said(env, "bots", "check")).toContain("No stored data depends");
  expect(await said(env, "doctor")).toMatch(/✓ gateway +runs at/);
  const backup = join(folder, "one.tar");
  expect(await said(env, "backup", backup)).toContain(`Saved ${backup}`);

  // One signal reaches the gateway: the command is the process.
  gateway.child.kill("SIGTERM");
  expect(await gateway.ended).toBe(0);
  expect(await said(env, "restore", "--force", backup)).toContain("Start the gateway with: parley start");
  expect(await said(env, "rotate-key")).toContain("key");
  const again = run(env, "start");
  await ready();
  await sim.waitOnline("31600000001");
  again.child.kill("SIGTERM");
  expect(await again.ended).toBe(0);
  expect(existsSync(join(copied, "node_modules"))).toBe(false);
  expect(await sim.violations()).toEqual([]);
});
