import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadConfig, repositoryRoot } from "../../src/config.ts";
import { removeFolder } from "../_setup/folders.ts";
import { programFile } from "../_setup/program-file.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, type World } from "../_setup/world.ts";

/** Every command of the guides for operators, as it stands there: a block that is not run says why before it. */

const root = repositoryRoot();
const PAGES = [
  ...readdirSync(join(root, "docs/operations")).map((name) => `docs/operations/${name}`),
  "docs/upgrade.md",
];

interface Block {
  page: string;
  /** Null: it is run. */
  why: string | null;
  lines: string[];
}

const blocks: Block[] = PAGES.flatMap((page) =>
  [
    ...readFileSync(join(root, page), "utf8").matchAll(
      /(?:<!-- not run: (.+?) -->\n\n)?^```sh\n([^]*?)^```/gm,
    ),
  ].map(([, why, text]) => ({ page, why: why ?? null, lines: text!.trim().split("\n") })),
);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-guides-"));
  mkdirSync(join(folder, "bin"));
  const parley = `exec '${process.execPath}' '${programFile("src/cli/main.ts")}'`;
  const programs = {
    // What npm would say is nothing that a guide is about, and its start takes longer than most commands.
    npm: `[ "$1" = run ] && shift; case "$1" in -s|--silent) shift;; esac; [ "$1 $2" = "parley --" ] || exit 97; shift 2; ${parley} "$@"`,
    parley: `${parley} "$@"`,
  };
  for (const [name, text] of Object.entries(programs))
    writeFileSync(join(folder, "bin", name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
});
afterAll(() => removeFolder(folder));

/** Paths of the guides are places of the test's own, and what stands for a value is one. */
function made(line: string): string {
  const backups = join(folder, "var/backups/parley");
  const newest = (): string => readdirSync(backups).findLast((name) => name.endsWith(".tar")) ?? "none";
  return line
    .replace(/\s+#.*$/, "")
    .replaceAll("/etc/parley.env", join(folder, "parley.env"))
    .replace("restore <file>", "restore --force /var/backups/parley/parley-<time>.tar")
    .replace(/ restore \/tmp/, " restore --force /tmp")
    .replace("parley-<time>.tar", () => newest())
    .replace(/(?<=\s)\/(backups|var\/backups|tmp)(?=\/|\s|$)/g, `${folder}/$1`);
}

/** What a line does that is no command of the shell here. */
async function run(world: World, line: string): Promise<void> {
  const { gateway } = world;
  if (line.startsWith("#") || line.trim() === "") return;
  if (line === "systemctl daemon-reload") return;
  if (/^systemctl (disable --now|stop) parley$/.test(line)) return void (await gateway.stop());
  if (/^systemctl (enable --now|start|restart) parley$/.test(line)) return gateway.restart();
  const [, name, value] = /^([A-Z][A-Z_]+)=(\S+)/.exec(line) ?? [];
  if (name !== undefined) {
    const example = value!.replace("…", Buffer.alloc(32).toString("base64"));
    expect(() => loadConfig({ [name]: example }), line).not.toThrow();
    return;
  }
  const isOffline = line.includes("with the gateway stopped");
  if (isOffline) await gateway.stop();
  const env = {
    ...gateway.operatorEnv,
    PATH: `${join(folder, "bin")}:${process.env["PATH"]}`,
    HOME: folder,
  };
  // Other shells may not be there: what they would read is.
  const command = made(line)
    .replace("http://127.0.0.1:3000", `--fail http://127.0.0.1:${gateway.port}`)
    .replace(/^source <\((.*)\)$/, "$1 | grep -q parley")
    .replace(/\| source$/, "| grep -q parley");
  await promisify(execFile)("bash", ["-o", "pipefail", "-c", command], { cwd: folder, env }).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${line}\n${error.stdout}${error.stderr}`);
    },
  );
  if (isOffline) await gateway.restart();
}

describe("the commands of the guides", () => {
  it("are run, or the page says why not", () => {
    const reasons = blocks.filter(({ why }) => why !== null);
    expect(reasons.length).toBeLessThanOrEqual(6);
    for (const { why } of reasons)
      for (const [path] of why!.matchAll(/test\/[\w/.-]+\.ts/g))
        expect(readFileSync(join(root, path), "utf8")).not.toBe("");
  });

  it("do what they say, page after page", { timeout: 400_000 }, async () => {
    const hook = await startReceiver();
    const world = await openWorld({ env: { ALERT_URL: hook.url } });
    await world.link("31600000001");
    await world.sim.addContact("4915100000001");
    await world.sim.sendText("4915100000001", "31600000001", "hello");
    // An upgrade's backup is there before anything is restored from it.
    const order = blocks.filter(({ why }) => why === null);
    for (const { page, lines } of [...order.filter(({ page }) => page === "docs/upgrade.md"), ...order])
      for (const line of lines)
        await run(world, line).catch((error: Error) => {
          throw new Error(`${page}: ${error.message}`, { cause: error });
        });
    expect(hook.events.some(({ body }) => body["alerts"][0].alert === "test")).toBe(true);
    await world.online("31600000001");
    rmSync(join(folder, "contact.ndjson"));
  });
});
