/**
 * `npm run release`: makes the package that a server installs, in `release/`, and checks it: its size, and that a gateway starts from it on
 * each Node that is supported; at last that an upgrade from an earlier build keeps everything, which takes minutes: not with `--quick`.
 * With `--dry`, the working tree may have changes.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { makeRelease } from "../../src/build/release.ts";
import { buildIfStale } from "../../src/cli/build.ts";
import { repositoryRoot } from "../../src/config.ts";
import { freePort } from "../_setup/free-port.ts";
import { runtimeProgram } from "../_setup/runtimes.ts";
import { install, MOST_BYTES } from "./installed.ts";

const NODES = ["node-20", "node-22", "node-24"] as const;

const root = repositoryRoot();
const isDry = process.argv.includes("--dry");
const isQuick = process.argv.includes("--quick");
const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function check(file: string, node: string, name: string): Promise<void> {
  const prefix = mkdtempSync(join(tmpdir(), "parley-installed-"));
  try {
    const installed = await install(file, prefix, node);
    const env = { DATA_DIR: join(prefix, "data"), PORT: String(await freePort()) };
    const gateway = await installed.start(env);
    await installed.parley(env, "accounts", "create", "shop");
    const listed = await installed.parley(env, "accounts", "list");
    if (!listed.includes("shop")) throw new Error(`accounts list says: ${listed}`);
    const code = await gateway.stop();
    if (code !== 0) throw new Error(`The gateway ended with ${String(code)}.`);
    say(
      `  ✓ starts on ${name} (${execFileSync(node, ["--version"], { encoding: "utf8" }).trim()}) in ${Math.round(gateway.readyAfterMs)} ms`,
    );
  } finally {
    rmSync(prefix, { recursive: true, force: true });
  }
}

const changes = execFileSync("git", ["status", "--porcelain"], { cwd: root, encoding: "utf8" });
if (!isDry && changes !== "") {
  process.stderr.write("There are changes that are not committed. Commit them, or try with --dry.\n");
  process.exit(1);
}
await buildIfStale(root, (doing) => say(`  … ${doing}`));
const { file, bytes, sha256 } = await makeRelease(root, join(root, ".output"), join(root, "release"));
writeFileSync(join(root, "release/SHA256SUMS"), `${sha256}  ${basename(file)}\n`);
say(`  ✓ release/${basename(file)}, ${(bytes / 1024 ** 2).toFixed(1)} MB, sha256 ${sha256}`);
if (bytes > MOST_BYTES) throw new Error(`It has more than ${MOST_BYTES / 1024 ** 2} MB: look what is in it.`);
for (const name of NODES) await check(file, await runtimeProgram(name), name);
if (!isQuick) {
  const vitest = ["vitest", "run", "--project", "long", "test/long/release.test.ts", "--testNamePattern"];
  execFileSync("npx", [...vitest, "keeps everything"], {
    cwd: root,
    env: { ...process.env, PARLEY_TEST_LONG: "1" },
    stdio: "inherit",
  });
  say("  ✓ an upgrade keeps everything");
}
