/**
 * `check.ts <folder> <file>…`: what the build says of bots. A process of its own: what the modules of bots begin must not
 * keep the build from ending.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { checkBots } from "../../bot/files/check.ts";
import { paint, say } from "../plainly.ts";

const [folder, ...files] = process.argv.slice(2);
const problems = await checkBots(
  files.map((file) => ({
    id: file.replace(/\.\w+$/, "").replace(/\/index$/, ""),
    file: `bots/${file}`,
    async open() {
      const module = (await import(pathToFileURL(join(folder!, file)).href)) as { default?: unknown };
      return module.default;
    },
  })),
);
for (const problem of problems) say(`${paint.yellow("!")} ${problem}`);
process.exit(0);
