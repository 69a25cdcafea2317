import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { rolldown } from "rolldown";

/**
 * Builds `@parley/client` from `src/client`: one module, its declarations, and what an npm package needs. It imports
 * nothing, and is compiled against nothing but the language and the web platform.
 *
 * @param root   absolute path of the repository
 * @param folder where the package is made; what is there is removed
 */
export async function buildClientPackage(root: string, folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await bundle(root, folder);
  declare(root, folder);
  const { version, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest(version, license), null, 2)}\n`);
  copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  copyFileSync(join(root, "docs/clients/node.md"), join(folder, "README.md"));
}

interface Manifest {
  version: string;
  license: string;
}

const manifest = (version: string, license: string): object => ({
  name: "@parley/client",
  version,
  description: "Client of the Parley messaging gateway: typed requests, events, webhooks and replies",
  license,
  type: "module",
  exports: { ".": { types: "./index.d.ts", default: "./index.js" }, "./package.json": "./package.json" },
  types: "./index.d.ts",
  sideEffects: false,
  engines: { node: ">=20" },
});

async function bundle(root: string, folder: string): Promise<void> {
  const build = await rolldown({
    cwd: root,
    input: { index: join(root, "src/client/index.ts") },
    platform: "neutral",
    logLevel: "warn",
  });
  await build.write({ dir: folder, format: "esm", entryFileNames: "[name].js" });
  await build.close();
}

/** The strictest settings that users may have, and no types but the language's and the platform's. */
function declare(root: string, folder: string): void {
  const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  const settings = [
    "--ignoreConfig",
    "--declaration",
    "--emitDeclarationOnly",
    "--allowImportingTsExtensions",
    "--strict",
    "--noUncheckedIndexedAccess",
    "--exactOptionalPropertyTypes",
    "--types",
    "",
    "--lib",
    "es2023,dom",
    "--target",
    "es2023",
    "--module",
    "nodenext",
    "--rootDir",
    join(root, "src/client"),
    "--outDir",
    folder,
  ];
  execFileSync(process.execPath, [tsc, ...settings, join(root, "src/client/index.ts")], { stdio: "inherit" });
  // Compilers look for `x.d.ts` when they read `x.js`.
  for (const name of readdirSync(folder).filter((name) => name.endsWith(".d.ts"))) {
    const file = join(folder, name);
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace(/"(\.\/[a-z]+)\.ts"/g, '"$1.js"'));
  }
}
