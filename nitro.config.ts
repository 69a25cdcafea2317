import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "nitro";
import type { Nitro } from "nitro/types";
import { buildBeside, isPackage } from "./src/build/beside.ts";
import { buildCli } from "./src/build/cli.ts";
import { buildConsole } from "./src/build/console.ts";
import { makeOneScript } from "./src/build/one-script.ts";
import { isForUsers } from "./src/mcp/guides.ts";

const root = fileURLToPath(new URL("./", import.meta.url));
/** For modules of bots that never end. */
const CHECK_TIMEOUT_MS = 60_000;
/** Packages with native parts, and what is laid beside the build. */
const NATIVE = /^(sharp|libsql|jiti|@libsql\/.*)$/;
const botsFolder = join(root, "bots");
const docsFolder = join(root, "docs");
/** Development alone: another folder that bots are read from, see `npm run dev`. */
const devFolder = process.env["PARLEY_DEV_BOTS"] ?? botsFolder;

/** Files under `bots/` that hold a bot: an id is the path without its extension; `_…`, `.…` and tests are left out. */
function botFiles(): string[] {
  return readdirSync(botsFolder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|js|mjs)$/.test(entry.name) && !entry.name.endsWith(".d.ts"))
    .map((entry) => relative(botsFolder, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .filter((path) => !path.split("/").some((part) => /^[_.]/.test(part)) && !/\.test\.\w+$/.test(path))
    .toSorted();
}

const idOf = (file: string): string => file.replace(/\.\w+$/, "").replace(/\/index$/, "");

/** Says what in the bots works otherwise than it may look. It never fails a build. */
function checkBots(): void {
  const program = join(root, "src/cli/bots/check.ts");
  const args = ["--import", "tsx", program, botsFolder, ...botFiles()];
  spawnSync(process.execPath, args, { cwd: root, stdio: "inherit", timeout: CHECK_TIMEOUT_MS });
}

/**
 * `export default { "<id>": () => import("<file>") }`: each bot is loaded on its own, so that one whose module throws
 * takes only itself down.
 */
function botsModule(): string {
  const files = botFiles();
  // A second file with the same id would take the place of the first in silence: the build names it, see `checkBots`.
  const first = files.filter(
    (file, index) => files.findIndex((other) => idOf(other) === idOf(file)) === index,
  );
  const entries = first.map(
    (file) => `${JSON.stringify(idOf(file))}: () => import(${JSON.stringify(join(botsFolder, file))})`,
  );
  const texts = localeFiles().map(
    ([language, file]) => `${JSON.stringify(language)}: ${readFileSync(file, "utf8")}`,
  );
  return `export const sources = null;\nexport const locales = {\n${texts.join(",\n")}\n};\nexport default {\n${entries.join(",\n")}\n};`;
}

/** `bots/locales/<language>.json`: texts of `ctx.t`. */
function localeFiles(): [language: string, file: string][] {
  const folder = join(botsFolder, "locales");
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
  return names.toSorted().map((name) => [name.replace(/\.json$/, ""), join(folder, name)]);
}

/** Every path with its methods, for 404, 405 and `Allow`. */
function routesModule(nitro: Nitro): string {
  const entries = nitro.scannedHandlers
    .filter((handler) => !handler.middleware && handler.route && !handler.route.includes("**"))
    .map(({ route, method }) => {
      const pattern = `^${route!.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/:[^/]+/g, "[^/]+")}/?$`;
      return JSON.stringify({ route, method: (method ?? "").toUpperCase() }).replace(
        /}$/,
        `,"pattern":new RegExp(${JSON.stringify(pattern)})}`,
      );
    });
  return `export default [\n${entries.join(",\n")}\n];`;
}

/** What of a bundle goes into one file, as Rolldown takes it. */
interface ChunkGroup {
  name: unknown;
  test: RegExp;
  priority?: number;
  debugName?: string;
}

