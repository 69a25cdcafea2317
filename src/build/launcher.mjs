// The entry of a build: runs gateway.cjs, with the code that V8 had compiled from it when it was built. That halves a start.
// Code of another version of Node, or none at all, is no fault: V8 compiles the text then.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";

// V8 lets a heap grow to four times what lives in it before it collects the whole of it, where the machine has gigabytes. That
// is memory that stays taken, and a pause that is as long as the heap is large: half as much again is enough. Before any code
// is compiled: what was compiled under other flags is not taken.
setFlagsFromString("--heap-growing-percent=50");

const file = fileURLToPath(new URL("gateway.cjs", import.meta.url));
const compiled = fileURLToPath(new URL("gateway.compiled", import.meta.url));
/** Asked for by the build, in a folder of its own: after the start the compiled code is written, and the process ends. */
const write = process.argv[2] === "--write-compiled";
const require = createRequire(file);
/** Finds what stands beside Baileys, as Baileys itself would: what is patched there has to be the same. */
const fromBaileys = createRequire(require.resolve("@whiskeysockets/baileys"));

/** A package that only `import` may find. */
function besideBaileys(name, path) {
  const folders = fromBaileys.resolve.paths(name) ?? [];
  return fromBaileys(folders.map((folder) => `${folder}/${name}/${path}`).find(existsSync) ?? name);
}

const script = new Script(readFileSync(file, "latin1"), {
  filename: file,
  ...(!write && existsSync(compiled) && { cachedData: readFileSync(compiled) }),
});
const meta = {
  url: import.meta.url,
  filename: fileURLToPath(import.meta.url),
  dirname: fileURLToPath(new URL(".", import.meta.url)),
};
await script.runInThisContext()({
  require,
  fromBaileys,
  besideBaileys,
  meta,
  // Where a script comes out of compiled code, Node 20 does not know what its `import()` means.
  importModule: (name) => import(name.startsWith("/") ? pathToFileURL(name).href : name),
});
if (write) {
  // In one step: half of it would be read by the next start.
  writeFileSync(`${compiled}.new`, script.createCachedData());
  renameSync(`${compiled}.new`, compiled);
  process.kill(process.pid, "SIGTERM");
}
