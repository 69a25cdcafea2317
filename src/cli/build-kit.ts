import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor";
import { rolldown } from "rolldown";
import { buildBeside, isPackage } from "../build/beside.ts";

/**
 * Builds what projects of bot authors import, `parley`, `parley/testing` and `parley/testing/matchers`, into `dist/`. What
 * the gateway gets from npm stays outside: native parts cannot be bundled, and are installed with the package.
 */
const root = fileURLToPath(new URL("../../", import.meta.url));
const dist = join(root, "dist");
/** What is rolled up, and removed. */
const types = join(dist, "types");
const COMPILER = {
  target: "es2023",
  module: "nodenext",
  moduleResolution: "nodenext",
  types: ["node"],
  skipLibCheck: true,
};
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

/** What the compiler says of every source, in the folders of the sources; compilers look for `x.d.ts` when they read `x.js`. */
function declare(): void {
  const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  execFileSync(process.execPath, [tsc, "--project", join(root, "tsconfig.kit.json")], { stdio: "inherit" });
  for (const entry of readdirSync(types, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const text = readFileSync(file, "utf8").replace(/((?:from|import)\s*\(?\s*"\.[^"]+)\.ts"/g, '$1.js"');
    writeFileSync(
      file,
      isIn("src/testing", file) ? text.replace(/"[./]{3,}bot\/types\.js"/g, '"parley"') : text,
    );
  }
}

const isIn = (folder: string, file: string): boolean => !relative(join(types, folder), file).startsWith("..");

/**
 * Makes one file of all declarations that an entry shows, and nothing of what they show nobody: compilers would otherwise read
 * everything that the gateway is made of, and its packages.
 */
function rollUp(name: "index" | "testing", entry: string): void {
  const file = join(types, entry.replace(/\.ts$/, ".d.ts"));
  const config = ExtractorConfig.prepare({
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: file,
      compiler: { overrideTsconfig: { compilerOptions: COMPILER, files: [file] } },
      dtsRollup: { enabled: true, untrimmedFilePath: join(dist, `${name}.d.ts`) },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, "package.json"),
  });
  const problems: string[] = [];
  const { succeeded } = Extractor.invoke(config, {
    localBuild: true,
    messageCallback(message) {
      if (message.logLevel === ExtractorLogLevel.Error) problems.push(message.text);
      message.handled = true;
    },
  });
  if (!succeeded) throw new Error(`The declarations of ${name} could not be built: ${problems.join("; ")}`);
}

/** The other entry names types of this one, as projects do: twice the same type would be two types. */
function layBeside(): void {
  const laid = join(types, "node_modules/parley");
  mkdirSync(laid, { recursive: true });
  cpSync(join(dist, "index.d.ts"), join(laid, "index.d.ts"));
  writeFileSync(join(laid, "package.json"), '{ "name": "parley", "type": "module", "types": "index.d.ts" }');
  writeFileSync(join(types, "package.json"), '{ "type": "module" }');
}

/** The tool would leave out that vitest is added to: the file is short, and stands as it is. */
function copyMatchers(): void {
  const file = join(types, ENTRIES.matchers.replace(/\.ts$/, ".d.ts"));
  const text = readFileSync(file, "utf8").replace(/"\.\/types\.js"/g, '"./testing.js"');
  writeFileSync(join(dist, "matchers.d.ts"), text);
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
rollUp("index", ENTRIES.index);
layBeside();
rollUp("testing", ENTRIES.testing);
copyMatchers();
rmSync(types, { recursive: true });