export default defineConfig({
  serverDir: "./",
  // In development alone; Nitro's own default.
  buildDir: process.env["PARLEY_DEV_BUILD"] ?? "node_modules/.nitro",
  serverEntry: false,
  renderer: false,
  compatibilityDate: "2026-09-01",
  plugins: ["./src/start.ts"],
  errorHandler: "./src/api/answers/error-handler.ts",
  alias: { parley: join(root, "src/bot/index.ts") },
  // External and readable in stack traces; both bring files that a bundle would lose.
  // The last one whole: Bun reads other files of it than Node.
  traceDeps: ["@whiskeysockets/baileys", "@libsql/client", "sharp", "@libsql/isomorphic-ws*"],
  // Where the built gateway listens; Nitro's own default is every interface.
  devServer: { hostname: process.env["HOST"] ?? "127.0.0.1", port: Number(process.env["PORT"] ?? 3000) },
  replace: { __FAILPOINTS__: "false" },
  // Read by `makeOneScript`, which leaves none: errors of bots name the lines that their authors wrote.
  sourcemap: true,
  virtual: { "#bots": botsModule },
  hooks: {
    // Nitro names its chunks by a function, and Rolldown says at each build that such a group wants a name for reports.
    "rollup:before"(_nitro, config) {
      const { groups = [] } = (config.output as { codeSplitting: { groups?: ChunkGroup[] } }).codeSplitting;
      for (const group of groups) group.debugName ??= "packages";
      // Else it goes with the first package that uses it, and every start runs that one, too.
      groups.unshift({
        name: "_libs/zod",
        debugName: "zod",
        test: /[\\/]node_modules[\\/]zod[\\/]/,
        priority: 1,
      });
    },
    async compiled(nitro) {
      const into = nitro.options.output.serverDir;
      await buildBeside({
        input: join(root, "src/store/thread/main.ts"),
        file: join(into, "store-thread.mjs"),
        isInstalled: isPackage,
      });
      // Whole but for what has native parts: the gateway itself imports none of what reads files.
      await buildBeside({
        input: join(root, "src/media/decoder/main.ts"),
        file: join(into, "decoder.mjs"),
        isInstalled: (name) => name === "sharp",
      });
      // The test kit with the bots of this build: conversations are told again in it, see `src/app/fork-process.ts`.
      await buildBeside({
        input: join(root, "src/testing/fork/main.ts"),
        file: join(into, "fork.mjs"),
        isInstalled: (name) => NATIVE.test(name),
        virtual: { "#bots": botsModule },
        alias: { parley: join(root, "src/bot/index.ts") },
      });
      if (nitro.options.dev) return;
      // Not in builds that are asked to be quiet.
      if (nitro.options.logLevel >= 3) checkBots();
      await cp(join(root, "drizzle/migrations"), join(into, "drizzle/migrations"), {
        recursive: true,
      });
      // What `POST /mcp` gives language models to read.
      await cp(docsFolder, join(into, "docs"), {
        recursive: true,
        filter: (path) => path === docsFolder || isForUsers(relative(docsFolder, path).replaceAll("\\", "/")),
      });
      // Reads bots of BOTS_DIR that are written in TypeScript; see `sourceReader`.
      const compiler = dirname(createRequire(import.meta.url).resolve("jiti/package.json"));
      for (const part of ["package.json", "LICENSE", "lib/jiti.mjs", "dist"])
        await cp(join(compiler, part), join(into, "node_modules/jiti", part), {
          recursive: true,
        });
      await makeOneScript(into, botsFolder, (text) => nitro.logger.warn(text));
      // Builds with failpoints are for tests; those that need console or command make them once for all of them.
      if (nitro.options.replace["__FAILPOINTS__"] !== "false") return;
      await buildCli(root, nitro.options.output.dir);
      if (!(await buildConsole(root, join(nitro.options.output.dir, "console"))))
        nitro.logger.warn("The console is not built: its tools are packages for development (npm install).");
    },
  },
  modules: [
    (nitro: Nitro) => {
      nitro.options.virtual["#routes"] = () => routesModule(nitro);
      // A bot in the graph would mean a new gateway, and new connections, at each of its changes: see `liveBots`.
      if (nitro.options.dev)
        nitro.options.virtual["#bots"] =
          `export default {}; export const locales = {}; export const sources = ${JSON.stringify(devFolder)};`;
      // `nitro dev` brings a server of its own.
      if (!nitro.options.dev) nitro.options.entry = join(root, "src/serve/serve.ts");
    },
  ],
});
