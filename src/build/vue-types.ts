/**
 * `npm run typecheck`, second part: types of the components of console and playground. `vue-tsc` needs a compiler with an API, which the one that
 * checks the rest does not have: it gets the one that the extractor of the kit's types brings.
 */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { run } from "vue-tsc";

const require = createRequire(import.meta.url);
const compiler = createRequire(require.resolve("@microsoft/api-extractor/package.json")).resolve(
  "typescript/lib/tsc.js",
);

process.argv.push("--noEmit", "--project", fileURLToPath(new URL("../console", import.meta.url)));
run(compiler);
