import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * What `npm run build:kit` has made. Node itself would say only that a file is not there.
 *
 * @param {"index" | "testing" | "matchers"} name of the file in `dist/`
 * @throws {Error} how to build it, when that was not done
 */
export async function built(name) {
  const file = new URL(`../dist/${name}.mjs`, import.meta.url);
  if (existsSync(file)) return import(file.href);
  const folder = fileURLToPath(new URL("..", import.meta.url));
  throw new Error(`Parley's kit is not built. Run \`npm run build:kit\` in ${folder}`);
}
