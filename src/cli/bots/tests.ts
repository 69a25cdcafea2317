import { readdir } from "node:fs/promises";
import { join } from "node:path";

const TEST = /\.test\.(ts|mjs|js)$/;

/**
 * Tests that stand beside the bots, in `bots/` and in BOTS_DIR.
 *
 * @param id of a bot: `<id>.test.*`, or what stands in the folder `<id>/`
 * @returns absolute paths
 * @throws Error that says how to begin one when there is none
 */
export async function findBotTests(root: string, botsDir: string | null, id?: string): Promise<string[]> {
  const folders = [join(root, "bots"), ...(botsDir === null ? [] : [botsDir])];
  const found = await Promise.all(
    folders.map(async (folder) => {
      const names = await readdir(folder, { recursive: true }).catch(() => []);
      return names
        .map((name) => name.replaceAll("\\", "/"))
        .filter((name) => TEST.test(name) && !name.split("/").includes("node_modules"))
        .filter((name) => id === undefined || name.replace(TEST, "") === id || name.startsWith(`${id}/`))
        .map((name) => join(folder, name));
    }),
  );
  const files = found.flat();
  if (files.length > 0) return files;
  const where =
    id === undefined ? `in ${folders.join(" or ")}` : `of ${id}: ${join(folders.at(-1)!, id)}.test.*`;
  throw new Error(`Found no test ${where}. A new bot comes with a test: npm run parley -- bots new <id>`);
}
