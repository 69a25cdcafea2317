import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { buildBeside, isPackage } from "../build/beside.ts";

/**
 * Builds what projects of bot authors import, `parley`, `parley/testing` and `parley/testing/matchers`, into `dist/`. What
 * the gateway gets from npm stays outside: native parts cannot be bundled, and are installed with the package.
 */
const root = fileURLToPath(new URL("../../", import.meta.url));
const dist = join(root, "dist");
const types = join(dist, "types");
const ENTRIES = {
  index: "src/bot/index.ts",
  testing: "src/testing/index.ts",
  matchers: "src/testing/matchers.ts",
};

async function bundle(): Promise<void> {
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, join(root, file)])),
    platform: "node",
    external: /^[^./]/,
    transform: { define: { __FAILPOINTS__: "false" } },
    logLevel: "warn",
  });
  await build.write({
    dir: dist,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "chunks/[name].mjs",
  });
  await build.close();
}

/** One `.d.ts` for each source that the entries name, in the folders of the sources. */
function declare(): void {
  const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  execFileSync(process.execPath, [tsc, "--project", join(root, "tsconfig.kit.json")], { stdio: "inherit" });
  const needed = new Set<string>();
  for (const entry of Object.values(ENTRIES)) follow(join(types, entry.replace(/\.ts$/, ".d.ts")), needed);
  for (const entry of readdirSync(types, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile() && !needed.has(file)) rmSync(file);
  }
}

/** Compilers of other projects look for `x.d.ts` when they read `x.js`. */
function follow(file: string, needed: Set<string>): void {
  if (needed.has(file)) return;
  if (!existsSync(file)) throw new Error(`${relative(root, file)} was not made.`);
  needed.add(file);
  const text = readFileSync(file, "utf8");
  for (const [, target] of text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)\.ts"/g))
    follow(resolve(dirname(file), `${target}.d.ts`), needed);
  writeFileSync(file, text.replace(/((?:from|import)\s*\(?\s*"\.[^"]+)\.ts"/g, '$1.js"'));
}

rmSync(dist, { recursive: true, force: true });
await bundle();
// The process that reads files has a file of its own, beside the others.
await buildBeside({
  input: join(root, "src/media/decoder/main.ts"),
  file: join(dist, "decoder.mjs"),
  isInstalled: isPackage,
});
declare();
