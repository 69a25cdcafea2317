import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { loadConfig, repositoryRoot } from "../../src/config.ts";
import { removeFolder } from "../_setup/folders.ts";
import { programFile } from "../_setup/program-file.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, type World } from "../_setup/world.ts";
import { filesOf, writeFiles } from "../bots/pages.ts";

/** Every command of every guide, as it stands there: a block that is not run says why before it. */

const root = repositoryRoot();
const SHOP = "31600000001";
const PAGES = [
  "README.md",
  "deploy/README.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !name.startsWith("decisions"))
    .map((name) => `docs/${name}`)
    .toSorted(),
];
/** Pages with more than commands: these tests read them, and run what stands there. */
const RUN_ELSEWHERE: Record<string, string> = {
  "docs/clients/curl.md": "test/client/pages.test.ts",
  "docs/simulator.md": "test/readme.test.ts",
};

interface Block {
  page: string;
  /** Null: it is run. */
  why: string | null;
  lines: string[];
}

/** A line of a block that ends with a backslash goes on. */
const blocks: Block[] = PAGES.flatMap((page) =>
  [
    ...readFileSync(join(root, page), "utf8").matchAll(
      /(?:<!-- not run: (.+?) -->\s*\n)?^ *```(?:sh|bash|shell|console)\n([^]*?)^ *```/gm,
    ),
  ].map(([, why, text]) => ({
    page,
    why: why ?? (page in RUN_ELSEWHERE ? `${RUN_ELSEWHERE[page]} runs it` : null),
    lines: text!.trim().split(/(?<!\\)\n/),
  })),
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
    // An answer that is an error is one.
    curl: `PATH='${process.env["PATH"]}' exec curl --silent --show-error --fail-with-body "$@"`,
  };
  for (const [name, text] of Object.entries(programs))
    writeFileSync(join(folder, "bin", name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
});
afterAll(() => removeFolder(folder));

/** Paths of the guides are places of the test's own, and what stands for a value is one. */
function made(line: string): string {
  const backups = join(folder, "var/backups/parley");
  const newest = (): string => readdirSync(backups).findLast((name) => name.endsWith(".tar")) ?? "none";
  return (
    line
      .replace(/\s+#.*$/, "")
      .replaceAll("/etc/parley.env", join(folder, "parley.env"))
      .replace("restore <file>", "restore --force /var/backups/parley/parley-<time>.tar")
      .replace(/ restore \/tmp/, " restore --force /tmp")
      .replace("parley-<time>.tar", () => newest())
      .replace(/(?<=\s)\/(backups|var\/backups|tmp)(?=\/|\s|$)/g, `${folder}/$1`)
      // At last: these lie where they are, which may be below /tmp.
      .replace("./my-bots", join(folder, "bots"))
      .replace("./.output", dirname(dirname(inject("serverEntry"))))
  );
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
    // As pages name them that have said before what they stand for.
    ...Object.fromEntries(["API_KEY", "PARLEY_KEY", "KEY"].map((name) => [name, world.key])),
    BOTS_DIR: join(folder, "bots"),
    PARLEY: gateway.url,
    SENDER: SHOP,
  };
  // Other shells may not be there: what they would read is.
  const command = made(line)
    .replace(/(?<=^curl .*)(http:\/\/127\.0\.0\.1:3000|https:\/\/chat\.example\.com)/, gateway.url)
    .replace(/^source <\((.*)\)$/, "$1 | grep -q parley")
    .replace(/\| source$/, "| grep -q parley");
  await promisify(execFile)("bash", ["-o", "pipefail", "-c", command], { cwd: folder, env }).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${line}\n${error.stdout}${error.stderr}`);
    },
  );
  if (isOffline) await gateway.restart();
}

/** As the page says: the number is connected again at once. */
async function withoutProxy(world: World): Promise<void> {
  const { status } = await world.gateway.patch(`/devices/${SHOP}`, { proxy: null }, { key: world.key });
  expect(status).toBe(200);
  await world.online(SHOP);
}

describe("the commands of the guides", () => {
  it("are run, or the page says why not", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    for (const { why, page } of blocks.filter(({ why }) => why !== null)) {
      for (const [path] of why!.matchAll(/test\/[\w/.-]+\.ts/g))
        expect(existsSync(join(root, path)), `${page}: ${path}`).toBe(true);
      for (const [, script] of why!.matchAll(/npm run ([\w:-]+)/g)) expect(scripts).toHaveProperty(script!);
    }
    for (const [page, test] of Object.entries(RUN_ELSEWHERE))
      expect(readFileSync(join(root, test), "utf8")).toContain(basename(page));
    // Other pages show commands in fences that are looked at here.
    const others = PAGES.filter((page) =>
      /^ *```\w*\n *(\$ |npm |curl |docker |systemctl |parley )/m.test(
        readFileSync(join(root, page), "utf8").replaceAll(
          /^ *```(?:sh|bash|shell|console)\n[^]*?^ *```/gm,
          "",
        ),
      ),
    );
    expect(others).toEqual([]);
  });

  it("do what they say, page after page", { timeout: 400_000 }, async () => {
    const hook = await startReceiver();
    writeFiles(folder, filesOf("tutorial.md"));
    const world = await openWorld({ env: { ALERT_URL: hook.url, BOTS_DIR: join(folder, "bots") } });
    await world.link(SHOP);
    await world.sim.addContact("4915100000001");
    await world.sim.addContact("31600000002");
    await world.sim.sendText("4915100000001", SHOP, "hello");
    // An upgrade's backup is there before anything is restored from it.
    const order = blocks.filter(({ why }) => why === null);
    for (const { page, lines } of [...order.filter(({ page }) => page === "docs/upgrade.md"), ...order]) {
      for (const line of lines)
        await run(world, line).catch((error: Error) => {
          throw new Error(`${page}: ${error.message}`, { cause: error });
        });
      // The page's proxy is nowhere.
      if (page.endsWith("/proxies.md")) await withoutProxy(world);
    }
    expect(hook.events.some(({ body }) => body["alerts"][0].alert === "test")).toBe(true);
    await world.online(SHOP);
    rmSync(join(folder, "contact.ndjson"));
  });
});
