import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rolldown, type Plugin } from "rolldown";
import { freePort } from "../process/free-port.ts";
import { botLines, withSourceMaps, type BotLines } from "./bot-lines.ts";

const LAUNCHER = new URL("./launcher.mjs", import.meta.url);
const SCRIPT = "gateway.cjs";
/** Binaries, and what nobody has installed: packages that others ask for only to see whether they are there. */
const NOT_INSIDE =
  /^(?:(?:libsql|sharp|@img|jimp|link-preview-js|audio-decode|bufferutil|utf-8-validate)(?:\/|$)|.*\.node$)/;
const COMPILE_MS = 60_000;
/** What a start without a terminal needs of the environment; nothing of the operator's settings. */
const INHERITED = ["PATH", "HOME", "TMPDIR", "SystemRoot"];

/**
 * Makes one script of what Nitro has built, and the code that V8 compiles from it. Without it a start compiles some hundred
 * modules, which is half of its time; Node keeps compiled code of scripts, and of modules only from version 22 on.
 *
 * @param serverDir  Nitro's output with its source maps: `index.mjs` becomes the launcher of the script; what went into the script
 *                   is removed
 * @param botsFolder where the bots of the build lie
 * @param say        told when the compiled code could not be made: a start takes longer then
 */
export async function makeOneScript(
  serverDir: string,
  botsFolder: string,
  say: (text: string) => void,
): Promise<void> {
  const { code, lines, moduleIds } = await joined(serverDir, botsFolder);
  writeFileSync(join(serverDir, SCRIPT), asScript(code, lines), "latin1");
  writeFileSync(join(serverDir, "index.mjs"), readFileSync(LAUNCHER));
  // From here on a build that is broken off is a whole one.
  const entry = join(serverDir, "index.mjs");
  for (const file of moduleIds.filter((id) => isOurs(id, serverDir))) {
    if (file !== entry) rmSync(file);
    rmSync(`${file}.map`, { force: true });
  }
  for (const folder of ["_chunks", "_libs", "_routes"])
    rmSync(join(serverDir, folder), { recursive: true, force: true });
  await compile(serverDir).catch((error: Error) =>
    say(`Starts will be slower: the code could not be compiled: ${error.message}`),
  );
}

/** All modules as one, and where in it the lines of the bots are. */
async function joined(
  serverDir: string,
  botsFolder: string,
): Promise<{ code: string; lines: BotLines; moduleIds: string[] }> {
  const bundle = await rolldown({
    input: join(serverDir, "index.mjs"),
    platform: "node",
    external: (id) => NOT_INSIDE.test(id),
    plugins: [patchedInPlace(), withSourceMaps(serverDir)],
    logLevel: "warn",
  });
  const { output } = await bundle.generate({
    format: "es",
    codeSplitting: false,
    dir: serverDir,
    sourcemap: true,
  });
  await bundle.close();
  const [{ code, map, moduleIds }] = output;
  // The function that `asScript` writes around it begins on a line of its own.
  return { code, lines: map === null ? {} : botLines(code, map, serverDir, botsFolder, 1), moduleIds };
}

const isOurs = (id: string, serverDir: string): boolean =>
  id.startsWith(serverDir) && !id.includes("node_modules");

/**
 * What the gateway patches before it loads Baileys stays one copy for everybody, and is looked up when it is used first: as
 * an import it would be read before the patches.
 */
function patchedInPlace(): Plugin {
  const inPlace = /^(?:libsignal|curve25519-js|whatsapp-rust-bridge)(?:\/|$)/;
  return {
    name: "patched-in-place",
    resolveId: (id) => (inPlace.test(id) ? `\0beside:${id}` : null),
    load(id) {
      if (!id.startsWith("\0beside:")) return null;
      const name = id.slice("\0beside:".length);
      const found =
        name === "whatsapp-rust-bridge"
          ? `__outside.besideBaileys("${name}", "dist/index.js")`
          : `__outside.fromBaileys("${name}")`;
      return { code: `module.exports = ${found};`, moduleType: "js" };
    },
  };
}

/** Turns a module without exports into a script: a function that awaits, and is given what only modules have. */
function asScript(module: string, bots: BotLines): string {
  const lines = module.split("\n");
  const first = lines.findIndex((line) => !line.startsWith("import "));
  const head = lines.slice(0, first).map(asRequire).join("\n");
  const body = lines
    .slice(first)
    .join("\n")
    .replace(/^export (?:default [^\n]*|\{[^}]*\});?$/gm, "")
    .replace(/\bimport\.meta\b/g, "__outside.meta")
    .replace(/(?<![.\w$])import\(/g, "__outside.importModule(");
  return `(async function (__outside) { "use strict"; const BOT_LINES = ${latin(JSON.stringify(JSON.stringify(bots)))};\n${head}\n${latin(body)}\n})`;
}

/** One byte a character: read without decoding, and kept in half the memory. */
const latin = (text: string): string =>
  text.replace(/[^\0-\xFF]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** `import a, { b as c } from "d";`, or `import a, * as e from "d";`, as Rolldown writes them. */
function asRequire(line: string): string {
  const [, what = "", from] = /^import (.*) from ("[^"]+");$/.exec(line) ?? [];
  const [, own, all, some] = /^(?:([\w$]+)(?:, )?)?(?:\* as ([\w$]+)|\{(.*)\})?$/.exec(what) ?? [];
  if (from === undefined || !(own ?? all ?? some)) throw new Error(`This import is not understood: ${line}`);
  const names = [own, all, some && `{${some.replaceAll(" as ", ": ")}}`].filter(Boolean);
  return names.map((name) => `const ${name} = __outside.require(${from});`).join(" ");
}

/** Starts the gateway once, on data of its own that go away: what a start needs is then compiled. */
async function compile(serverDir: string): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "parley-build-"));
  try {
    const inherited = INHERITED.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []));
    const child = spawn(process.execPath, [join(serverDir, "index.mjs"), "--write-compiled"], {
      cwd: dataDir,
      env: {
        ...Object.fromEntries(inherited),
        NODE_ENV: "production",
        DATA_DIR: dataDir,
        HOST: "127.0.0.1",
        PORT: String(await freePort()),
      },
      stdio: ["ignore", "ignore", "pipe"],
      timeout: COMPILE_MS,
    });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
    const code = await new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    if (code !== 0) throw new Error(said.trim() || `the gateway ended with ${String(code)}`);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}
