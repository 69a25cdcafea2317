import { mkdir, readdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { repositoryRoot } from "../../config.ts";
import { showBot, showTest, TEMPLATES, type Template } from "./templates.ts";

interface MadeBot {
  /** Absolute, as `test`. */
  bot: string;
  test: string;
  /** In BOTS_DIR instead of `bots/`. */
  mounted: boolean;
}

const PART = /^[a-z0-9][a-z0-9-]*$/;
const RESERVED = ["index", "locales", "node_modules"];

/**
 * Writes the file of a bot and a test beside it: TypeScript in `bots/`, or a file without imports in BOTS_DIR.
 *
 * @throws Error when the id or the template cannot be used, or something with that id is there; nothing is overwritten
 */
export async function makeBot(wanted: {
  id: string;
  template: string;
  botsDir: string | null;
  /** Where it goes without BOTS_DIR. Default: `bots/` of the repository. */
  own?: string;
}): Promise<MadeBot> {
  const { id, template, botsDir, own = join(repositoryRoot(), "bots") } = wanted;
  const parts = id.split("/");
  if (!parts.every((part) => PART.test(part) && !RESERVED.includes(part)))
    throw new Error(
      `“${id}” is not a valid bot id: use lowercase letters, digits and hyphens, / between folders, and not ${RESERVED.join(", ")}.`,
    );
  if (!Object.hasOwn(TEMPLATES, template))
    throw new Error(`There is no template “${template}”. There are: ${Object.keys(TEMPLATES).join(", ")}.`);
  const mounted = botsDir !== null;
  const folder = botsDir ?? own;
  const path = join(folder, ...parts);
  const found = await readdir(dirname(path)).catch(() => []);
  const taken = found.find((name) => name === basename(path) || name.startsWith(`${basename(path)}.`));
  if (taken !== undefined)
    throw new Error(`${join(dirname(path), taken)} already exists; nothing was changed. Choose another id.`);
  const ending = mounted ? "mjs" : "ts";
  const made = { bot: `${path}.${ending}`, test: `${path}.test.${ending}`, mounted };
  const chosen = TEMPLATES[template as Template];
  await mkdir(dirname(path), { recursive: true });
  await writeFile(made.bot, showBot(chosen, mounted), { flag: "wx" });
  await writeFile(made.test, showTest(chosen, basename(made.bot)), { flag: "wx" });
  return made;
}
